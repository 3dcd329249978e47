"""``kerndict evaluate``: how well a model does on labelled rows."""

import argparse
import json
from typing import Any

from kerndict._warn import warn_user
from kerndict.cli.common import add_command, add_data, add_drop, add_reject, facts, grid
from kerndict.cli.scoring import Scorer
from kerndict.cli.tally import Tally

#: Classes and pairs of classes that are printed; --json holds all of them.
_SHOWN = 20


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "evaluate",
        "Measure a model on labelled rows: accuracy, by class too, log-loss, expected calibration "
        "error (ECE, 15 bins) and the pairs of classes that are confused most. Rows of classes "
        "that the model has not seen are counted apart.",
        [
            "kerndict evaluate flowers.safetensors test.csv --label species",
            "kerndict evaluate faces.safetensors visitors.csv --label person --reject 0.01",
            "kerndict evaluate flowers.safetensors test.csv --json | jq .accuracy",
        ],
    )
    command.add_argument("model", metavar="MODEL", help="a file written by train")
    add_data(command)
    command.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column of labels, by name or index; default: that of training, or the only one "
        "that is no feature",
    )
    add_drop(command)
    add_reject(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    scorer = Scorer(options.model, options.reject)
    tally = Tally(scorer.classifier.classes_, scorer.classes, options.reject)
    with scorer.read(options.data, options.label, True, options.drop) as (_, batches):
        for batch in batches:
            assert batch.labels is not None
            tally.add(batch.labels, scorer.decide(batch.X))
    result = tally.result()
    scorer.warn()
    if not result["rows"] and result["unseen"]["rows"]:
        warn_user(
            f"no label is a class of the model: found {_few(result['unseen']['classes'])}, the "
            f"model has {_few(scorer.classes)}. Does --label name the right column?",
            UserWarning,
        )
    print(json.dumps(result, indent=2) if options.json else _report(result))
    return 0


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + ("" if len(names) <= 3 else ", ...")


def _report(result: dict[str, Any]) -> str:
    known = result["rows"]
    lines = [("rows", f"{known} of {len(result['classes'])} classes")]
    if result["accuracy"] is not None:
        lines += [
            ("accuracy", percent(result["accuracy"])),
            ("mean over classes", percent(result["accuracy_per_class"])),
        ]
    if result["log_loss"] is not None:
        lines += [("log-loss", f"{result['log_loss']:.4f}"), ("ECE", f"{result['ece']:.4f}")]
    strangers = result["unseen"]
    if strangers["rows"]:
        names = ", ".join(strangers["classes"][:_SHOWN])
        lines.append(("unseen classes", f"{strangers['rows']} more rows, of {names}"))
    if result["undecided"]:
        lines.append(("undecided", f"{result['undecided']} more rows, with gaps"))
    parts = [facts(lines + _rejection(result))]
    if result["classes"]:
        parts.append(_classes(result["classes"]))
    if result["confusions"]:
        parts.append(_confusions(result["confusions"]))
    return "\n\n".join(parts)


def _rejection(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known about rejected rows; kept rows of unseen classes count as wrong."""
    kept, strangers = result["reject"], result["unseen"]
    if kept is None:
        return []
    lines = [
        ("reject below", f"{kept['level']:g}"),
        ("coverage", f"{percent(kept['coverage'])}, {kept['rows']} rows are kept"),
    ]
    if kept["accuracy"] is not None:
        lines.append(("accuracy of kept", percent(kept["accuracy"])))
    if strangers["rows"]:
        share = percent(strangers["rejected"] / strangers["rows"])
        words = f"{strangers['rejected']} of {strangers['rows']}, {share}"
        lines.append(("unseen rejected", words))
    return lines


def _classes(classes: list[dict[str, Any]]) -> str:
    worst = sorted(classes, key=lambda one: one["accuracy"])
    shown = classes if len(classes) <= _SHOWN else worst[:_SHOWN]
    title = "class" if shown is classes else f"the {_SHOWN} worst classes"
    rows = [[one["label"], str(one["rows"]), percent(one["accuracy"])] for one in shown]
    return grid([title, "rows", "accuracy"], rows)


def _confusions(pairs: list[dict[str, Any]]) -> str:
    rows = [
        [pair["label"], pair["taken_for"], str(pair["rows"]), percent(pair["share"])]
        for pair in pairs[:_SHOWN]
    ]
    return grid(["confused", "taken for", "rows", "of its class"], rows)


def percent(share: float) -> str:
    """Return a share for people."""
    return f"{100 * share:.2f} %"
