"""The two classifiers, as scikit-learn users know classifiers."""

from kerndict.classifiers.kernel import KernelDictionaryClassifier
from kerndict.classifiers.linear import DictionaryClassifier

__all__ = ["DictionaryClassifier", "KernelDictionaryClassifier"]
