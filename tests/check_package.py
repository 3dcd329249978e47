"""Install the built wheel and source distribution in clean environments, and use them.

python tests/check_package.py dist

- the wheel, with the oldest supported dependencies: a small model, saved, loaded, from the shell;
- the source distribution, with the newest ones: unpacked into an empty folder, in which
  docs/start.md is followed to the letter, every command and every line of code;
- the wheel over it, with the newest dependencies.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = """
import importlib.resources, kerndict
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
for kind in (kerndict.DictionaryClassifier, kerndict.KernelDictionaryClassifier):
    model = kind(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
kerndict.save(model, "iris.safetensors")
assert (kerndict.load("iris.safetensors").predict(X) == model.predict(X)).all()
place = importlib.resources.files("kerndict")
assert (place / "py.typed").is_file()
assert "site-packages" in str(place), place
print("kerndict", kerndict.__version__, "works in", place)
"""


def sh(script, folder):
    """Run a script, in a shell of its own; return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{script}\n{done.stdout}{done.stderr}")
    return done.stdout


def use(python, folder):
    """Try what was installed, from an empty folder."""
    (folder / "smoke.py").write_text(SMOKE)
    print(sh(f"{python} -W error::DeprecationWarning:kerndict smoke.py", folder), end="")
    tool = Path(python).with_name("kerndict")
    print(sh(f"{tool} --version && {tool} inspect iris.safetensors > shown.txt", folder), end="")


def steps_of(page):
    """Return a page as one shell script, and what its Python code is to print.

    Blocks of Python become parts of one file, which is run where a command follows.
    """
    script, printed, code = [], [], []
    for language, text in re.findall(r"^```(.*)\n((?:.*\n)*?)```$", page, re.MULTILINE):
        if language == "python":
            code.append(text)
            printed += re.findall(r"^print\(.*\)  # (.*)$", text, re.MULTILINE)
        else:
            if code:
                script.append("python first.py")
            script.append(text)
    return "\n".join(script), printed, "".join(code)


def main(dist):
    """Check everything in a folder of built files."""
    wheel, source = next(dist.glob("*.whl")).resolve(), next(dist.glob("*.tar.gz")).resolve()
    with tempfile.TemporaryDirectory() as place:
        oldest, newest = Path(place) / "oldest", Path(place) / "newest"
        oldest.mkdir()
        newest.mkdir()
        pins = ROOT / "constraints" / "oldest.txt"
        sh(f"{sys.executable} -m venv env && env/bin/pip install -q -c {pins} {wheel}", oldest)
        use(oldest / "env/bin/python", oldest)

        with tarfile.open(source) as archive:
            archive.extractall(newest, filter="data")
        folder = next(newest.iterdir())
        script, printed, code = steps_of((folder / "docs" / "start.md").read_text())
        (folder / "first.py").write_text(code)
        found = sh(script, folder).splitlines()
        missing = [line for line in printed if line not in found]
        if missing:
            sys.exit(f"docs/start.md says {missing}, which is not printed:\n" + "\n".join(found))
        print("docs/start.md works as it is written")
        empty = newest / "empty"
        empty.mkdir()
        sh(f"{folder}/.venv/bin/pip install -q --no-deps --force-reinstall {wheel}", empty)
        use(folder / ".venv/bin/python", empty)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
