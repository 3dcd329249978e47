"""The chart of accuracy at the top of the report: marks on lines, in HTML, for any width.

Each line is a method: ours filled, the paper's number as a ring, the untrained one as a stroke.
"""

from collections.abc import Sequence
from html import escape
from math import floor
from statistics import mean

from kerndict.paper.protocol import DATASETS, DEFAULT, PUBLISHED, TABLES
from kerndict.paper.tables import Rows, datasets_in, describe, values

#: Marks that stand for something, and their words.
MARKS = {
    "ours": "ours, mean of the rounds",
    "paper": "the paper",
    "untrained": "untrained",
    "other": "not in the paper: our default, a tuned SVM",
}
_OTHERS = {DEFAULT: "our default", "svc": "tuned SVM"}


def charts(rows: Rows) -> str:
    """Return one chart per dataset as HTML."""
    return "\n".join(filter(None, (_chart(rows, dataset) for dataset in datasets_in(rows))))


def _chart(rows: Rows, dataset: str) -> str:
    lines: list[tuple[str, dict[str, float]]] = []
    for table, method in TABLES.items():
        if scores := values(rows, dataset, method):
            marks = {"ours": 100 * mean(scores)}
            if untrained := values(rows, dataset, f"{method}-iter0"):
                marks["untrained"] = 100 * mean(untrained)
            if (table, dataset) in PUBLISHED:
                marks["paper"] = PUBLISHED[table, dataset].accuracy
            lines.append((f"{table} · {describe(method)}", marks))
    for method, words in _OTHERS.items():
        if scores := values(rows, dataset, method):
            lines.append((words, {"other": 100 * mean(scores)}))
    if not lines:
        return ""
    low = floor(min(value for _, marks in lines for value in marks.values())) - 1
    low = max(0, low)
    body = "".join(_line(words, marks, low) for words, marks in lines)
    used = [name for name in MARKS if any(name in marks for _, marks in lines)]
    legend = "".join(f'<span><i class="{name}"></i>{MARKS[name]}</span>' for name in used)
    return (
        f'<div class="chart"><h2>Accuracy on {escape(DATASETS[dataset].title)}, %</h2>'
        f'<p class="legend">{legend}</p>{body}'
        f'<div class="line axis"><b></b><div><span>{low}</span><span>100</span></div>'
        "<em></em></div></div>"
    )


def _line(words: str, marks: dict[str, float], low: float) -> str:
    """Return one method: its words, its marks, its number."""
    found = "".join(
        f'<i class="{name}" style="left:{100 * (value - low) / (100 - low):.2f}%" '
        f'title="{MARKS[name]}: {value:.2f} %"></i>'
        for name, value in _drawn_last(marks)
    )
    number = marks.get("ours", marks.get("other", 0.0))
    told = ", ".join(f"{MARKS[name]} {value:.2f} %" for name, value in marks.items())
    return (
        f'<div class="line" role="img" aria-label="{escape(words)}: {told}">'
        f"<b>{escape(words)}</b><div>{found}</div><em>{number:.2f}</em></div>"
    )


def _drawn_last(marks: dict[str, float]) -> Sequence[tuple[str, float]]:
    """Return marks so that ours lies over the others."""
    return sorted(marks.items(), key=lambda item: item[0] in ("ours", "other"))
