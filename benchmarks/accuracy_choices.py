"""Tables of what the default chooses, of few samples, and of sets of classes."""

import numpy as np
from accuracy_tables import FEW, SETS, TITLES, shown, table
from scipy.stats import ttest_rel


def choices(results):
    """Return what the preparation did on each set: chosen how, and both results beside."""
    rows = []
    for name in (*SETS, *FEW):
        seeds, pair = results.shared(name, ("unprepared", "default"), "accuracy")
        if not seeds:
            continue
        losses = results.shared(name, ("unprepared", "default"), "log_loss")[1]
        chosen = [c["chosen"] for c in results.cells[name, "default"] if c["seed"] in seeds]
        rows.append(
            [
                name,
                str(len(seeds)),
                *(shown(list(values), 100, 2) for values in pair),
                *(f"{values.mean():.3f}" for values in losses),
                ", ".join(spelt(each) for each in chosen),
            ]
        )
    head = ["", "seeds", "accuracy, rows as they are", "prepared", "log-loss, rows as they are"]
    return table([*head, "prepared", "chosen, seed by seed"], rows)


def spelt(chosen):
    """Return a choice in words."""
    strength = chosen["within_class_whitening"]
    words = [f"{strength:g}"] if strength else []
    return " + ".join(["root", *words] if chosen["square_root"] else words) or "nothing"


def few(results):
    """Return the default beside the tuned SVM with few samples per class, and who is ahead."""
    rows, ahead = [], []
    for name in FEW:
        seeds, (ours, svm) = results.shared(name, ("default", "svc"), "accuracy")
        if not seeds:
            continue
        losses = results.shared(name, ("default", "svc"), "log_loss")[1]
        ahead.append((ours.mean(), svm.mean()))
        better = ours.mean() > svm.mean()
        texts = [f"{100 * ours.mean():.2f}", f"{100 * svm.mean():.2f}"]
        texts[not better] = f"**{texts[not better]}**"
        rows.append([name, str(len(seeds)), *texts, *(f"{loss.mean():.3f}" for loss in losses)])
    means = np.mean(ahead, axis=0) if ahead else [0, 0]
    count = sum(ours > svm for ours, svm in ahead)
    words = (
        f"The default is ahead in {count} of {len(ahead)} cells; mean accuracy "
        f"{100 * means[0]:.2f} against {100 * means[1]:.2f}.\n"
    )
    head = ["", "seeds", "default", TITLES["svc"], "log-loss, default", "log-loss, SVM"]
    return table(head, rows) + "\n" + words


def coverage(results):
    """Return how often sets of classes hold the true one, and how many classes they hold."""
    rows, alphas = [], None
    for name in (*SETS, *FEW):
        cells = [c for c in results.cells.get((name, "default"), []) if "sets" in c]
        if not cells:
            continue
        alphas = list(cells[0]["sets"])
        row = [name, str(cells[0]["n_train"]), str(cells[0]["n_test"])]
        for alpha in alphas:
            held, size = np.mean([c["sets"][alpha] for c in cells], axis=0)
            row.append(f"{100 * held:.1f}, {size:.2f}")
        rows.append(row)
    if alphas is None:
        return ""
    return table(["", "training samples", "test samples", *(f"alpha {a}" for a in alphas)], rows)


def paired(results, name, method, field):
    """Return the p-value of a paired t-test over the seeds that both have, in words."""
    seeds, (ours, theirs) = results.shared(name, ("default", method), field)
    if len(seeds) < 2 or np.ptp(ours - theirs) == 0:
        return ""
    return f" (p = {ttest_rel(ours, theirs).pvalue:.2f}, {len(seeds)} seeds)"
