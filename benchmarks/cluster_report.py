"""Write the tables of docs/cluster.md from the results of benchmarks/cluster.py.

python benchmarks/cluster_report.py
"""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "cluster.json"
PAGE = ROOT / "docs" / "cluster.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
#: Of the arithmetic: rows, workers and their threads; features; rows of a chunk; bytes per second
#: that a worker reads and sends; what an hour of a thread costs; seconds of the scheduler per task.
ROWS, WORKERS, THREADS, FEATURES, CHUNK = 10**9, 100, 8, 20, 100_000
SPEED, PRICE, PER_TASK = 1e9, 0.05, 1e-3


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def cells(kept, kind):
    return [cell for name, cell in kept["cells"].items() if name.split()[0] == kind]


def mega(count):
    return f"{count / 1e6:,.0f}"


def scaling(kept):
    rows = []
    for cell in cells(kept, "scaling"):
        found = cell["found"]
        seconds = found["passes"]
        rows.append(
            (
                f"{found['rows']:,}",
                str(found["workers"]),
                f"{cell['load']:.0f}",
                f"{seconds['draw']:.0f} + {seconds['learn']:.0f}",
                f"{1e6 * found['worker_cpu'] / found['rows']:.1f}",
                f"{found['driver_cpu']:.1f}",
                mega(found["worker_peak"]),
                mega(found["driver_peak"]),
                f"{found['sent_between_workers'] / found['rows']:.2f}",
                f"{100 * found['accuracy']:.1f}",
            )
        )
    header = (
        "rows",
        "workers",
        "load",
        "passes, s",
        "workers, CPU µs per row",
        "driver, CPU s",
        "worker, peak MB",
        "driver, peak MB",
        "bytes sent per row",
        "accuracy %",
    )
    return table(header, rows)


def peers(kept):
    rows = [
        (
            each["method"],
            f"{100 * each['accuracy']:.2f}",
            f"{each['log_loss']:.4f}",
            f"{each['worker_cpu']:.0f}",
            f"{each['wall']:.0f}",
        )
        for cell in cells(kept, "peer")
        for each in cell["found"]
    ]
    return table(("method", "accuracy %", "log-loss", "workers, CPU s", "clock, s"), rows)


def reduction(kept):
    (cell,), (graph,) = cells(kept, "reduction"), cells(kept, "graph")
    found, graph = cell["found"], graph["found"]
    size, moved = found["bytes_of_a_sum"], found["sent_between_workers"]
    per_chunk = [graph[name] / graph["chunks"] for name in ("driver_more", "sent_to_scheduler")]
    return (
        f"The sums of {found['workers']} workers with {found['landmarks']} landmarks, "
        f"{mega(size)} MB each, were added up\nin {found['wall']:.0f} s (all workers in one "
        f"process, scheduler and driver in two others). Workers sent\neach other "
        f"and the driver {mega(moved)} MB, the driver took {mega(found['driver_more'])} MB more "
        f"than before, the scheduler {mega(found['scheduler_more'])} MB.\n"
        f"The tasks of one pass over {graph['chunks']:,} chunks in {graph['threads']} lanes are "
        f"made in {graph['seconds']:.1f} s of the processor; with the\ncollection they take "
        f"{per_chunk[0] / 1e3:.1f} kB of the driver per chunk, and {per_chunk[1] / 1e3:.1f} kB per "
        "chunk go to the scheduler.\n"
    )


def arithmetic(kept):
    largest = max(cells(kept, "scaling"), key=lambda cell: cell["found"]["rows"])["found"]
    per_row, m = largest["worker_cpu"] / largest["rows"], largest["landmarks"]
    lanes, chunks = WORKERS * THREADS, ROWS // CHUNK
    levels = (lanes - 1).bit_length()
    each = -(-chunks // lanes)
    computing = each * CHUNK * per_row
    size = 8 * m * (m + 1) / 2
    table_bytes = ROWS * FEATURES * 8
    reading = 2 * table_bytes / WORKERS / SPEED
    rows = [
        ("rows, both passes", f"2 × {table_bytes / 1e9:.0f} GB read, {reading:.0f} s at 1 GB/s"),
        (
            "computing",
            f"{1e6 * per_row:.0f} µs per row: {ROWS * per_row / 3600:.1f} hours of a thread, "
            f"{computing / 60:.1f} minutes in lanes of {each} chunks",
        ),
        (
            "sums on their way",
            f"at most {lanes - 1} × {size / 1e6:.1f} MB, {levels} levels: "
            f"{levels * size / SPEED:.2f} s; with 4000 landmarks {levels * 64e6 / SPEED:.1f} s",
        ),
        ("scheduler", f"{2 * chunks:,} tasks, {2 * chunks * PER_TASK:.0f} s at 1 ms per task"),
        ("driver", f"{largest['driver_cpu']:.0f} s, {mega(largest['driver_peak'])} MB"),
        (
            "cost",
            f"${ROWS * per_row / 3600 * PRICE:.2f}, at {100 * PRICE:.0f} cents for a thread's hour",
        ),
    ]
    return table((f"{ROWS:,} rows, {WORKERS} workers of {THREADS} threads", ""), rows)


def main():
    kept = json.loads(RESULTS.read_text())
    machine, versions = (kept["environment"][name] for name in ("machine", "versions"))
    text = (
        f"{machine}, Python {versions['python']}, NumPy {versions['numpy']}.\n\n"
        + scaling(kept)
        + '\nThe peer is scikit-learn\'s `SGDClassifier(loss="log_loss", average=True)` on '
        "`Nystroem(500)` features of the\nsame width over the same cluster, chunk after chunk as "
        "dask-ml's `Incremental` does; 300,000 rows, 2 workers:\n\n"
        + peers(kept)
        + "\n"
        + reduction(kept)
        + "\n### A thousand million rows on a hundred workers\n\n"
        + "This is arithmetic from the numbers above, and was not run.\n\n"
        + arithmetic(kept)
    )
    page = PAGE.read_text()
    before, after = page.split(START)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{START}\n{text}{END}{after}")


if __name__ == "__main__":
    main()
