# make demo   set up, grade the sample class, print the table
# make check  what to run at every save, in 2 minutes: format, lint, types, import contracts, tests of pure Python
# make test   all that and a sample of every exhaustive family, in about 10 minutes
# make test-all   every family, in three quarters of an hour; SHARD=2/4 runs the second of four parts
# make lab    set up, open JupyterLab on the lectures
# make site   set up, execute every lecture, write the course's site to build/site/
# make lint   format, lint, types and import contracts alone       make lock   pin new versions

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   ?= demo-run

SHARD  ?= 1/1
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup --durations 20

.PHONY: demo check test test-all lab site lint ruff types imports lock bench clean

demo: $(READY)
	$(BIN)/python tests/sample_class.py $(DEMO)-class
	$(BIN)/autograder grade a1_numpy_backprop $(DEMO)-class --out $(DEMO) --workers 2 || test $$? -eq 1

check: lint
	$(PYTEST) --size check

test: lint
	$(PYTEST) --size test

test-all: lint
	$(PYTEST) --size all --shard $(SHARD)

lab: $(READY)
	mkdir -p $(VENV)/etc/ipython && cp course_lib/virtual_cuda/ipython_kernel_config.py $(VENV)/etc/ipython/
	COURSE_LIB_VIRTUAL_CUDA=1 $(BIN)/jupyter lab notebooks/lectures $(if $(filter 0,$(shell id -u)),--allow-root)

# A warning is a broken link, or a notebook that failed.
site: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -c docs/site -b html . build/site
	@echo "build/site/index.html"

# Beside each other: mypy without its cache takes a core for a minute.
lint: $(READY)
	@$(MAKE) --no-print-directory -j 2 types imports ruff

ruff: $(READY)
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

lock:
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --upgrade -o requirements.lock

bench: $(READY)
	$(BIN)/python benchmarks/throughput.py

clean:
	rm -rf $(VENV) build $(DEMO) $(DEMO)-class

# A half-finished installation leaves no mark, so the next call takes it up again.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements.lock pins into $(VENV) (a few minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
