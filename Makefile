# Needs Python 3.11 or later with venv, and make. Everything else goes into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
UV      = $(BIN)/uv pip
# One place says which uv installs: the lock file.
UV_PIN  = $(shell sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements.lock)
ARGS   ?=

.PHONY: install demo season test test-alone test-deaths test-servers check format lock bench bench-large soak simulate fuzz fuzz-guided clean
.DEFAULT_GOAL := install

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed, this is " + sys.version.split()[0] + ". Say: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q $(UV_PIN)
	$(UV) sync -q --python $(BIN)/python requirements.lock
	$(UV) install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

# A made-up evaluation, scored from files to grid and page, in ./rescore-demo
demo: $(STAMP)
	$(BIN)/rescore demo $(ARGS)

# A made-up season by its commands, from roster to corrected board, in ./rescore-demo/season
season: $(STAMP)
	$(BIN)/rescore demo --season $(ARGS)

# Those that start servers and clusters mostly wait: they run beside the others, each with its output at its end.
# `make test ARGS=tests/unit/align` runs what it names, in one process.
test: $(STAMP)
ifeq ($(strip $(ARGS)),)
	@echo "Tests run in three processes, each shown when it has ended: less than 30 minutes on two cores."
	@$(MAKE) --no-print-directory --jobs 3 --keep-going --output-sync=target test-alone test-deaths test-servers
else
	$(BIN)/pytest $(ARGS)
endif

test-alone: $(STAMP)
	$(BIN)/pytest --durations=15 tests/properties tests/conformance tests/unit tests/simulation tests/fuzz

test-deaths: $(STAMP)
	$(BIN)/pytest --durations=15 tests/end_to_end/deaths

test-servers: $(STAMP)
	$(BIN)/pytest --durations=15 tests/end_to_end --ignore tests/end_to_end/deaths

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One resolution for everything, the build backend included. The lock names no package index.
lock: $(STAMP)
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(UV) compile -q --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --extra dev pyproject.toml -o requirements.lock

# One table of ratios against peers and floors, within a quarter of an hour on two quiet cores.
# `make bench ARGS="--only reader"`, ARGS="--write bench/RESULTS.md", ARGS="--kwseval PATH --deva PATH"; ARGS=--help says all.
bench: $(STAMP)
	$(BIN)/python -m bench $(ARGS)

# Up to 1e8 trials: half an hour on two quiet cores, 16 GB of memory and 5 GB of disk.
bench-large: $(STAMP)
	$(BIN)/python -m bench --large --times 3 $(ARGS)

# The laws again, with a thousand examples each, those of whole evaluations with ten thousand; a million documents read
# both ways, ten thousand minima by another way, ten thousand pairs for sclite, thirty kills, 200 rounds of two;
# a thousand cases with each scorer of the organisers whose path is given (RESCORE_KWSEVAL=… RESCORE_STDEVAL=…).
soak: $(STAMP)
	RESCORE_DOCUMENTS=1000000 RESCORE_SEED=1000000 $(BIN)/pytest -s tests/properties/readers/test_fast_reader.py -k pieces
	HYPOTHESIS_PROFILE=soak $(BIN)/pytest tests/properties --timeout=7200 $(ARGS)
	RESCORE_MINIMA=10000 $(BIN)/pytest --timeout=3600 tests/properties/entropy/test_recalibration_minima.py
	RESCORE_SCLITE=10000 $(BIN)/pytest --timeout=3600 tests/conformance/live/test_sclite_live.py
	RESCORE_KILLS=30 $(BIN)/pytest -s tests/end_to_end/deaths/test_rescoring_kills.py
	RESCORE_KILL_ROUNDS=200 $(BIN)/pytest -s tests/end_to_end/deaths/test_kill_rounds.py
	RESCORE_SYSTEMS=50 $(BIN)/pytest --timeout=1800 tests/end_to_end/test_rescoring_withdrawal.py
	$(BIN)/python -m bench.meta --systems 4 --rows 2000 --replicates 120
	RESCORE_LIVE_CASES=1000 $(BIN)/pytest --timeout=36000 tests/conformance/live/test_live_*.py
	RESCORE_PAGES=all $(BIN)/pytest --timeout=1800 tests/end_to_end/pages/test_page_of_families.py
	$(BIN)/python -m tests.fuzz --cases 0:1000000
	for form in ecf rttm kwlist kwslist ctm stm med_detection lre_out resources; do \
	  $(BIN)/python -m tests.fuzz.guided $$form -max_total_time=300 || exit 1; done
	RESCORE_SOAK=1 $(BIN)/pytest --timeout=3600 tests/unit/formats/test_budgets.py
	RESCORE_STORM_S=60 RESCORE_DAMAGED_PIECES=3 $(BIN)/pytest --timeout=3600 tests/end_to_end/s3/test_s3_faults.py

# Histories of a store whose requests fail in every way: make simulate N=100000, or ARGS="--seed 17" to replay one and
# make it smaller, ARGS="--broken NAME" to see that a broken product is found out.
N ?= 10000
simulate: $(STAMP)
	$(BIN)/python -m tests.simulation $(or $(ARGS),--seeds 0:$(N))

# Mutated inputs through every reader, scoring, validate, settings and archives: make fuzz N=1000000, or
# ARGS="--seed 3 --case 17" to replay one. `make fuzz-guided FORMAT=ecf SECONDS=600` follows what is covered (atheris).
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz $(or $(ARGS),--cases 0:$(N))

fuzz-guided: $(STAMP)
	$(BIN)/python -m tests.fuzz.guided $(or $(FORMAT),kwslist) -max_total_time=$(or $(SECONDS),600)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis rescore-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
