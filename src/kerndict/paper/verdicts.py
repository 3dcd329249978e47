"""A verdict with numbers on each claim of the paper's text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

from kerndict.paper.protocol import (
    DATASETS,
    FIGURES,
    N_ATOMS,
    N_ITER,
    PUBLISHED,
    TABLES,
)
from kerndict.paper.tables import Rows, best_three, datasets_in, select, values

#: In fractions: smaller differences between mean accuracies count as none.
NOISE = 0.002
#: Mean alignment of two dictionaries below which they count as nearly orthogonal.
ORTHOGONAL = 0.1

Facts = Callable[[str], str | None]


@dataclass(frozen=True)
class Verdict:
    """What the paper says, whether it holds here, and the numbers."""

    claim: str
    verdict: str
    numbers: list[str]


def verdicts(rows: Rows, fact: Facts) -> list[Verdict]:
    """Judge every claim for which there are rows."""
    judges = (_uaksvd, _kernel, _training_time, _iterations, _sparsity, _orthogonality)
    return [
        verdict for judge in judges if (verdict := judge(rows, datasets_in(rows), fact)).numbers
    ]


def _uaksvd(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, signs = [], []
    for first, second in (("I", "II"), ("III", "IV"), ("V", "VI")):
        for dataset in datasets:
            pair = [values(rows, dataset, TABLES[table]) for table in (first, second)]
            if not all(pair):
                continue
            gains = [100 * (u - a) for a, u in zip(*pair, strict=False)]
            signs.append(mean(gains))
            numbers.append(
                f"{_title(dataset)}, tables {first} and {second}: {mean(gains):+.2f} points on "
                f"average, ahead in {sum(gain > 0 for gain in gains)} of {len(gains)} rounds"
            )
    ahead = sum(sign > 100 * NOISE for sign in signs)
    behind = sum(sign < -100 * NOISE for sign in signs)
    word = "holds" if ahead > len(signs) / 2 else "does not hold"
    return Verdict(
        "UAK-SVD usually improves on AK-SVD, sometimes only slightly",
        f"{word}: better by more than {100 * NOISE:g} points in {ahead} of {len(signs)} pairs, "
        f"worse in {behind}",
        numbers,
    )


def _kernel(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, helped = [], {}
    for dataset in datasets:
        kinds = {"IDL": ("I", "II"), "RBF": ("III", "IV"), "polynomial": ("V", "VI")}
        best = {
            kind: max(mean(scores) for scores in found)
            for kind, tables in kinds.items()
            if (found := [s for t in tables if (s := values(rows, dataset, TABLES[t]))])
        }
        if "IDL" not in best or len(best) < 2:
            continue
        gain = max(score for kind, score in best.items() if kind != "IDL") - best["IDL"]
        helped[dataset] = gain > NOISE
        listed = ", ".join(f"{kind} {100 * score:.2f} %" for kind, score in best.items())
        numbers.append(f"{_title(dataset)}: {listed}")
    names = [_title(dataset) for dataset, won in helped.items() if won]
    return Verdict(
        "The kernel improves accuracy, except on YaleB",
        f"{_as_stated(helped, {'yaleb': False, 'ar': True, 'caltech101': True})}: a kernel helps "
        f"on {', '.join(names) or 'none of the datasets'}",
        numbers,
    )


def _training_time(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, faster = [], []
    for dataset in datasets:
        idl = values(rows, dataset, TABLES["II"], "fit_seconds")
        ikdl = values(rows, dataset, TABLES["IV"], "fit_seconds")
        if not idl or not ikdl:
            continue
        ratio = mean(idl) / mean(ikdl)
        faster.append(ratio)
        text = f"{_title(dataset)}: IDL {mean(idl):.3g} s, IKDL {mean(ikdl):.3g} s, {ratio:.1f} ×"
        if ("II", dataset) in PUBLISHED:
            paper = PUBLISHED["II", dataset].fit_seconds / PUBLISHED["IV", dataset].fit_seconds
            text += f" (the paper's times: {paper:.0f} ×)"
        product = fact(f"product seconds {dataset}")
        classes = fact(f"classes {dataset}")
        if product and classes:
            wasted = float(product) * int(classes) * N_ATOMS * N_ITER
            share = wasted / (wasted + mean(idl))
            text += (
                f"; forming D̄D̄' anew for every atom, as the published code does, would take "
                f"{wasted:.3g} s more on this machine, {100 * share:.0f} % of the training"
            )
        numbers.append(text)
    word = "holds in kind" if faster and min(faster) > 1 else "does not hold everywhere"
    return Verdict(
        "Kernel training is 10, 25 and 200 times faster (YaleB, AR, Caltech101)",
        f"{word}: {', '.join(f'{ratio:.1f} ×' for ratio in faster)}, when neither recomputes D̄D̄'",
        numbers,
    )


def _iterations(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, changes, learned = [], [], []
    for dataset in datasets:
        steps = {0: f"{FIGURES}-iter0", N_ITER: FIGURES, 30: f"{FIGURES}-iter30"}
        found = {n: mean(s) for n, name in steps.items() if (s := values(rows, dataset, name))}
        if len(found) < 3:
            continue
        changes.append(found[30] - found[N_ITER])
        learned.append(found[N_ITER] - found[0])
        numbers.append(
            f"{_title(dataset)}: "
            + ", ".join(f"{n} iterations {100 * score:.2f} %" for n, score in found.items())
        )
    small = all(abs(change) <= 0.01 for change in changes)
    return Verdict(
        "More than 10 iterations change little",
        f"{'holds' if small else 'does not hold'}: 30 instead of 10 change {_points(changes)}; "
        f"10 instead of none change {_points(learned)}",
        numbers,
    )


def _sparsity(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, helps = [], []
    for dataset in datasets:
        levels = {4: f"{FIGURES}-s4", 8: f"{FIGURES}-s8", 20: FIGURES, 32: f"{FIGURES}-s32"}
        found = {s: mean(v) for s, name in levels.items() if (v := values(rows, dataset, name))}
        if len(found) < 4:
            continue
        helps.append(found[32] - found[4])
        spans = any(row["details"]["spans"] for row in select(rows, dataset, FIGURES))
        numbers.append(
            f"{_title(dataset)}: "
            + ", ".join(f"s = {s} {100 * score:.2f} %" for s, score in found.items())
            + ("; at s = 20 a code spans its class already" if spans else "")
        )
    word = "holds" if helps and all(gain > NOISE for gain in helps) else "does not hold everywhere"
    return Verdict(
        "A larger sparsity level helps",
        f"{word}: from s = 4 to s = 32, {_points(helps)}",
        numbers,
    )


def _orthogonality(rows: Rows, datasets: Sequence[str], fact: Facts) -> Verdict:
    numbers, near = [], {}
    for dataset in datasets:
        names = {"trained": FIGURES, "untrained": f"{FIGURES}-iter0", "exact": f"{FIGURES}-exact"}
        found = {
            kind: mean(row["details"]["alignment"] for row in chosen)
            for kind, name in names.items()
            if (chosen := select(rows, dataset, name))
        }
        if "trained" not in found:
            continue
        near[dataset] = found["trained"] < ORTHOGONAL
        listed = ", ".join(f"{kind} {value:.3f}" for kind, value in found.items())
        numbers.append(f"{_title(dataset)}: mean alignment {listed}")
    orthogonal = [_title(dataset) for dataset, is_near in near.items() if is_near]
    return Verdict(
        "The discriminative term gives no quasi-orthogonality on YaleB and AR, but does on "
        "Caltech101",
        f"{_as_stated(near, {'yaleb': False, 'ar': False, 'caltech101': True})}: nearly orthogonal "
        f"(mean alignment below {ORTHOGONAL:g}, where 0 is orthogonal and 1 the same) on "
        f"{', '.join(orthogonal) or 'none of the datasets'}",
        numbers,
    )


def _as_stated(found: dict[str, bool], stated: dict[str, bool]) -> str:
    """Compare with what the paper states of its own datasets, as far as they are here."""
    shared = found.keys() & stated.keys()
    if not shared:
        return "not tested, for lack of the paper's datasets"
    return "holds" if all(found[name] == stated[name] for name in shared) else "does not hold"


def _points(differences: Sequence[float]) -> str:
    return ", ".join(f"{100 * value:+.2f}" for value in differences) + " points"


def headline(rows: Rows) -> str:
    """Say in one sentence whether the paper's numbers were reproduced, and the controls."""
    compared = [
        (dataset, 100 * best_three(scores) - paper.accuracy)
        for (table, dataset), paper in PUBLISHED.items()
        if (scores := values(rows, dataset, TABLES[table]))
    ]
    trained = [mean(scores) for scores, _ in _pairs(rows)]
    gains = [mean(scores) - mean(untrained) for scores, untrained in _pairs(rows) if untrained]
    controls = ""
    if gains:
        controls = (
            f"training is worth {100 * mean(gains):+.2f} points on average over untrained "
            "dictionaries"
        )
    svm = [score for dataset in datasets_in(rows) for score in values(rows, dataset, "svc")]
    if svm:
        controls += f"{', and ' if controls else ''}a tuned SVM reaches {100 * mean(svm):.2f} %"
    if not trained:
        return "No rows yet."
    if not compared:
        sentence = (
            "The paper has no numbers for this data; the dictionaries trained by its methods reach "
            f"{100 * mean(trained):.2f} % on average"
        )
        return f"{sentence}{'; ' if controls else ''}{controls}."
    parts = []
    for dataset in dict.fromkeys(dataset for dataset, _ in compared):
        gaps = [gap for name, gap in compared if name == dataset]
        close = sum(abs(gap) <= 1 for gap in gaps)
        worst = max(gaps, key=abs)
        parts.append(f"{_title(dataset)} {close} of {len(gaps)} (largest gap {worst:+.2f})")
    return (
        "Within 1 percentage point of the paper's accuracy, table by table: "
        f"{', '.join(parts)}{'; ' if controls else ''}{controls}."
    )


def _pairs(rows: Rows) -> list[tuple[list[float], list[float]]]:
    """Return the accuracies of every table's method on every dataset, and untrained ones."""
    return [
        (scores, values(rows, dataset, f"{method}-iter0"))
        for method in TABLES.values()
        for dataset in datasets_in(rows)
        if (scores := values(rows, dataset, method))
    ]


def _title(dataset: str) -> str:
    return DATASETS[dataset].title
