"""What the run shows while it runs, and at its end."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table as RichTable

from kerndict._words import clock
from kerndict.paper.protocol import Row
from kerndict.paper.tables import ReportTable
from kerndict.paper.verdicts import Verdict


class Display:
    """Progress over rows: a live bar on a terminal, plain lines elsewhere, or nothing."""

    def __init__(
        self,
        total: int,
        missing: Sequence[Row],
        seconds: Iterable[tuple[Row, float]],
        jobs: int,
        quiet: bool,
    ) -> None:
        self._console = Console()
        self._live = self._console.is_terminal and not quiet
        self._quiet = quiet
        self._total, self._pending, self._jobs = total, list(missing), jobs
        self._seconds: dict[tuple[str, str], list[float]] = {}
        for row, value in seconds:
            self._seconds.setdefault((row.dataset, row.method), []).append(value)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            disable=not self._live,
        )
        self._task = self._progress.add_task(
            self._current(), total=total, completed=total - len(self._pending), left=""
        )

    def __enter__(self) -> Self:
        self._progress.start()
        finished = self._total - len(self._pending)
        if finished and not self._quiet:
            self._console.print(f"{finished} of {self._total} rows are there already")
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, row: Row, result: dict[str, Any]) -> None:
        """Show a finished row."""
        seconds = result["fit_seconds"] + result["predict_seconds"]
        self._seconds.setdefault((row.dataset, row.method), []).append(seconds)
        self._pending.remove(row)
        left = f"about {clock(self._left())} left" if self._pending else "done"
        self._progress.update(self._task, advance=1, description=self._current(), left=left)
        if not self._live and not self._quiet:
            count = self._total - len(self._pending)
            self._console.print(
                f"[{count}/{self._total}] {row}: {100 * result['accuracy']:.2f} %, "
                f"{seconds:.2f} s; {left}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    def _current(self) -> str:
        if self._jobs > 1:
            return f"{self._jobs} rows at a time"
        return str(self._pending[0]) if self._pending else "all rows"

    def _left(self) -> float:
        """Estimate the seconds left from rows of the same method, else from all rows."""
        known = [seconds for group in self._seconds.values() for seconds in group]
        overall = sum(known) / len(known) if known else 0.0
        total = 0.0
        for row in self._pending:
            group = self._seconds.get((row.dataset, row.method))
            total += sum(group) / len(group) if group else overall
        return total / self._jobs


def show(tables: Iterable[ReportTable], verdicts: Iterable[Verdict], headline: str) -> None:
    """Print tables, verdicts and the headline."""
    console = Console() if Console().is_terminal else Console(width=110)
    for table in tables:
        wide = console.width >= 92
        chosen = [i for i, name in enumerate(table.columns) if wide or name != "per class"]
        shown = RichTable(title=table.title, title_justify="left", title_style="bold")
        for i in chosen:
            shown.add_column(table.columns[i], justify="left" if i == 0 else "right")
        for row in table.cells:
            shown.add_row(*(row[i] for i in chosen))
        console.print(shown)
    for verdict in verdicts:
        console.print(f"\n[bold]“{verdict.claim}”[/bold]", highlight=False)
        console.print(f"  {verdict.verdict}", markup=False, highlight=False)
        for number in verdict.numbers:
            console.print(f"    {number}", markup=False, highlight=False)
    console.print(f"\n{headline}", markup=False, highlight=False)
