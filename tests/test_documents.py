"""Every code block of the README and the documents is run, from the first to the last of each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from conftest import BOTH, make, toy
from flowers import table, write
from sklearn.utils.fixes import parse_version

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Why a command is not run, by how it begins.
NOT_RUN = {
    "make demo": "half a minute; tests/paper runs the same",
    "make test": "runs this test",
    "pip install": "needs a network",
    "python -m venv": "tests/check_package.py does, and follows the whole page",
    ". .venv": "belongs to the line before",
    "python benchmarks/": "hours, on feature files",
    "kerndict reproduce --data": "hours, on feature files",
    "kerndict train rows/": "needs a cluster; tests/cluster runs the same",
    "kerndict predict model.safetensors rows/": "needs a cluster; tests/cluster runs the same",
}
X, y = toy()
K = X @ X.T


def flowers_as_tables():
    for name in ("flowers.csv", "test.csv", "new.csv"):
        write(Path(name), table())


def model_of_few_digits():
    rows = Path("train.csv").read_text().splitlines()
    few = [rows[0], *(row for row in rows[1:] if int(row.rsplit(",")[-1]) < 6)]
    Path("few.csv").write_text("\n".join(few) + "\n")
    run("kerndict train few.csv --label target --out few.safetensors")


def model_of_flowers():
    flowers_as_tables()
    run("kerndict train flowers.csv --label species --out flowers.safetensors")


#: What the text of a document takes for granted: names, and what is done before a command.
NAMES = {
    "guide.md": {
        "KernelDictionaryClassifier": BOTH[1],
        "K_train": K,
        "y_train": y,
        "K_test": K[::3],
        "k_yy": np.diagonal(K)[::3],
    },
    "saving.md": {"model": make(BOTH[0]).fit(X, y)},
}
BEFORE = {
    "kerndict train flowers.csv": flowers_as_tables,
    "kerndict evaluate few.safetensors": model_of_few_digits,
    "kerndict export flowers.safetensors": model_of_flowers,
}


def blocks(text):
    """Return the language and the content of every code block."""
    return re.findall(r"^```(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE)


def run(command):
    """Run a command of this environment in a shell; return all that it prints."""
    places = [str(Path(sys.executable).parent), os.environ["PATH"]]
    done = subprocess.run(
        ["bash", "-c", f"set -e; {command}"],
        env=os.environ | {"PATH": os.pathsep.join(places)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def without_numbers(line):
    """Return a line with every number as #, and single spaces."""
    return " ".join(re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", line).split())


def run_console(text):
    """Run the commands after ``$``, or all lines if there is none; compare what is shown below.

    Numbers may differ, and lines may be left out as "...".
    """
    lines = text.splitlines()
    prompts = any(line.startswith("$ ") for line in lines)
    printed = iter(())
    for line in filter(None, lines):
        command = line.removeprefix("$ ")
        if prompts and command == line:  # something shown
            want = without_numbers(line)
            assert line == "..." or want in printed, f"not printed (in this order): {line}"
        elif not any(command.startswith(start) for start in NOT_RUN):
            next((do() for start, do in BEFORE.items() if command.startswith(start)), None)
            printed = map(without_numbers, run(command).splitlines())


def run_python_block(text, names, capsys):
    """Run a block; what it prints must be what its comments say."""
    if "sklearn.callback" in text and parse_version(sklearn.__version__) < parse_version("1.9"):
        return  # the text says so
    if "import torch" in text:
        pytest.importorskip("torch", reason="torch is not installed")
    capsys.readouterr()
    exec(compile(text, "code block", "exec"), names)
    said = re.findall(r"^print\(.*\)  # (.*)$", text, re.MULTILINE)
    if said:
        assert capsys.readouterr().out.split("\n") == [*said, ""]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_code_blocks_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = dict(NAMES.get(path.name, {}))
    for language, text in blocks(path.read_text(encoding="utf-8")):
        if language == "python":
            run_python_block(text, names, capsys)
        else:
            assert language == "console", f"a block of {path.name} is neither python nor console"
            run_console(text)


@pytest.mark.parametrize(
    "text",
    ["$ false\n", "$ echo one two\none three\n", "$ printf 'a\\nb\\n'\nb\na\n", "nonsense\n"],
)
def test_a_block_that_is_wrong_is_told(text):
    with pytest.raises(AssertionError):
        run_console(text)


def test_a_print_that_is_wrong_is_told(capsys):
    with pytest.raises(AssertionError):
        run_python_block("print(1)  # 2\n", {}, capsys)
