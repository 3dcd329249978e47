"""Wrong words on the command line, and a help that does not wait for the numerical libraries."""

import sys

import pytest
from conftest import run_python
from flowers import call

import kerndict
from kerndict import DictionaryClassifier
from kerndict.cli.common import SUMMARIES


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["trian", "d.csv"], "invalid choice: 'trian': did you mean train?"),
        (["train", "d.csv", "--ot", "m"], "unrecognized arguments: --ot: did you mean --out?"),
        (["train", "d.csv", "--out", "m", "--n-atom", "3"], "--n-atom: did you mean --n-atoms?"),
        (["train", "d.csv", "--out", "m", "--labl=x", "--n-jbs=3"], "--label and --n-jobs?"),
        (["predict", "m", "d.csv", "--rejct", "1"], "did you mean --reject?"),
        (["evaluate", "m", "d.csv", "--xyz"], "unrecognized arguments: --xyz\n"),
        (["train", "d.csv", "--out", "m", "-q"], "unrecognized arguments: -q\n"),
    ],
)
def test_a_wrong_word_suggests_the_right_one(arguments, words, capsys):
    assert call(*arguments) == 2
    errors = capsys.readouterr().err
    assert words in errors
    known = arguments[0] in SUMMARIES
    assert errors.startswith(f"usage: kerndict {arguments[0]} " if known else "usage: kerndict [")


def test_help_does_not_load_the_numerical_libraries():
    code = (
        "import sys\n"
        "from kerndict.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    print('loaded', 'numpy' in sys.modules)"
    )
    said = run_python(code)
    assert "loaded False" in said
    for name, summary in SUMMARIES.items():
        assert name in said
        assert summary.split()[0] in said


def test_the_folder_that_is_missing_is_named(flowers, tmp_path, capsys):
    nowhere = tmp_path / "nowhere" / "m"
    words = f"--out {nowhere} cannot be written: there is no folder {nowhere.parent}. Make it."
    for command in (["train", flowers.train, "--label", "4"], ["predict", flowers.model, "d.csv"]):
        assert call(*command, "--out", nowhere) == 1
        assert words in capsys.readouterr().err
    assert call("predict", flowers.model, flowers.test, "--out", tmp_path) == 1
    assert "it is a folder. Give a file in it" in capsys.readouterr().err
    model = DictionaryClassifier(1, 1, decision="residual").fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(FileNotFoundError, match="there is no folder") as found:
        kerndict.save(model, nowhere)
    assert str(nowhere) in str(found.value)
    assert "partial" not in str(found.value)


def test_a_command_loads_what_it_needs_only(capsys):
    sys.modules.pop("kerndict.cli.demo", None)
    assert call("inspect", "--help") == 0
    assert "kerndict.cli.demo" not in sys.modules
