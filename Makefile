# Everything runs in a virtual environment of its own: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
OLDEST := $(VENV)-oldest
BIN := $(VENV)/bin

.PHONY: demo test check check-bounds check-oldest format bench clean

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
	  tests/test_coding.py tests/test_kernels.py tests/test_threads.py tests/test_oldest.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Speed beside peers, most of an hour on an idle machine; writes docs/speed.md.
bench: $(VENV)/.bench
	cd benchmarks && for part in omp fit_predict scaling first_call speed_report; do \
	  ../$(BIN)/python $$part.py || exit 1; done

clean:
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

$(OLDEST)/.test: constraints/oldest.txt pyproject.toml
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint $< --editable '.[test]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo
