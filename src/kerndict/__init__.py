"""Classification with incoherent (kernel) dictionary learning."""

from typing import Any

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
    "paper_settings",
    "save",
    "sparse_code",
]


def __getattr__(name: str) -> Any:
    if name == "paper_settings":  # loads more of scikit-learn than the classifiers need
        from kerndict.paper.protocol import paper_settings

        return paper_settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "paper_settings"]
