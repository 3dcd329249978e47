"""Classification with incoherent (kernel) dictionary learning."""

from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
from kerndict.coding import batch_omp, sparse_code
from kerndict.exceptions import ModelFormatError, SpanWarning
from kerndict.persistence import load, save

__version__ = "0.1.0"

__all__ = [
    "DictionaryClassifier",
    "KernelDictionaryClassifier",
    "ModelFormatError",
    "SpanWarning",
    "batch_omp",
    "load",
    "save",
    "sparse_code",
]
