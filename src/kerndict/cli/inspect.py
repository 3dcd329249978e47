"""``kerndict inspect``: what a model file holds."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.compose import ColumnTransformer

from kerndict._pipelines import chain
from kerndict._words import span
from kerndict.classifiers.summary import human_bytes, summary
from kerndict.cli.common import add_command, facts
from kerndict.cli.parameters import spell
from kerndict.persistence import load_described
from kerndict.tables.batch import as_text
from kerndict.tabular import parts_of

_SHOWN = 12


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "inspect",
        "Show what a model file holds: classes, atoms, size, objective, parameters, and the "
        "versions of the libraries that wrote it.",
        [
            "kerndict inspect flowers.safetensors",
            "kerndict inspect flowers.safetensors --json | jq .labels",
        ],
    )
    command.add_argument("model", metavar="MODEL", help="a file written by train")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    content = describe(options.model)
    print(json.dumps(content, indent=2) if options.json else _report(content))
    return 0


def describe(path: str) -> dict[str, Any]:
    """Return what a model file holds as plain values."""
    model, document = load_described(path)
    steps, classifier = chain(model)
    names = getattr((steps or [classifier])[0], "feature_names_in_", None)
    settled = ("sigma_", "ridge_", "incoherence_")
    return {
        **summary(model),
        "file": str(path),
        "file_bytes": Path(path).stat().st_size,
        "format_version": document["format_version"],
        "versions": document.get("versions", {}),
        "steps": list(_steps(document["steps"])),
        "columns": _columns((steps or [classifier])[0], names),
        "labels": [as_text(label) for label in classifier.classes_.tolist()],
        "feature_names": None if names is None else names.tolist(),
        "settled": {
            name: getattr(classifier, name) for name in settled if hasattr(classifier, name)
        },
    }


def _steps(entries: list[dict[str, Any]], within: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the steps of a model file and those within them, which name the outermost."""
    for entry in entries:
        name = entry["class"]
        yield {"name": name, "within": within, "parameters": entry.get("parameters", {})}
        yield from _steps(entry.get("steps", []), within or name)


def _columns(step: Any, names: Any) -> dict[str, list[str]] | None:
    """Return what columns each part of a ColumnTransformer takes, None if it is something else."""
    if not isinstance(step, ColumnTransformer):
        return None
    every = range(step.n_features_in_) if names is None else names
    taken = parts_of(step, names)
    return {part: [str(every[i]) for i in places] for part, _, places in taken if places}


def _report(content: dict[str, Any]) -> str:
    rows: list[tuple[str, str]] = [
        ("file", f"{content['file']}, {human_bytes(content['file_bytes'])}"),
        ("steps", ", ".join(s["name"] for s in content["steps"] if s["within"] is None)),
        ("classes", f"{content['classes']}: {_listed(content['labels'])}"),
        ("features", _features(content)),
        ("atoms", f"{content['atoms']}, {span(*content['atoms_per_class'])} per class"),
        ("nonzeros", f"{span(*content['nonzeros'])} per code, at most"),
        ("size in memory", human_bytes(content["bytes"])),
        ("iterations", str(content["iterations"])),
    ]
    if content["objective"] is not None:
        rows.append(
            (
                "objective",
                f"{content['objective']:.6g}: reconstruction {content['reconstruction']:.6g}, "
                f"coherence {content['coherence']:.6g}",
            )
        )
    rows += [(name, f"{value:.6g}") for name, value in content["settled"].items()]
    columns = content["columns"] or {}
    rows += [(part, _listed(taken)) for part, taken in columns.items()]
    for step in content["steps"]:
        if columns and "ColumnTransformer" in (step["name"], step["within"]):
            continue  # the columns of its parts have told of it
        given = step["parameters"].items()
        words = ", ".join(f"{name}={spell(_plain(value), 'None')}" for name, value in given)
        rows.append((step["name"], words or "no parameters"))
    rows.append(("written by", ", ".join(f"{k} {v}" for k, v in content["versions"].items())))
    return facts(rows)


def _plain(value: Any) -> Any:
    """Return a parameter of a model file as Python has it."""
    if isinstance(value, list):
        return tuple(value)
    return value["float"] if isinstance(value, dict) and "float" in value else value


def _features(content: dict[str, Any]) -> str:
    names = content["feature_names"]
    return f"{content['features']}: {_listed(names) if names else 'without names'}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
