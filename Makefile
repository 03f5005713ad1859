# Every target does all the set-up it needs. Stamps below .venv keep a second call from repeating it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
CARGO ?= cargo
# pip, called here or by maturin, prints errors only.
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Each of some hundred processes that tests start would compile the packages that it imports: six seconds for a figure.
unexport PYTHONDONTWRITEBYTECODE

RUST_SOURCES := $(shell find crates schemes workloads -type f 2>/dev/null) Cargo.toml Cargo.lock
PYTHON_PACKAGING := pyproject.toml packaging/locked/run.txt

.PHONY: build fast demo test rust-tests soak lint audit lock format manual keys ledger docs gallery pictures held-out fuzz sdist wheel wheel-aarch64 check-wheel check-wheel-aarch64 clean

build: $(STAMPS)/build

$(STAMPS)/venv: packaging/locked/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "priolane needs Python 3.11 or later")'
	@echo 'Making $(VENV), which holds Python packages.'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --require-hashes -r packaging/locked/build.txt
	mkdir -p $(STAMPS) && touch $@

# Either module takes the other's place.
$(STAMPS)/build: $(STAMPS)/venv $(PYTHON_PACKAGING) $(RUST_SOURCES)
	@echo 'Compiling the simulator for speed: about 5 minutes on two cores the first time, cargo says how far it is.'
	$(BIN)/python -m pip install --require-hashes -r packaging/locked/run.txt
	$(BIN)/maturin develop --release
	rm -f $(STAMPS)/ci
	touch $@

# The module that tests load, made of what the Rust tests are made of.
$(STAMPS)/ci: $(STAMPS)/venv $(PYTHON_PACKAGING) $(RUST_SOURCES)
	@echo 'Compiling the simulator for tests: about 3 minutes on two cores, unless the Rust tests are compiled.'
	$(BIN)/python -m pip install --require-hashes -r packaging/locked/run.txt
	$(BIN)/maturin develop --profile ci
	rm -f $(STAMPS)/build
	touch $@

# The module that is there, for what either serves: the fast one stays, and nothing is compiled again.
MODULE := $(STAMPS)/$(if $(wildcard $(STAMPS)/build),build,ci)

# Python compiles a package when it is first imported.
$(STAMPS)/dev: $(STAMPS)/venv packaging/locked/dev.txt
	@echo 'Installing the packages that linting and testing take.'
	$(BIN)/python -m pip install --no-compile --require-hashes -r packaging/locked/dev.txt
	touch $@

# Two builds, the second with what was learned from runs of the first: docs/performance.md says what that gives.
fast: $(STAMPS)/venv
	@ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata >/dev/null 2>&1 || { \
	  echo 'make fast needs the llvm-profdata of this compiler: rustup component add llvm-tools' >&2; exit 2; }
	$(BIN)/maturin develop --pgo --quiet
	rm -f $(STAMPS)/ci
	touch $(STAMPS)/build

demo: build
	$(BIN)/priolane reproduce nos2/fig1 -o runs/demo

# Minutes: everything, with few rounds of the loops over random input. pip installs packages while cargo compiles.
test: $(STAMPS)/venv
	@echo 'Compiling the Rust tests: about 4 minutes on two cores the first time.'
	@$(MAKE) --no-print-directory -j2 rust-tests $(STAMPS)/dev
	@$(MAKE) --no-print-directory $(STAMPS)/ci
	@echo 'Running the Rust tests.'
	$(CARGO) test --profile ci --workspace
	@echo 'Running the Python tests.'
	$(BIN)/python -m pytest -n auto --dist loadgroup

rust-tests:
	$(CARGO) test --profile ci --workspace --no-run

# Minutes to hours: SOAK times the large number of rounds, tests that take long, instructions of the release build, planted
# faults, which want the Python module.
SOAK ?= 1
soak: build $(STAMPS)/dev
	PRIOLANE_SOAK=$(SOAK) $(CARGO) test --profile ci --workspace -- --include-ignored
	PRIOLANE_SOAK=$(SOAK) $(BIN)/python -m pytest -m soak
	$(BIN)/python tools/instructions.py
	$(BIN)/python tools/planted_faults.py

lint: $(STAMPS)/dev
	$(CARGO) fmt --all --check
	$(CARGO) clippy --profile ci --workspace --all-targets -- -D warnings
	$(CARGO) check --profile ci -p priolane-core --features safe
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports --no-cache pyproject.toml
	$(BIN)/python tools/check_sizes.py
	$(BIN)/python tools/check_vocabulary.py
	$(BIN)/python tools/check_prose.py
	$(BIN)/python tools/check_doc_comments.py
	$(BIN)/typos
	$(BIN)/python tools/check_commits.py

format: $(STAMPS)/dev
	$(CARGO) fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Licences, sources, duplicates, and known vulnerabilities of all dependencies. The database of vulnerabilities is fetched from
# GitHub; `make audit AUDIT="licenses bans sources"` needs no network but the package registry.
AUDIT ?= advisories licenses bans sources
DENY := target/tools/bin/cargo-deny

$(DENY):
	$(CARGO) install --quiet --locked --root target/tools cargo-deny@0.20.2

audit: $(DENY)
	$(DENY) --workspace --all-features check --hide-inclusion-graph $(AUDIT)

# The versions and hashes of all Python packages in packaging/locked; LOCK=--upgrade takes the newest versions.
lock: $(STAMPS)/venv
	$(BIN)/python -m pip install 'uv>=0.9'
	$(BIN)/python tools/lock.py $(LOCK)

# The man page and the shell completions, from the parser of the command.
manual: $(STAMPS)/ci $(STAMPS)/dev
	$(BIN)/python tools/manual.py

# The types of an experiment's keys, from the declarations.
keys: $(STAMPS)/ci $(STAMPS)/dev
	$(BIN)/python tools/typed_keys.py

# The counts of verdicts in README.md, from the records in study/.
ledger: $(STAMPS)/ci
	$(BIN)/python tools/study/ledger.py

# The site, in target/site; open target/site/index.html. Its ledger and its reference are made of the records and of the compiled
# module. A link that leads nowhere fails the build.
docs: $(MODULE) $(STAMPS)/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo 'The site is in target/site/index.html'

# Small pictures of figures, from results in RESULTS/PAPER-FIG; docs/gallery.md says how to make these.
RESULTS ?= runs/recorded
gallery: $(MODULE) $(STAMPS)/dev
	$(BIN)/python tools/study/gallery.py $(RESULTS)

# The pictures of the landing page in docs/images/site, from runs of about three minutes.
pictures: $(MODULE) $(STAMPS)/dev
	$(BIN)/python tools/site_pictures.py

# study/held_out.json: verdicts with each half of the seeds, from the same results.
held-out: $(STAMPS)/ci $(STAMPS)/dev
	$(BIN)/python tools/study/held_out.py $(RESULTS)

# libFuzzer wants unstable compiler flags, which RUSTC_BOOTSTRAP lets a stable compiler take.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := experiment scheme sizes topology flow_list import wire datagrams
FUZZ := target/tools/bin/cargo-fuzz

$(FUZZ):
	$(CARGO) install --quiet --locked --root target/tools cargo-fuzz

fuzz: $(FUZZ)
	mkdir -p $(FUZZ_TARGETS:%=fuzz/corpus/%)
	cp experiments/*/*.toml crates/priolane-lab/tests/fixture/*.toml fuzz/corpus/experiment
	find study -name figure.toml | while read -r file; do cp "$$file" "fuzz/corpus/experiment/$$(echo "$$file" | tr / -)"; done
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

# Wheels. zig links them for any Linux with glibc 2.17; they have a target directory of their own, since cargo compiles again
# for another linker. Paths of this machine are left out, and the time is the commit's: the same commit gives the same bytes.
WHEELS ?= dist
# Of the folder that holds the sources and the target directory.
wheel_env = CARGO_TARGET_DIR=$(CURDIR)/$(2) SOURCE_DATE_EPOCH=$$(git -C $(CURDIR) log -1 --format=%ct) \
  RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo --remap-path-prefix=$(1)=/priolane" \
  PATH="$(CURDIR)/$(BIN):$$PATH"
WHEEL_OPTIONS = --release --strip --zig --compatibility manylinux_2_17

$(STAMPS)/zig: $(STAMPS)/venv packaging/locked/wheel.txt
	$(BIN)/python -m pip install --require-hashes -r packaging/locked/wheel.txt
	touch $@

sdist: $(STAMPS)/venv
	$(BIN)/maturin sdist --out $(WHEELS)

wheel: $(STAMPS)/zig
	@echo 'Compiling the wheel for x86_64: about 5 minutes on two cores the first time.'
	$(call wheel_env,$(CURDIR),target/wheel) maturin build $(WHEEL_OPTIONS) --target x86_64-unknown-linux-gnu --out $(WHEELS)

# RUSTC names a compiler that has the standard library for aarch64 (tools/aarch64_rust.sh gets one from Debian); without it,
# rustup fetches that library.
wheel-aarch64: $(STAMPS)/zig
	$(if $(RUSTC),,rustup target add aarch64-unknown-linux-gnu)
	@echo 'Compiling the wheel for aarch64: about 5 minutes on two cores the first time.'
	$(call wheel_env,$(CURDIR),target/wheel) maturin build $(WHEEL_OPTIONS) --target aarch64-unknown-linux-gnu --out $(WHEELS)

# Compiles the sdist too, outside of the tree and in a target directory of its own: cargo takes crates at the same place in
# another workspace for those it has compiled. Both wheels are compared; then the tree's is installed and run.
check-wheel: wheel sdist $(STAMPS)/dev
	unpacked=$$(mktemp -d) && trap 'rm -rf "$$unpacked"' EXIT && \
	  tar -xf $(WHEELS)/priolane-*.tar.gz -C "$$unpacked" --strip-components=1 && cd "$$unpacked" && \
	  $(call wheel_env,$$unpacked,target/wheel_from_sdist) \
	  maturin build $(WHEEL_OPTIONS) --target x86_64-unknown-linux-gnu --out $(abspath $(WHEELS))/from_sdist
	PRIOLANE_WHEEL=$(abspath $(WHEELS)) $(BIN)/python -m pytest tests/test_wheel.py

check-wheel-aarch64: $(STAMPS)/ci
	tools/check_aarch64.sh target/aarch64 $(WHEELS) $(BIN)/python

clean:
	rm -rf $(VENV) $(WHEELS) target fuzz/target fuzz/corpus fuzz/artifacts python/priolane/_core*.so
