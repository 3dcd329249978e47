"""Write docs/speed.md and its figures from the results of the speed benchmarks.

python benchmarks/speed_report.py
"""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from timing import RESULTS

DOCS = Path(__file__).parents[1] / "docs"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
WORDS = {
    "fit": "kernel fit, 40 atoms, penalty, 10 passes",
    "fit, no penalty": "the same without penalty",
    "fit, plain": "fit, 15 or 16 atoms, residual rule, width given, 5 passes",
    "fit, default": "fit as it comes, all automatic choices",
    "predict, residual": "predict, residual rule, 40 atoms",
    "predict, collaborative": "predict, collaborative rule, 15 atoms",
    "predict, residual, float32": "predict, residual rule, float32 (to its own product)",
}
TITLES = {"yaleb": "YaleB", "ar": "AR", "caltech101": "Caltech101"}


def read(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def fit_predict(results):
    """Return the table of ratios to the product."""
    names = list(results)
    rows = []
    for threads, clock in (("one thread", "cpu"), ("two threads", "wall")):
        for what in results[names[0]][threads]:
            if what.startswith("product"):
                continue
            cells = []
            for name in names:
                times = results[name][threads]
                base = "product, float32" if what.endswith("float32") else "product"
                cells.append(number(times[what][clock] / times[base][clock]))
            rows.append([WORDS[what], threads, *cells])
    for what in ("predict, residual", "predict, collaborative"):
        walls = [
            [results[n][t][what]["wall"] for n in names] for t in ("one thread", "two threads")
        ]
        cells = [f"{one / two:.2f} times" for one, two in zip(*walls, strict=True)]
        rows.append([WORDS[what], "faster with `n_jobs=2`", *cells])
    header = ["ratio to the product Y X'", "", *(TITLES[name] for name in names)]
    return table(header, rows)


def linear(results):
    rows = []
    for update in ("power", "exact"):
        key = f"{update}, ratio to its operations"
        cells = (number(result["linear"][key]) for result in results.values())
        rows.append([f"{update}, each pass after the first, to the operations of power", *cells])
    cells = []
    for result in results.values():
        exact, power = (result["linear"][f"{u}, per pass"]["cpu"] for u in ("exact", "power"))
        cells.append(number(exact / power))
    rows.append(["exact to power", *cells])
    return table(["linear fit", *(TITLES[name] for name in results)], rows)


def peers(results):
    first = next(iter(results.values()))
    rows = []
    for what in first["peers"]:
        if what == "product":
            continue
        cells = []
        for result in results.values():
            times = result["peers"]
            cells.append(number(times[what]["cpu"] / times["product"]["cpu"]))
        rows.append([what, *cells])
    return table(["peers, ratio to the product", *(TITLES[name] for name in results)], rows)


def scaling(results):
    sizes = [name for name in results if name != "base"]
    whats = list(results[sizes[0]]["exponents"])
    rows = [[what, *(exponent(results, s, what) for s in sizes)] for what in whats]
    return table(["exponent of time in", *sizes], rows)


def exponent(results, size, what):
    """Return the exponent of time in a size; rows to predict are nothing to a fit."""
    if size == "rows" and what.endswith("fit"):
        return "–"
    return f"{results[size]['exponents'][what]:.1f}".replace("-0.0", "0.0")


def draw_scaling(results):
    sizes = [name for name in results if name != "base"]
    figure, axes = plt.subplots(2, 3, figsize=(10, 6), sharey=True, layout="constrained")
    for axis, name in zip(axes.flat, sizes, strict=True):
        for what, seconds in results[name]["seconds"].items():
            label = f"{what}, {exponent(results, name, what)}"
            axis.loglog(results[name]["sizes"], seconds, "o-", markersize=3, label=label)
        axis.set_xlabel({"rows": "rows to predict", "samples": "samples per class"}.get(name, name))
        axis.set_xticks(results[name]["sizes"], [str(size) for size in results[name]["sizes"]])
        axis.minorticks_off()
        axis.legend(fontsize=7, frameon=False)
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
    for axis in axes[:, 0]:
        axis.set_ylabel("CPU seconds")
    figure.suptitle("Time by size, with the exponent on the larger half")
    figure.savefig(DOCS / "images" / "speed-scaling.png", dpi=110)


def omp(results):
    """Return the table of OMP: times of the peers over ours."""
    names = [name for name in results[0]["times"] if name != "kerndict"]
    rows = []
    for case in results:
        ours = case["times"]["kerndict"]["cpu"]
        cells = [
            number(case["times"][name]["cpu"] / ours) if name in case["times"] else "–"
            for name in names
        ]
        rows.append([case["case"], *cells])
    return table(["`sparse_code`: times faster than", *names], rows)


def first_call(results):
    rows = [[what, f"{value - results['peers']:.2f}"] for what, value in results.items()]
    return table(["a new process, seconds beyond `import sklearn.base, numba`", ""], rows[1:])


def main():
    (DOCS / "images").mkdir(exist_ok=True)
    speed, sizes = read("fit_predict"), read("scaling")
    parts = [
        f"On one {speed['machine']}; medians of interleaved repeats. What takes more than "
        "half a minute (two of the peers) ran once.\n"
    ]
    parts.append(omp(read("omp")["results"]))
    results = speed["results"]
    parts += [fit_predict(results), linear(results)]
    if all("peers" in result for result in results.values()):
        parts.append(peers(results))
    parts += [scaling(sizes["results"]), "![Time by size](images/speed-scaling.png)\n"]
    parts.append(first_call(read("first_call")["results"]))
    draw_scaling(sizes["results"])
    page = DOCS / "speed.md"
    text = page.read_text()
    before, rest = text.split(START)
    page.write_text(before + START + "\n\n" + "\n".join(parts) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
