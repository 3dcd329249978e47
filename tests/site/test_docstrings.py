"""The docstrings of everything public, by the rules of numpydoc."""

import importlib
import inspect
from pathlib import Path

import pytest

import kerndict
import kerndict.datasets
import kerndict.display

validate = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed").validate

#: What is not asked for: an extended summary (ES01), a section See Also (SA01), its descriptions
#: (SA04); that a returned value has no name (RT02), as scikit-learn names them too.
NOT_ASKED = {"ES01", "SA01", "SA04", "RT02"}
#: An example (EX01) is asked of what stands alone, not of every method.
MORE = ["export.to_onnx", "model.Model", "explanation.Explanation"]
NO_EXAMPLE = {
    "kerndict.load": "in save",
    "kerndict.ModelFormatError": "an error",
    "kerndict.SpanWarning": "a warning",
    "kerndict.model.Model": "made by fit",
    "kerndict.explanation.Explanation": "made by explain",
}


def public():
    """Yield the public names, those of methods behind their class."""
    names = [f"kerndict.{name}" for name in [*kerndict.__all__, *MORE]]
    for room in (kerndict.display, kerndict.datasets):
        names += [f"{room.__name__}.{name}" for name in room.__all__]
    for name in names:
        yield name
        module, _, attribute = name.rpartition(".")
        found = getattr(importlib.import_module(module), attribute)
        if inspect.isclass(found):
            for method, function in inspect.getmembers(found, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("kerndict"):
                    yield f"{name}.{method}"


def test_the_reference_lists_what_is_public():
    page = Path(__file__).parents[2] / "docs" / "api.rst"
    assert set(kerndict.__all__) <= set(page.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", list(public()))
def test_docstring_is_complete(name):
    is_method = name.split(".")[-2][0].isupper()
    skipped = NOT_ASKED | ({"EX01"} if is_method or name in NO_EXAMPLE else set())
    skipped |= {"EX01"} if name.startswith("kerndict.datasets.") else set()  # they need files
    errors = [(code, text) for code, text in validate(name)["errors"] if code not in skipped]
    assert errors == []
