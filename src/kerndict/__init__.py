"""Classification with incoherent (kernel) dictionary learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerndict.classifiers import DictionaryClassifier, KernelDictionaryClassifier
    from kerndict.classifiers.merging import merge
    from kerndict.coding import batch_omp, sparse_code
    from kerndict.exceptions import ModelFormatError, SpanWarning
    from kerndict.inspection import class_residuals, explain, summary, typicality
    from kerndict.paper.protocol import paper_settings
    from kerndict.persistence import load, save

__version__ = "0.1.0"

__all__ = [
    "DictionaryClassifier",
    "KernelDictionaryClassifier",
    "ModelFormatError",
    "SpanWarning",
    "batch_omp",
    "class_residuals",
    "explain",
    "load",
    "merge",
    "paper_settings",
    "save",
    "sparse_code",
    "summary",
    "typicality",
]

#: Where each name lives.  They are imported when first asked for: the command line is then there
#: before the numerical libraries are, and can end quietly while they load.
_HOMES = {
    "DictionaryClassifier": "classifiers",
    "KernelDictionaryClassifier": "classifiers",
    "ModelFormatError": "exceptions",
    "SpanWarning": "exceptions",
    "batch_omp": "coding",
    "class_residuals": "inspection",
    "explain": "inspection",
    "load": "persistence",
    "merge": "classifiers.merging",
    "paper_settings": "paper.protocol",
    "save": "persistence",
    "sparse_code": "coding",
    "summary": "inspection",
    "typicality": "inspection",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
