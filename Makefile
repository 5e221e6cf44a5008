# `make demo` and `make test` need Python 3.11 or later and nothing else.

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
INSTALL := -m pip install --quiet --disable-pip-version-check
# Stamps: an install runs again only when one of the files it depends on changed.
INSTALLED := $(VENV)/.installed
DEV_INSTALLED := $(VENV)/.dev-installed
LOWEST_INSTALLED := $(LOWEST)/.installed
# loadgroup: tests that share a Spark or a PostgreSQL run in the same worker.
PYTEST := -m pytest -n 2 --dist loadgroup

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo chromium test lint slow faults fuzz lowest matrix docs site bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-6s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml constraints.txt src/cutpoints/_version.py
	@echo "Installing cutpoints with plots and reports into $(VENV), a minute or two ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) -c constraints.txt -e '.[all]'
	@touch $@

# pip 25.1 is the first that installs dependency groups.
$(DEV_INSTALLED): $(INSTALLED)
	@echo "Adding the tests' packages to $(VENV) (linters, data engines, Spark; 2 GB in all), about three minutes ..."
	@$(BIN)/python $(INSTALL) 'pip>=25.1'
	@$(BIN)/python $(INSTALL) -c constraints.txt --group dev
	@touch $@

$(LOWEST_INSTALLED): pyproject.toml constraints-lowest.txt src/cutpoints/_version.py
	@echo "Installing cutpoints with the lowest supported versions into $(LOWEST), about three minutes ..."
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python $(INSTALL) 'pip>=25.1'
	@$(LOWEST)/bin/python $(INSTALL) -c constraints-lowest.txt -e '.[all]' --group test
	@touch $@

demo: $(INSTALLED) ## find the best thresholds of a real classifier, on data that needs no download
	@$(BIN)/cutpoints demo

# Debian's Chromium opens the page of `cutpoints report`. Where it cannot be installed, its tests are skipped.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium) >/dev/null 2>&1; } \
	  || echo "No Chromium, and it could not be installed: THE PAGE OF cutpoints report IS NOT TESTED." >&2

test: lint chromium ## run all checks: lint, types, tests, examples in docstrings
	$(BIN)/python $(PYTEST)

lint: $(DEV_INSTALLED) ## run ruff (lint and format), mypy and basedpyright; changes nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/basedpyright

slow: $(DEV_INSTALLED) ## run the tests that `make test` leaves out
	$(BIN)/python $(PYTEST) -m slow

RUNS ?= 20
ROWS ?= 1000000000
faults: $(DEV_INSTALLED) ## hundreds of kills, full disks, data that change, a billion rows: make faults RUNS=20 ROWS=1000000000
	FAULT_RUNS=$(RUNS) FAULT_ROWS=$(ROWS) $(BIN)/python -m pytest -q -p no:randomly -m slow tests/faults

SECONDS ?= 60
fuzz: $(DEV_INSTALLED) ## random problems over every route against the oracle, random bytes: make fuzz SECONDS=600
	$(BIN)/python -m tools.fuzz $(SECONDS)

# Old packages raise deprecation warnings, and an older click lays out the generated page a little differently.
lowest: $(LOWEST_INSTALLED) ## run the tests with the lowest supported versions, in .venv-lowest
	$(LOWEST)/bin/python $(PYTEST) -o filterwarnings=default --deselect tests/test_docs.py::test_generated_pages_are_up_to_date

CELLS ?=
matrix: ## run the fast tests on every Python that is installed, with newest and lowest versions: make matrix CELLS=3.13-newest
	$(PYTHON) -m tools.matrix $(CELLS)

docs: $(INSTALLED) ## write the generated pages: the catalogue and the command line
	$(BIN)/python -m tools.render_docs

site: $(DEV_INSTALLED) ## run the examples of the documentation and build it into site/; any warning is an error
	$(BIN)/python -m tools.site

bench: $(DEV_INSTALLED) ## measure speed and memory against other packages, see benchmarks/
	$(BIN)/python $(INSTALL) -c constraints.txt --group bench
	$(BIN)/python -m benchmarks

clean: ## remove the environments and everything that tools left behind
	rm -rf $(VENV) $(LOWEST) .venv-matrix site .cache build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
