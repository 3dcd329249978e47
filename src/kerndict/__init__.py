"""Classification with incoherent (kernel) dictionary learning."""

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.coding import batch_omp, sparse_code
from kerndict.exceptions import SpanWarning

__version__ = "0.1.0"

__all__ = [
    "DictionaryClassifier",
    "KernelDictionaryClassifier",
    "SpanWarning",
    "batch_omp",
    "sparse_code",
]
