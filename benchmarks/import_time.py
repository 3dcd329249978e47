"""How much `import kerndict` adds to `import sklearn.base, numba`, in one run.

python benchmarks/import_time.py
"""

import json
import subprocess
import sys
import time
from statistics import median

STATEMENTS = {"peers": "import sklearn.base, numba", "kerndict": "import kerndict"}
REPEATS = 7


def seconds(statement):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - begin


def main():
    for statement in STATEMENTS.values():  # warm the file cache
        seconds(statement)
    times = {name: [] for name in STATEMENTS}
    for _ in range(REPEATS):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    result = {name: round(median(values), 3) for name, values in times.items()}
    result["added"] = round(result["kerndict"] - result["peers"], 3)
    print(json.dumps(result))
    return result["added"] > 0.3


if __name__ == "__main__":
    sys.exit(main())
