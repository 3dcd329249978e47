"""Write the tables and the figure of docs/strangers.md from a result of strangers.py.

    python benchmarks/strangers_report.py benchmarks/results/strangers.json docs/strangers.md

Only what stands between the two marks in the page, and images/strangers.png beside it, is
written anew.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from accuracy_report import BEGIN, END
from accuracy_tables import Results, table

from kerndict.display.common import RUNNER_UP, WINNER

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

SETS = {
    "yaleb": "YaleB",
    "ar": "AR",
    "caltech101": "Caltech101",
    "coil20": "COIL-20",
    "isolet-60": "ISOLET, 60 per class",
    "usps-100": "USPS, 100 per class",
    "isolet": "ISOLET",
    "usps": "USPS",
}
PEERED = tuple(SETS)[:6]
METHODS = {
    "typicality": "**typicality**",
    "svc": "RBF SVM, largest score",
    "linear-svc": "linear SVM, largest score",
    "residual": "smallest residual, the paper's rule",
    "one-class": "one-class SVM",
}
PARTS = {
    "typicality": "**typicality**: the winner's score",
    "probability": "the winner's probability",
    "product": "log(q / (r o)), unweighed",
    "ratio": "log(q / r)",
    "left": "-log r, what the winner leaves",
    "alone": "-log o, what it leaves on its own",
}


class Areas(Results):
    """Cells by set and method."""

    def areas(self, name, method):
        """Return the areas of a peer, or of a part of ours, in all halves."""
        if (name, method) in self.cells:
            return [cell["auc"] for cell in self.cells[name, method]]
        return [cell["auc"][method] for cell in self.ours(name) if method in cell["auc"]]

    def ours(self, name):
        return self.cells.get((name, "default"), [])


def area_table(results, methods, names):
    """Return methods by sets, the best of each set in bold, with mean and worst."""
    values = np.array(
        [[np.mean(results.areas(name, method)) for name in names] for method in methods]
    )
    values = np.column_stack([values, values.mean(axis=1), values.min(axis=1)])
    best = values.round(3).max(axis=0)
    rows = []
    for title, row in zip(methods.values(), values.round(3), strict=True):
        texts = [f"**{v:.3f}**" if v == b else f"{v:.3f}" for v, b in zip(row, best, strict=True)]
        rows.append([title, *texts])
    return table(["", *(SETS[name] for name in names), "mean", "worst"], rows)


def behind(results):
    """Return a sentence on the sets where a peer is ahead, by the numbers as printed."""
    texts = []
    for name in PEERED:
        areas = {m: round(float(np.mean(results.areas(name, m))), 3) for m in METHODS}
        ours = areas.pop("typicality")
        ahead = [f"{METHODS[m]} {area:.3f}" for m, area in areas.items() if area > ours]
        if ahead:
            texts.append(f"{SETS[name]} ({ours:.3f}; {', '.join(ahead)})")
    return f"Typicality is behind a peer on: {'; '.join(texts) or 'none of these sets'}.\n"


def share_table(results, names):
    """Return how even typicality is on the known, and what it rejects of the unknown."""
    rows = []
    for name in names:
        cells = results.ours(name)
        area = np.mean(results.areas(name, "typicality"))
        shares = [
            f"{100 * np.mean([cell[kind][share] for cell in cells]):.1f}"
            for kind in ("known_below", "unknown_below")
            for share in ("0.01", "0.05", "0.1")
        ]
        distance = np.mean([cell["ks"] for cell in cells])
        rows.append([SETS[name], *shares[:3], f"{distance:.2f}", *shares[3:], f"{area:.3f}"])
    below = ["< 0.05", "< 0.1"]
    head = ["%", "known < 0.01", *below, "KS distance", "unknown < 0.01", *below, "area"]
    return table(head, rows)


def draw(results, path):
    """Draw what each threshold rejects, a panel per set."""
    figure, panels = plt.subplots(
        2, 3, figsize=(9, 5.2), sharex=True, sharey=True, layout="constrained"
    )
    for ax, name in zip(panels.flat, PEERED, strict=True):
        cells = results.ours(name)
        for cell in cells:
            x = cell["thresholds"]
            (unknown,) = ax.plot(x, cell["unknown_curve"], color=RUNNER_UP, linewidth=1.4)
            (known,) = ax.plot(x, cell["known_curve"], color=WINNER, linewidth=1.4)
        (even,) = ax.plot(x, x, color="#8a949b", linestyle=(0, (4, 3)), linewidth=1.2)
        area = np.mean(results.areas(name, "typicality"))
        ax.set_title(f"{SETS[name]}: area {area:.3f}", loc="left", fontsize="medium")
        ax.set_xscale("log")
        ax.set(xlim=(1e-3, 1), ylim=(0, 1.02))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("threshold on the typicality", fontsize="medium")
    figure.supylabel("samples rejected", fontsize="medium")
    names = ["classes not seen", "classes seen", "classes seen, if uniform"]
    figure.legend([unknown, known, even], names, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write_page(result, page):
    """Write the measured part of the page and its figure."""
    results = Areas(result)
    full = [name for name in SETS if name in PEERED or results.ours(name)]
    image = Path(page).parent / "images" / "strangers.png"
    draw(results, image)
    cells = results.ours("yaleb")
    lines = [
        area_table(results, METHODS, PEERED),
        "Area under the ROC curve, test samples of seen against unseen classes; means of\n"
        f"{len(cells)} random halves of the classes.\n",
        behind(results),
        f"![What each threshold rejects](images/{image.name})\n",
        share_table(results, full),
        "Areas of the score beside its parts and the alternatives:\n",
        area_table(results, PARTS, PEERED),
        f"Versions: {', '.join(f'{k} {v}' for k, v in results.head['versions'].items())}.\n"
        f"Machine: {results.head['machine']}.\n",
    ]
    text = Path(page).read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    Path(page).write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after)


if __name__ == "__main__":
    write_page(sys.argv[1], sys.argv[2])
