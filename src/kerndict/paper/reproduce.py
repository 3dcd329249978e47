"""``kerndict reproduce``: the run from beginning to end."""

import time
from collections.abc import Sequence
from pathlib import Path

from kerndict._words import clock
from kerndict.paper import figures, terminal
from kerndict.paper.grid import missing_searches, run_search
from kerndict.paper.protocol import TABLES, plan
from kerndict.paper.report import write_markdown, write_report
from kerndict.paper.run import check_data, measure_product, missing_rows, run
from kerndict.paper.store import Store
from kerndict.paper.tables import all_tables, datasets_in, grid_table
from kerndict.paper.verdicts import headline, sentences, verdicts


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
        missing = missing_rows(store, rows)
        seconds = [
            (row, result["fit_seconds"] + result["predict_seconds"])
            for row, result in store.results().items()
        ]
        with terminal.Display(len(rows), missing, seconds, jobs, quiet) as display:
            for row, result in run(store, missing, folder, jobs):
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
    searches = missing_searches(store, datasets, methods)
    begin = time.perf_counter()
    for count, search in enumerate(searches, start=1):
        if not quiet:
            print(f"grid {count}/{len(searches)}: {search} ...", end=" ", flush=True)
        result = run_search(store, search, folder, jobs)
        if not quiet:
            left = (time.perf_counter() - begin) / count * (len(searches) - count)
            print(
                f"{100 * result['score']:.2f} % with {result['parameters']}; "
                f"about {clock(left)} left",
                flush=True,
            )


def _present(store: Store, quiet: bool) -> Path:
    rows = store.rows()
    shown = all_tables(rows, store.grid())
    judged = verdicts(rows, store.fact)
    sentence = headline(rows)
    drawn = []
    for dataset in datasets_in(rows):
        arrays = store.arrays(dataset)
        if arrays is not None:
            drawn += figures.draw_all(dataset, arrays, store.folder / "figures")
    report = store.folder / "report.html"
    write_report(report, sentences(rows), [grid_table(store.grid())], drawn, judged, rows)
    write_markdown(store.folder / "report.md", sentence, shown, judged)
    if not quiet:
        terminal.show(shown, judged, sentence)
    return report
