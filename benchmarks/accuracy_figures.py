"""The figures of docs/accuracy.md: mean ranks with their critical difference, and reliability."""

import matplotlib as mpl
import numpy as np
from scipy.stats import studentized_range

mpl.use("Agg")
import matplotlib.pyplot as plt

OURS, PEER, OTHER, GREY = "#c0392b", "#2c5f8a", "#3d9970", "#8a8f98"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.titlesize": 10,
    "savefig.dpi": 140,
    "savefig.bbox": "tight",
}


def critical_difference(n_methods, n_sets, level=0.05):
    """Return the difference of mean ranks that the Nemenyi test calls significant."""
    q = studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def cliques(ranks, difference):
    """Return the longest runs (first, last) of sorted ranks closer than the difference."""
    runs = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def draw_ranks(path, names, ranks, n_sets):
    """Draw mean ranks on a line, the best at the left; bars join what is not told apart."""
    order = np.argsort(ranks)
    names, ranks = [names[k] for k in order], np.asarray(ranks)[order]
    count, difference = len(ranks), critical_difference(len(ranks), n_sets)
    runs = cliques(ranks, difference)
    step, bar = 0.34, 0.17
    floor = -bar * (len(runs) + 1)
    half = (count + 1) // 2
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(7.6, 0.9 + 0.3 * (half + len(runs) / 2)))
        ax.axis("off")
        ax.plot([1, count], [0, 0], color="#444444", lw=1)
        for tick in range(1, count + 1):
            ax.plot([tick, tick], [0, 0.09], color="#444444", lw=1)
            ax.text(tick, 0.15, str(tick), ha="center", va="bottom")
        for k, (name, rank) in enumerate(zip(names, ranks, strict=True)):
            left = k < half
            y = floor - step * (k if left else count - 1 - k)
            end = 0.75 if left else count + 0.25
            colour = OURS if name == "default" else "#222222"
            ax.plot([rank, rank, end], [0, y, y], color=colour, lw=1.0)
            ax.plot(rank, 0, "o", color=colour, ms=4, zorder=3)
            text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
            side = "right" if left else "left"
            weight = "bold" if name == "default" else "normal"
            gap = -0.06 if left else 0.06
            ax.text(end + gap, y, text, ha=side, va="center", color=colour, weight=weight)
        for k, (first, last) in enumerate(runs):
            y = -bar * (k + 1)
            ends = [ranks[first] - 0.05, ranks[last] + 0.05]
            ax.plot(ends, [y, y], color=GREY, lw=4, solid_capstyle="round", zorder=2)
        top = 0.72
        ax.plot([1, 1 + difference], [top, top], color="#444444", lw=1.5, marker="|", ms=6)
        ax.text(
            1 + difference / 2,
            top + 0.08,
            f"critical difference {difference:.2f}",
            ha="center",
            va="bottom",
        )
        ax.set_xlim(-0.9, count + 1.9)
        figure.savefig(path)
        plt.close(figure)


def draw_reliability(path, panels):
    """Draw accuracy over confidence.

    ``panels``: (title, [(label, colour, bins, calibration error, log-loss), ...]) each; bins are
    rows [samples, mean confidence, accuracy].
    """
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            2,
            len(panels),
            figsize=(2.55 * len(panels), 3.7),
            sharex=True,
            sharey="row",
            height_ratios=[3.2, 1],
            layout="constrained",
        )
        for (title, curves), ax, below in zip(panels, *axes, strict=True):
            ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)))
            corner = {"transform": ax.transAxes, "ha": "right", "va": "bottom", "fontsize": 7.5}
            ax.text(0.98, 0.27, "ECE   log-loss", color="#444444", **corner)
            for k, (label, colour, bins, error, loss) in enumerate(curves):
                counts, sure, right = np.array(bins, float).T
                drawn = counts >= 20
                line = {"color": colour, "ms": 3.2, "lw": 1.3, "label": label, "clip_on": False}
                ax.plot(sure[drawn], right[drawn], "o-", **line)
                text = f"{100 * error:.1f} %      {loss:.3f}"
                ax.text(0.98, 0.19 - 0.08 * k, text, color=colour, **corner)
                edges = np.linspace(0, 1, len(counts) + 1)
                below.stairs(100 * counts / counts.sum(), edges, color=colour, lw=1.2)
            ax.set_title(title)
            ax.set(xlim=(0, 1), ylim=(0, 1), yticks=[0, 0.5, 1])
            ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            below.set_yscale("log")
            below.set(ylim=(0.05, 100), yticks=[0.1, 1, 10, 100])
            below.set_yticklabels(["0.1", "1", "10", "100"])
            below.minorticks_off()
            below.set_xlabel("largest probability")
        axes[0, 0].set_ylabel("share that is right")
        axes[1, 0].set_ylabel("samples, %")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
        figure.savefig(path)
        plt.close(figure)
