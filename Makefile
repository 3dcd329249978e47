# Everything runs in a virtual environment of its own: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
OLDEST := $(VENV)-oldest
BIN := $(VENV)/bin

.PHONY: demo test docs check check-bounds check-oldest check-package format bench clean

demo: $(VENV)/.demo
	$(BIN)/kerndict reproduce

test: $(VENV)/.dev
	$(BIN)/pytest

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Every index of the compiled loops checked; their code is compiled for it, and kept apart.
check-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -q tests/core tests/pursuit tests/test_coding.py

# The oldest supported versions of all dependencies, in an environment of their own.
check-oldest: $(OLDEST)/.test
	$(OLDEST)/bin/pytest -q tests/core tests/pursuit tests/rules tests/tables tests/containers \
	  tests/datasets tests/classifiers tests/persistence/test_persistence_roundtrip.py \
	  tests/persistence/test_persistence_steps.py \
	  tests/cluster tests/test_coding.py tests/test_kernels.py tests/test_threads.py tests/test_oldest.py

# The wheel and the source distribution: built, checked, and installed in clean environments with the
# oldest and the newest dependencies; in the newest, the start page is followed to the letter.
check-package: $(VENV)/.package
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/check_package.py dist

# The site, in docs/_build/html; a warning is an error.  Then its links and pages are checked.
docs: $(VENV)/.docs
	rm -rf docs/generated
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	KERNDICT_SITE=docs/_build/html $(BIN)/pytest -q tests/site

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Speed beside peers, most of an hour on an idle machine; writes docs/speed.md.
bench: $(VENV)/.bench
	cd benchmarks && for part in omp fit_predict scaling first_call speed_report; do \
	  ../$(BIN)/python $$part.py || exit 1; done

clean:
	rm -rf docs/_build docs/gallery docs/generated
	rm -rf $(VENV) $(OLDEST) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kerndict needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[reproduce]"
	touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(VENV)/.package: $(BIN)/python
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'twine>=6'
	touch $@

$(OLDEST)/.test: constraints/oldest.txt pyproject.toml
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint $< --editable '.[test]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo
