"""``kerndict reproduce``: the run from beginning to end."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kerndict.paper import figures, terminal
from kerndict.paper.grid import run_grid
from kerndict.paper.protocol import TABLES, plan, published_choice
from kerndict.paper.report import write_report
from kerndict.paper.run import check_data, measure_product, run
from kerndict.paper.store import Store
from kerndict.paper.tables import Table, all_tables
from kerndict.paper.verdicts import headline, verdicts


def reproduce(
    datasets: Sequence[str],
    tables: Sequence[str],
    rounds: int,
    grid: bool,
    out: Path,
    folder: Path | None,
    jobs: int,
    quiet: bool,
) -> Path:
    """Run what is missing in ``out``; write tables, figures and the report; return its path."""
    with Store(out) as store:
        check_data(store, datasets, folder)
        rows = plan(datasets, tables, rounds)
        done = {
            row: result["fit_seconds"] + result["predict_seconds"]
            for row, result in store.results().items()
            if row in set(rows)
        }
        with terminal.Display(rows, done, quiet) as display:
            for row, result in run(store, rows, folder, jobs):
                display.advance(row, result)
        if {"I", "II"} & set(tables):
            for dataset in datasets:
                measure_product(store, dataset, folder)
        if grid:
            _search(store, datasets, [TABLES[table] for table in tables], folder, jobs, quiet)
        return _present(store, quiet)


def _search(
    store: Store,
    datasets: Sequence[str],
    methods: Sequence[str],
    folder: Path | None,
    jobs: int,
    quiet: bool,
) -> None:
    for result in run_grid(store, datasets, methods, folder, jobs):
        if not quiet:
            print(
                f"grid: {result['dataset']} {result['method']} {result['kernel']}: "
                f"{100 * result['score']:.2f} % with {result['parameters']} "
                f"({terminal.clock(result['seconds'])})",
                flush=True,
            )


def grid_table(store: Store) -> Table:
    """Return what cross-validation chose beside what the paper chose."""
    table = Table(
        "Grid search inside the training part (3 folds), beside the paper's choice",
        ["dataset", "method", "score %", "chosen", "paper"],
    )
    best: dict[tuple[str, str], dict] = {}
    for row in store.grid():
        key = row["dataset"], row["method"]
        if key not in best or row["score"] > best[key]["score"]:
            best[key] = row
    for (dataset, method), row in best.items():
        paper = published_choice(dataset, method)
        chosen = ", ".join(f"{name} {row['parameters'][name]:g}" for name in paper)
        printed = ", ".join(f"{name} {value:g}" for name, value in paper.items())
        table.cells.append([dataset, method, f"{100 * row['score']:.2f}", chosen, printed])
    return table


def _present(store: Store, quiet: bool) -> Path:
    rows = store.rows()
    shown = [table for table in [*all_tables(rows), grid_table(store)] if table.cells]
    judged = verdicts(rows, store.fact)
    sentence = headline(rows)
    drawn = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        path = store.arrays_path(dataset)
        if path.exists():
            with np.load(path) as arrays:
                drawn += figures.draw_all(dataset, dict(arrays), store.folder / "figures")
    report = store.folder / "report.html"
    write_report(report, sentence, shown, drawn, judged, rows)
    lines = [f"# {sentence}", *(table.markdown() for table in shown)]
    for verdict in judged:
        lines += [f"**“{verdict.claim}”** {verdict.verdict}.\n"]
        lines += [f"- {number}" for number in verdict.numbers] + [""]
    (store.folder / "report.md").write_text("\n".join(lines), encoding="utf-8")
    if not quiet:
        terminal.show(shown, judged, sentence)
    return report
