"""A small store of results."""

import numpy as np

from kerndict.paper.protocol import Row
from kerndict.paper.store import COLUMNS, Store

DETAILS = {"spans": False, "versions": {"kerndict": "0.1"}, "reconstruction": [1.5, 0.25]}
RESULT = dict.fromkeys(COLUMNS[4:10], 0.5) | {"details": DETAILS}
KEPT = [
    (Row("digits", "IV", "ikdl-rbf-uaksvd", number), RESULT | {"accuracy": 0.9 + number / 100})
    for number in (1, 2, 3)
]


def fill(folder):
    """Write a store with rows, a search, a fact and arrays."""
    with Store(folder) as store:
        for row, result in KEPT:
            store.add(row, result, {"a": np.arange(3)} if row.round == 1 else None)
        search = {"dataset": "digits", "method": "idl", "kernel": "{}", "score": 0.75}
        found = {"parameters": {"n_atoms": 10}, "seconds": 1.0, "details": DETAILS}
        store.add_grid(search | found)
        store.keep_fact("data digits", "(3, 2) 1 2")
