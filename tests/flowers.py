"""A table, a model trained on it by the command line, and ways to run commands."""

import csv
import json
import subprocess
import sys

from sklearn.datasets import load_iris

from kerndict import cli

COMMAND = [sys.executable, "-m", "kerndict"]
FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
#: Small enough to be fast; every other row of each class.
SMALL = ["--scale", "rows", "--n-atoms", "8", "--n-iter", "1", "--sigma", "0.3"]


def table():
    """Return the rows of iris as cells."""
    iris = load_iris()
    names = iris.target_names[iris.target]
    return [[*map(str, row), name] for row, name in zip(iris.data.tolist(), names, strict=True)]


def write(path, rows, header=(*FEATURES, "species"), delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def records(text):
    return list(csv.DictReader(text.splitlines()))


def call(*arguments):
    """Run a command in this process; return its exit code."""
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def evaluated(capsys, *arguments):
    """Return what the command evaluate says."""
    capsys.readouterr()
    assert call("evaluate", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def spawn(*arguments, **options):
    """Run a command in a process of its own, to its end."""
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run([*COMMAND, *map(str, arguments)], check=False, **options)
