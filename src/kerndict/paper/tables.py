"""Tables I to VI: ours beside the paper's, with the controls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any

from kerndict.paper.protocol import DATASETS, DEFAULT, PEERS, PUBLISHED, TABLES, published_choice

Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class ReportTable:
    """Cells as text, ready for a terminal, Markdown or HTML."""

    title: str
    columns: Sequence[str]
    cells: list[list[str]] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.cells]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"


def select(rows: Rows, dataset: str, method: str) -> list[dict[str, Any]]:
    """Return the rounds of one method on one dataset, in order."""
    chosen = [row for row in rows if (row["dataset"], row["method"]) == (dataset, method)]
    return sorted(chosen, key=lambda row: row["round"])


def values(rows: Rows, dataset: str, method: str, column: str = "accuracy") -> list[float]:
    """Return one column over the rounds of a method."""
    return [row[column] for row in select(rows, dataset, method)]


def percent(fractions: Sequence[float]) -> str:
    """Return mean±standard deviation over rounds in percent."""
    if not fractions:
        return "–"
    text = f"{100 * mean(fractions):.2f}"
    return f"{text}±{100 * stdev(fractions):.2f}" if len(fractions) > 1 else text


def best_three(fractions: Sequence[float]) -> float:
    """Return the mean of the three best rounds, as the paper reports."""
    return mean(sorted(fractions)[-3:])


def datasets_in(rows: Rows) -> list[str]:
    """Return the datasets that have rows, in the paper's order."""
    return [name for name in DATASETS if any(row["dataset"] == name for row in rows)]


def accuracy_table(rows: Rows, table: str) -> ReportTable:
    """Return the accuracies of one table of the paper."""
    method = TABLES[table]
    result = ReportTable(
        f"Table {table}, accuracy in %: {describe(method)}",
        ["dataset", "ours", "per class", "best 3", "paper", "diff", "exact", "untrained"],
    )
    for dataset in datasets_in(rows):
        scores = values(rows, dataset, method)
        if not scores:
            continue
        best = 100 * best_three(scores)
        paper = PUBLISHED.get((table, dataset))
        result.cells.append(
            [
                DATASETS[dataset].title,
                percent(scores),
                percent(values(rows, dataset, method, "accuracy_per_class")),
                f"{best:.2f}",
                f"{paper.accuracy:.2f}" if paper else "–",
                f"{best - paper.accuracy:+.2f}" if paper else "–",
                percent(values(rows, dataset, f"{method}-exact")),
                percent(values(rows, dataset, f"{method}-iter0")),
            ]
        )
    return result


def time_table(rows: Rows, table: str) -> ReportTable:
    """Return the times of one table of the paper, kernel matrices included."""
    method = TABLES[table]
    result = ReportTable(
        f"Table {table}, seconds: {describe(method)}",
        ["dataset", "train", "paper", "ratio", "test", "paper ", "ratio "],
    )
    for dataset in datasets_in(rows):
        fit = values(rows, dataset, method, "fit_seconds")
        predict = values(rows, dataset, method, "predict_seconds")
        if not fit:
            continue
        paper = PUBLISHED.get((table, dataset))
        result.cells.append(
            [
                DATASETS[dataset].title,
                *_seconds(mean(fit), paper.fit_seconds if paper else None),
                *_seconds(mean(predict), paper.predict_seconds if paper else None),
            ]
        )
    return result


def peer_table(rows: Rows) -> ReportTable:
    """Return our default, and the support vector machines in round 1."""
    result = ReportTable(
        "Not in the paper: our default, all rounds; peers tuned inside the training part, round 1",
        ["dataset", "method", "accuracy %", "per class %", "train s", "test s"],
    )
    names = {
        DEFAULT: "KernelDictionaryClassifier()",
        "svc": "one-vs-rest RBF SVM",
        "linear-svc": "LinearSVC",
    }
    for dataset in datasets_in(rows):
        for method in (DEFAULT, *PEERS):
            if not select(rows, dataset, method):
                continue
            scores = [
                percent(values(rows, dataset, method, name))
                for name in ("accuracy", "accuracy_per_class")
            ]
            times = [
                f"{mean(values(rows, dataset, method, name)):.2f}"
                for name in ("fit_seconds", "predict_seconds")
            ]
            result.cells.append([DATASETS[dataset].title, names[method], *scores, *times])
    return result


def dataset_table(rows: Rows, dataset: str) -> ReportTable:
    """Return all that is known of one dataset: the paper's tables, our default, the peers."""
    result = ReportTable(
        DATASETS[dataset].title,
        [
            *("method", "accuracy %", "per class", "best 3", "paper", "diff", "exact", "untrained"),
            *("train s", "paper ", "ratio", "test s", "paper  ", "ratio "),
        ],
    )
    for table, method in TABLES.items():
        accuracy, seconds = (
            next((row for row in make([*rows], table).cells if row[0] == result.title), None)
            for make in (accuracy_table, time_table)
        )
        if accuracy and seconds:
            result.cells.append([f"{table} {describe(method)}", *accuracy[1:], *seconds[1:]])
    for row in peer_table(rows).cells:
        if row[0] == result.title:
            _, method, accuracy_, per_class, train, test = row
            gaps = ["–"] * 5
            result.cells.append(
                [method, accuracy_, per_class, *gaps, train, "–", "–", test, "–", "–"]
            )
    told = [i for i in range(len(result.columns)) if any(row[i] != "–" for row in result.cells)]
    cells = [[row[i] for i in told] for row in result.cells]
    return ReportTable(result.title, [result.columns[i] for i in told], cells)


def all_tables(rows: Rows, searches: Rows) -> list[ReportTable]:
    """Return every table that has cells."""
    built = [make(rows, table) for table in TABLES for make in (accuracy_table, time_table)]
    built += [peer_table(rows), grid_table(searches)]
    return [table for table in built if table.cells]


def describe(method: str) -> str:
    """Return a method's name in the words of the paper."""
    family, *kernel, update = method.split("-")
    kind = {"rbf": " (RBF kernel)", "poly": " (polynomial kernel)"}.get("".join(kernel), "")
    return f"{update.upper().replace('KSVD', 'K-SVD')} {family.upper()}{kind}"


def _seconds(ours: float, paper: float | None) -> list[str]:
    if paper is None:
        return [duration(ours), "–", "–"]
    return [duration(ours), f"{paper:g}", times(paper / ours)]


def duration(seconds: float) -> str:
    """Return seconds with three digits, or more where they stand before the point."""
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.3g}"


def times(ratio: float) -> str:
    """Return a ratio as a factor."""
    return f"{ratio:.0f} ×" if ratio >= 10 else f"{ratio:.2g} ×"


def grid_table(searches: Rows) -> ReportTable:
    """Return what cross-validation chose beside what the paper chose."""
    table = ReportTable(
        "Grid search inside the training part (3 folds), beside the paper's choice",
        ["dataset", "method", "score %", "chosen", "paper"],
    )
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in searches:
        key = row["dataset"], row["method"]
        if key not in best or row["score"] > best[key]["score"]:
            best[key] = row
    for (dataset, method), row in best.items():
        paper = published_choice(dataset, method)
        chosen = ", ".join(f"{name} {row['parameters'][name]:g}" for name in paper)
        printed = ", ".join(f"{name} {value:g}" for name, value in paper.items())
        score = f"{100 * row['score']:.2f}"
        table.cells.append([DATASETS[dataset].title, method, score, chosen, printed])
    return table
