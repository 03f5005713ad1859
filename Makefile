# Every target does all the set-up it needs. Stamps below .venv keep a second call from repeating it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
CARGO ?= cargo

RUST_SOURCES := $(shell find crates schemes workloads -type f 2>/dev/null) docs/assumptions.md Cargo.toml Cargo.lock
PYTHON_PACKAGING := pyproject.toml

.PHONY: build fast demo test soak lint format fuzz clean

build: $(STAMPS)/build

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "priolane needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	mkdir -p $(STAMPS) && touch $@

# Either module takes the other's place.
$(STAMPS)/build: $(STAMPS)/venv $(PYTHON_PACKAGING) $(RUST_SOURCES)
	$(BIN)/maturin develop --release --quiet
	rm -f $(STAMPS)/ci
	touch $@

# The module that tests load, made of what the Rust tests are made of.
$(STAMPS)/ci: $(STAMPS)/venv $(PYTHON_PACKAGING) $(RUST_SOURCES)
	$(BIN)/maturin develop --profile ci --quiet
	rm -f $(STAMPS)/build
	touch $@

$(STAMPS)/dev: $(STAMPS)/venv $(PYTHON_PACKAGING)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python tools/dev_requirements.py)
	touch $@

# Two builds, the second with what was learned from runs of the first: docs/performance.md says what that gives.
fast: $(STAMPS)/venv
	@ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata >/dev/null 2>&1 || { \
	  echo 'make fast needs the llvm-profdata of this compiler: rustup component add llvm-tools' >&2; exit 2; }
	$(BIN)/maturin develop --pgo --quiet
	rm -f $(STAMPS)/ci
	touch $(STAMPS)/build

demo: build
	$(BIN)/priolane reproduce nos2/fig6 --quick -o runs/demo

# Minutes: everything, with few rounds of the loops over random input.
test: $(STAMPS)/ci $(STAMPS)/dev
	$(CARGO) test --profile ci --workspace
	$(BIN)/python -m pytest -n auto --dist loadgroup

# Minutes to hours: SOAK times the large number of rounds, tests that take long, instructions of the release build, planted
# faults, which want the Python module.
SOAK ?= 1
soak: build $(STAMPS)/dev
	PRIOLANE_SOAK=$(SOAK) $(CARGO) test --profile ci --workspace -- --include-ignored
	PRIOLANE_SOAK=$(SOAK) $(BIN)/python -m pytest tests/test_memory.py
	$(BIN)/python tools/instructions.py
	$(BIN)/python tools/planted_faults.py

lint: $(STAMPS)/dev
	$(CARGO) fmt --all --check
	$(CARGO) clippy --profile ci --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_sizes.py

format: $(STAMPS)/ci $(STAMPS)/dev
	$(BIN)/python tools/manual.py
	$(CARGO) fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# libFuzzer wants unstable compiler flags, which RUSTC_BOOTSTRAP lets a stable compiler take.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := experiment scheme sizes topology flow_list import wire datagrams
FUZZ := target/tools/bin/cargo-fuzz

$(FUZZ):
	$(CARGO) install --quiet --locked --root target/tools cargo-fuzz

fuzz: $(FUZZ)
	mkdir -p $(FUZZ_TARGETS:%=fuzz/corpus/%)
	cp experiments/*/*.toml experiments/papers/*/*.toml crates/priolane-lab/tests/fixture/*.toml fuzz/corpus/experiment
	cp schemes/*.toml fuzz/corpus/scheme
	cp workloads/*.csv fuzz/corpus/sizes
	cp fuzz/seeds/topology/* fuzz/corpus/topology
	cp fuzz/seeds/flow_list/* experiments/validation/*.csv fuzz/corpus/flow_list
	cp crates/priolane-workload/tests/import_samples/* fuzz/corpus/import
	cp fuzz/seeds/wire/* fuzz/corpus/wire
	cp fuzz/seeds/datagrams/* fuzz/corpus/datagrams
	for target in $(FUZZ_TARGETS); do \
	  RUSTC_BOOTSTRAP=1 $(FUZZ) run $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=30 || exit 1; \
	done

clean:
	rm -rf $(VENV) target fuzz/target fuzz/corpus fuzz/artifacts python/priolane/_core*.so
