"""``report.html``: one file that holds everything, for any browser, offline."""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from kerndict._files import text_written_whole
from kerndict.paper.chart import charts
from kerndict.paper.protocol import DATASETS, TABLES
from kerndict.paper.tables import ReportTable, Rows, dataset_table, datasets_in
from kerndict.paper.verdicts import Verdict


def write_report(
    path: Path,
    told: Sequence[str],
    more: Sequence[ReportTable],
    figures: Sequence[tuple[Path, str]],
    verdicts: Sequence[Verdict],
    rows: Rows,
) -> None:
    """Write the report; images are inlined, nothing is loaded from elsewhere.

    ``told`` is the result, a sentence per dataset; ``more`` are tables after those of the datasets.
    """
    page = Template(files("kerndict.paper").joinpath("report.html.template").read_text("utf-8"))
    tables = [*(dataset_table(rows, name) for name in datasets_in(rows)), *more]
    text = page.substitute(
        headline="\n".join(f"<p>{_kept(escape(each))}</p>" for each in told or ["No rows yet."]),
        charts=charts(rows),
        datasets=escape(", ".join(DATASETS[name].title for name in datasets_in(rows))),
        rounds=escape(rounds_in_words(rows)),
        tables="\n".join(_table(table) for table in tables if table.cells),
        figures="\n".join(_figure(image, caption) for image, caption in figures),
        verdicts="\n".join(_verdict(verdict) for verdict in verdicts),
        settings=_table(settings_table(rows)),
        environments=_environments(rows),
    )
    with text_written_whole(path) as file:
        file.write(text)


def _kept(text: str) -> str:
    """Return text in which a number stays with its percent sign."""
    return text.replace(" %", "\u00a0%")


def rounds_in_words(rows: Rows) -> str:
    """Say what the numbers of so many rounds are."""
    methods = [row["method"] for row in rows if row["method"] in TABLES.values()]
    found = [(row["dataset"], row["method"]) for row in rows if row["method"] in methods]
    counts = sorted({found.count(each) for each in found})
    if not counts:
        return "There are no rounds of the paper's methods."
    if counts == [1]:
        return "“accuracy” is that of the one round there is, and so is “best 3”."
    kept = "the mean of the three best rounds, as the paper reports"
    if counts[-1] == 2:
        kept = "the same mean, as there are no three rounds to choose from"
    many = "the rounds" if len(counts) > 1 else f"{counts[0]} rounds"
    return f"“accuracy” is the mean of {many} ± their standard deviation, “best 3” {kept}."


def write_markdown(
    path: Path, headline: str, tables: Sequence[ReportTable], verdicts: Sequence[Verdict]
) -> None:
    """Write the headline, tables and verdicts for a document."""
    lines = [f"{headline}\n", *(table.markdown() for table in tables)]
    for verdict in verdicts:
        lines += [f"**“{verdict.claim}”** {verdict.verdict}.\n"]
        lines += [f"- {number}" for number in verdict.numbers] + [""]
    with text_written_whole(path) as file:
        file.write("\n".join(lines))


def settings_table(rows: Rows) -> ReportTable:
    """Return the settings of every method, as the estimators had them."""
    names = ("n_atoms", "n_nonzero_coefs", "incoherence", "atom_update", "coef_update", "n_iter")
    kernel = ("init", "kernel", "sigma", "coef0", "degree")
    table = ReportTable("Settings", ["dataset", "method", "rounds", *names, *kernel])
    seen: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        seen.setdefault((row["dataset"], row["method"]), []).append(row)
    for (dataset, method), group in seen.items():
        settings = group[0]["details"]["settings"]
        values = [_value(settings.get(name)) for name in (*names, *kernel)]
        table.cells.append([DATASETS[dataset].title, method, str(len(group)), *values])
    return table


def _value(value: Any) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _table(table: ReportTable) -> str:
    words = [any(row[i][:1].isalpha() for row in table.cells) for i in range(len(table.columns))]
    kinds = [' class="words"' if is_text else "" for is_text in words]
    head = "".join(
        f'<th scope="col"{kind}><button type="button">{escape(name.strip())}</button></th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in table.cells
    )
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


#: What matplotlib draws in black: words, ticks, frames.  It takes the colour of the page's words.
_BLACK = re.compile(r"#000000\b")
_FRONT = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)


def _figure(image: Path, caption: str) -> str:
    """Return a figure with its SVG in the page, which so follows light and dark."""
    drawing = _FRONT.sub("", image.read_text("utf-8")).strip()
    drawing = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawing)
    drawing = _BLACK.sub("currentColor", drawing)
    words = escape(caption)
    shape = re.search(r'viewBox="[^"]*"', drawing)
    opened = f'<svg {shape[0] if shape else ""} role="img" aria-label="{words}">'
    drawing = opened + drawing[drawing.index(">") + 1 :]
    return f"<figure>{drawing}<figcaption>{words}</figcaption></figure>"


def _verdict(verdict: Verdict) -> str:
    numbers = "".join(f"<li>{escape(number)}</li>" for number in verdict.numbers)
    word = verdict.verdict.split(":")[0]
    kind = "yes" if word.startswith("holds") else "open" if word.startswith("not") else "no"
    return (
        f'<article class="{kind}"><h3>“{escape(verdict.claim)}”</h3>'
        f"<p>{escape(verdict.verdict)}.</p><ul>{numbers}</ul></article>"
    )


def _environments(rows: Rows) -> str:
    found: dict[str, None] = {}  # in order, each once
    for row in rows:
        details = row["details"]
        versions = ", ".join(f"{name} {number}" for name, number in details["versions"].items())
        found[f"{details['machine']}; {versions}; revision {details['revision']}"] = None
    return "".join(f"<li>{escape(text)}</li>" for text in found)
