import re

import numpy as np
import pytest

from kerndict.paper.chart import charts
from kerndict.paper.protocol import PUBLISHED, TABLES
from kerndict.paper.report import rounds_in_words
from kerndict.paper.tables import (
    accuracy_table,
    all_tables,
    best_three,
    dataset_table,
    describe,
    time_table,
)
from kerndict.paper.verdicts import headline, sentences, verdicts


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
    assert cells["ours"] == "93.50±1.29"
    assert cells["best 3"] == "94.00"
    assert cells["paper"] == "93.88"
    assert cells["diff"] == "+0.12"
    assert cells["untrained"] == "94.50"
    assert cells["exact"] == "–"


def test_times_stand_beside_the_papers_with_the_ratio():
    assert time_table(ROWS, "IV").cells == [["YaleB", "2", "7.2", "3.6 ×", "0.5", "24.7", "49 ×"]]


def test_only_tables_with_rows_are_shown():
    titles = [table.title for table in all_tables(ROWS, [])]
    assert len(titles) == 7
    assert titles[0].startswith("Table II, accuracy")
    assert "| YaleB | one-vs-rest RBF SVM |" in all_tables(ROWS, [])[-1].markdown()


def test_methods_are_described():
    assert describe("idl-aksvd") == "AK-SVD IDL"
    assert describe("ikdl-poly-uaksvd") == "UAK-SVD IKDL (polynomial kernel)"


def judge(word, rows, facts=None):
    """Return the verdict on the claim that holds a word."""
    return next(v for v in verdicts(rows, (facts or {}).get) if word in v.claim)


def test_verdicts_follow_the_numbers():
    assert judge("UAK-SVD", ROWS).verdict.startswith("holds: ahead in 1 of 1 pair of")
    more = judge("More than 10", ROWS).verdict
    assert more.startswith("does not hold: 30 instead of 10 change -2.00 points (YaleB)")
    assert "10 instead of none change +1.00 points" in more
    assert not any("sparsity" in v.claim for v in verdicts(ROWS, {}.get))  # was not run
    worse = [dict(r, accuracy=0.9) if r["method"] == "ikdl-rbf-uaksvd" else r for r in ROWS]
    assert judge("UAK-SVD", worse).verdict.startswith("does not hold")


def test_training_time_answers_how_much_was_wasted():
    facts = {"product seconds yaleb": "0.01", "classes yaleb": "38"}
    verdict = judge("times faster", ROWS, facts)
    assert verdict.verdict.startswith("holds: YaleB 10 ×")
    assert "IDL 20 s, IKDL 2 s, 10 ×" in verdict.numbers[0]
    # 0.01 s, 38 classes, 40 atoms, 10 iterations are 152 s
    assert "IDL would take 172 s, 86 ×" in verdict.numbers[0]
    quick = [dict(r, fit_seconds=3.0) if r["method"] == "idl-uaksvd" else r for r in ROWS]
    assert judge("times faster", quick, facts).verdict.startswith("holds only while D̄D̄'")
    assert judge("times faster", quick).verdict.startswith("does not hold: YaleB 1.5 ×")


def test_claims_about_datasets_need_these_datasets():
    digits = [dict(r, dataset="digits") for r in ROWS]
    for word in ("except on YaleB", "quasi-orthogonality", "times faster"):
        assert judge(word, digits).verdict.startswith("not tested")
    # On YaleB the kernel is said not to help; here it does, and 0.02 is orthogonal.
    assert judge("except on YaleB", ROWS).verdict.startswith("does not hold")
    assert judge("quasi-orthogonality", ROWS).verdict.startswith("does not hold")
    aligned = [dict(r, details={**r["details"], "alignment": 0.9}) for r in ROWS]
    partly = judge("quasi-orthogonality", aligned).verdict
    assert partly.startswith("not refuted, but tested on YaleB only")


def test_orthogonality_must_come_from_training():
    rows = [dict(r, dataset="caltech101") for r in ROWS]
    untrained = [
        dict(r, details={**r["details"], "alignment": 0.01}) if "iter0" in r["method"] else r
        for r in rows
    ]
    assert judge("quasi", rows).verdict.startswith("not refuted")
    assert judge("quasi", untrained).verdict.startswith("does not hold")


def test_sparsity_is_judged_beyond_20_where_codes_do_not_span():
    def rows(s32, spans=False):
        method = "ikdl-rbf-uaksvd"
        scores = {"": 0.9, "-s4": 0.5, "-s8": 0.6, "-s32": s32}
        return [
            row("yaleb", "IV", method + suffix, 1, score, spans=spans)
            for suffix, score in scores.items()
        ]

    assert judge("sparsity", rows(0.95)).verdict.startswith(
        "holds: s = 32 instead of 20 changes +5"
    )
    assert judge("sparsity", rows(0.9)).verdict.startswith("does not hold")
    assert judge("sparsity", rows(0.95, spans=True)).verdict.startswith("not tested")


def test_the_papers_own_numbers_support_its_claims():
    rows = [
        row(dataset, table, TABLES[table], 1, p.accuracy / 100, fit=p.fit_seconds)
        for (table, dataset), p in PUBLISHED.items()
    ]
    for word in ("UAK-SVD", "except on YaleB", "times faster"):
        assert judge(word, rows).verdict.startswith("holds")
    assert headline(rows).count("reproduced, all 6 tables within 1 point") == 3


def test_the_headline_says_what_was_reproduced():
    text = headline(ROWS)
    assert text.startswith(
        "YaleB: not reproduced, 2 of 3 tables within 1 point and one off by -4.11"
    )
    assert (
        "(best table IV 95.00 %, the paper's 94.05 %, untrained 94.00 %, tuned SVM 97.00 %)" in text
    )
    assert headline([dict(r, dataset="digits") for r in ROWS]).startswith(
        "Digits: not in the paper"
    )
    assert headline([]) == "No rows yet."


def test_all_of_a_dataset_is_in_one_table():
    table = dataset_table(ROWS, "yaleb")
    methods = [row[0] for row in table.cells]
    assert methods[-1] == "one-vs-rest RBF SVM"
    assert "IV UAK-SVD IKDL (RBF kernel)" in methods
    fourth = table.cells[methods.index("IV UAK-SVD IKDL (RBF kernel)")]
    found = dict(zip(table.columns, fourth, strict=True))
    assert found["paper"] == "94.05"
    assert found["ratio"] == "3.6 ×"
    assert all(any(row[i] != "–" for row in table.cells) for i in range(len(table.columns)))
    unknown = dataset_table([dict(r, dataset="digits") for r in ROWS], "digits")
    assert not {"paper", "diff", "ratio"} & {name.strip() for name in unknown.columns}


def test_our_default_stands_beside_the_paper_in_the_first_sentence():
    rows = [*ROWS, row("yaleb", "", "default", 1, 0.98)]
    (told,) = sentences(rows)
    assert "the paper's 94.05 %, untrained 94.00 %, our default 98.00 %" in told


def test_the_chart_has_every_mark():
    drawn = charts([*ROWS, row("yaleb", "", "default", 1, 0.98)])
    assert drawn.count('class="line" role="img"') == 5
    for words in ("the paper 94.05 %", "untrained 94.00 %", "our default: not in the paper"):
        assert words in drawn
    assert charts([]) == ""


@pytest.mark.parametrize(
    ("rounds", "words"),
    [
        (1, "that of the one round"),
        (2, "no three rounds to choose from"),
        (3, "the mean of 3 rounds .* three best"),
    ],
)
def test_words_are_right_for_few_rounds(rounds, words):
    rows = [row("digits", "IV", "ikdl-rbf-uaksvd", r, 0.9) for r in range(1, rounds + 1)]
    assert re.search(words, rounds_in_words(rows))


def test_an_objective_that_rises_says_why():
    rise = pytest.importorskip("kerndict.paper.figures").rise
    rising = {"reconstruction": np.array([1.0, 3.0]), "coherence": np.zeros(2)}
    assert "from 1 to 3: the printed step" in rise(rising, 0.1)
    assert rise({name: values[::-1] for name, values in rising.items()}, 0.1) == ""
