"""Small tables as people have them, with every trouble that they have."""

import numpy as np
import pandas as pd

LEVELS = ["bronze", "gold", "silver"]


def customers(n=90, seed=0):
    """Return a table whose label, level, shows in all its columns but the useless ones."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    month = rng.integers(1, 13, n)
    frame = pd.DataFrame(
        {
            "customer_id": 1000 + 7 * rng.permutation(n),
            "code": [f"C-{i:06d}" for i in rng.choice(10**6, n, replace=False)],
            "city": np.array(["Paris", "Lyon", "Nice", "Brest"])[code + rng.integers(0, 2, n)],
            "age": np.round(30 + 12 * code + rng.normal(0, 6, n), 1),
            "joined": [f"{2000 + 4 * c}-{m:02d}-15" for c, m in zip(code, month, strict=True)],
            "income": np.round(np.exp(code + 2 * rng.standard_normal(n)), 2),
            "region": "EU",
            "member": np.where(code + rng.normal(0, 1, n) > 1, "yes", "no"),
            "note": [
                f"the {('slow', 'good', 'very best')[c]} service of day {i}"
                for i, c in enumerate(code)
            ],
            "zip": [f"0{i}" for i in rng.integers(1000, 1030, n)],
            "level": np.array(LEVELS)[code],
        }
    )
    frame.loc[0, "income"] = 1e7
    frame.loc[rng.choice(n, 9, replace=False), "age"] = np.nan
    frame.loc[rng.choice(n, 9, replace=False), "member"] = ""
    return frame
