import pytest

from kerndict.paper.tables import accuracy_table, all_tables, best_three, describe, time_table
from kerndict.paper.verdicts import headline, verdicts


def row(dataset, table, method, round_, accuracy, fit=1.0, **details):
    return {
        "dataset": dataset,
        "table": table,
        "method": method,
        "round": round_,
        "accuracy": accuracy,
        "accuracy_per_class": accuracy - 0.01,
        "fit_seconds": fit,
        "predict_seconds": 0.5,
        "kernel_fit_seconds": 0.0,
        "kernel_predict_seconds": 0.0,
        "details": {"spans": False, "alignment": 0.5, **details},
    }


def rounds(dataset, table, method, accuracies, **options):
    return [
        row(dataset, table, method, i + 1, value, **options) for i, value in enumerate(accuracies)
    ]


ROWS = [
    *rounds("yaleb", "III", "ikdl-rbf-aksvd", [0.93, 0.94, 0.95, 0.92]),
    *rounds("yaleb", "III", "ikdl-rbf-aksvd-iter0", [0.945]),
    *rounds("yaleb", "IV", "ikdl-rbf-uaksvd", [0.95, 0.95, 0.95, 0.95], fit=2.0, alignment=0.02),
    *rounds("yaleb", "IV", "ikdl-rbf-uaksvd-iter0", [0.94], alignment=0.9),
    *rounds("yaleb", "IV", "ikdl-rbf-uaksvd-iter30", [0.93]),
    *rounds("yaleb", "II", "idl-uaksvd", [0.90], fit=20.0),
    *rounds("yaleb", "", "svc", [0.97]),
]


def test_the_three_best_are_compared_with_the_paper():
    assert best_three([0.93, 0.94, 0.95, 0.92]) == pytest.approx(0.94)
    assert best_three([0.5]) == 0.5
    cells = dict(
        zip(accuracy_table(ROWS, "III").columns, accuracy_table(ROWS, "III").cells[0], strict=True)
    )
    assert cells["ours"] == "93.50 ± 1.12"
    assert cells["best 3"] == "94.00"
    assert cells["paper"] == "93.88"
    assert cells["difference"] == "+0.12"
    assert cells["untrained"] == "94.50"
    assert cells["exact"] == "–"


def test_times_stand_beside_the_papers_with_the_ratio():
    assert time_table(ROWS, "IV").cells == [["YaleB", "2", "7.2", "4 ×", "0.5", "24.7", "49 ×"]]


def test_only_tables_with_rows_are_shown():
    titles = [table.title for table in all_tables(ROWS)]
    assert len(titles) == 7
    assert titles[0].startswith("Table II, accuracy")
    assert "| YaleB | one-vs-rest RBF SVM |" in all_tables(ROWS)[-1].markdown()


def test_methods_are_described():
    assert describe("idl-aksvd") == "AK-SVD IDL"
    assert describe("ikdl-poly-uaksvd") == "UAK-SVD IKDL (polynomial kernel)"


def judged(rows, facts=None):
    return {v.claim.split()[0]: v for v in verdicts(rows, (facts or {}).get)}


def test_verdicts_follow_the_numbers():
    facts = {"product seconds yaleb": "0.01", "classes yaleb": "38"}
    found = judged(ROWS, facts)
    assert found["UAK-SVD"].verdict.startswith("holds: better by more than 0.2 points in 1 of 1")
    assert found["The"].numbers  # the kernel or the discriminative term
    assert "IDL 20 s, IKDL 2 s, 10.0 ×" in found["Kernel"].numbers[0]
    assert "152 s more" in found["Kernel"].numbers[0]  # 0.01 s, 38 classes, 40 atoms, 10 iterations
    assert "88 % of the training" in found["Kernel"].numbers[0]
    assert found["More"].verdict.startswith("does not hold: 30 instead of 10 change -2.00 points")
    assert "A" not in found  # sparsity was not run


def test_verdicts_flip_with_the_numbers():
    worse = [dict(r, accuracy=0.9) if r["method"] == "ikdl-rbf-uaksvd" else r for r in ROWS]
    assert judged(worse)["UAK-SVD"].verdict.startswith("does not hold")
    names = [v.claim for v in verdicts(ROWS, {}.get)]
    orthogonality = next(v for v in verdicts(ROWS, {}.get) if "quasi-orthogonality" in v.claim)
    assert orthogonality.verdict.startswith("does not hold")  # 0.02 on YaleB is orthogonal
    assert len(names) == 5
    digits = [dict(r, dataset="digits") for r in ROWS]
    orthogonality = next(v for v in verdicts(digits, {}.get) if "quasi-orthogonality" in v.claim)
    assert orthogonality.verdict.startswith("not tested")


def test_the_headline_counts_what_was_reproduced():
    text = headline(ROWS)
    assert "YaleB 2 of 3 (largest gap -4.11)" in text
    assert "a tuned SVM reaches 97.00 %" in text
    assert "training is worth +0.00 points on average" in text  # 93.5 - 94.5 and 95 - 94
    assert headline([]) == "No rows yet."
