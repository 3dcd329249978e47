# Everything runs in a virtual environment of its own: Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check check-bounds format bench clean

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

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Speed beside peers, most of an hour on an idle machine; writes docs/speed.md.
bench: $(VENV)/.bench
	cd benchmarks && for part in omp fit_predict scaling first_call speed_report; do \
	  ../$(BIN)/python $$part.py || exit 1; done

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kerndict needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[reproduce]"
	touch $@

$(VENV)/.bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo
