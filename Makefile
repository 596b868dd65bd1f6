# make demo   set up, grade the sample class, print the table
# make test   set up, run every test          make test-fast   those that take under five minutes together
# make lab    set up, open JupyterLab on the lectures
# make lint   what the tests also check, alone       make lock   pin new versions

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   ?= demo-run

.PHONY: demo test test-fast lab lint lock bench clean

demo: $(READY)
	$(BIN)/autograder grade a1_numpy_backprop tests/sample_class --out $(DEMO) --workers 2 || test $$? -eq 1

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-fast: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

lab: $(READY)
	mkdir -p $(VENV)/etc/ipython && cp course_lib/virtual_cuda/ipython_kernel_config.py $(VENV)/etc/ipython/
	COURSE_LIB_VIRTUAL_CUDA=1 $(BIN)/jupyter lab notebooks/lectures $(if $(filter 0,$(shell id -u)),--allow-root)

lint: $(READY)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

lock:
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --upgrade -o requirements.lock

bench: $(READY)
	$(BIN)/python benchmarks/throughput.py

clean:
	rm -rf $(VENV) $(DEMO)

# A half-finished installation leaves no mark, so the next call takes it up again.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements.lock pins into $(VENV) (a few minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
