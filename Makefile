# Every target does all the set-up it needs. Stamps below .venv keep a second call from repeating it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
CARGO ?= cargo

RUST_SOURCES := $(shell find crates schemes workloads -type f 2>/dev/null) Cargo.toml Cargo.lock
PYTHON_PACKAGING := pyproject.toml

.PHONY: build demo test lint format clean

build: $(STAMPS)/build

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "priolane needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: $(STAMPS)/venv $(PYTHON_PACKAGING) $(RUST_SOURCES)
	$(BIN)/maturin develop --release --quiet
	touch $@

$(STAMPS)/dev: $(STAMPS)/venv $(PYTHON_PACKAGING)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python tools/dev_requirements.py)
	touch $@

demo: build
	$(BIN)/priolane reproduce nos2/fig6 --quick -o runs/demo

test: build $(STAMPS)/dev
	$(CARGO) test --workspace --exclude priolane-py
	$(BIN)/python -m pytest

lint: $(STAMPS)/dev
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_sizes.py

format: $(STAMPS)/dev
	$(CARGO) fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) target python/priolane/_core*.so
