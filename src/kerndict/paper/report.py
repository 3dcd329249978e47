"""``report.html``: one file that holds everything, for any browser, offline."""

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from kerndict._files import text_written_whole
from kerndict.paper.protocol import DATASETS
from kerndict.paper.tables import ReportTable, Rows, datasets_in
from kerndict.paper.verdicts import Verdict


def write_report(
    path: Path,
    headline: str,
    tables: Sequence[ReportTable],
    figures: Sequence[tuple[Path, str]],
    verdicts: Sequence[Verdict],
    rows: Rows,
) -> None:
    """Write the report; images are inlined, nothing is loaded from elsewhere."""
    page = Template(files("kerndict.paper").joinpath("report.html.template").read_text("utf-8"))
    text = page.substitute(
        headline=escape(headline),
        datasets=escape(", ".join(DATASETS[name].title for name in datasets_in(rows))),
        tables="\n".join(_table(table) for table in tables),
        figures="\n".join(_figure(image, caption) for image, caption in figures),
        verdicts="\n".join(_verdict(verdict) for verdict in verdicts),
        settings=_table(settings_table(rows)),
        environments=_environments(rows),
    )
    with text_written_whole(path) as file:
        file.write(text)


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


def _figure(image: Path, caption: str) -> str:
    data = base64.b64encode(image.read_bytes()).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


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
