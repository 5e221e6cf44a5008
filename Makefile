# `make demo` and `make test` need Python 3.11 or later and nothing else: each makes .venv first.

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo chromium test lint slow docs bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The stamp is younger than what it depends on, so the install runs only when one of them changed.
$(INSTALLED): pyproject.toml constraints.txt src/cutpoints/_version.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,all]'
	@touch $@

demo: $(INSTALLED) ## the main job on data that ships with the package
	$(BIN)/cutpoints demo

# Debian's Chromium looks at the page of `cutpoints report`. Where it is missing and cannot be installed,
# the tests of the page are skipped, and say so.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium) >/dev/null 2>&1; } \
	  || echo "No Chromium, and it could not be installed: THE PAGE OF cutpoints report IS NOT TESTED." >&2

# loadgroup: all tests that need the one Spark, or the one PostgreSQL, run in the same worker.
test: lint chromium ## all checks: lint, types, tests, examples in docstrings
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(INSTALLED) ## ruff (lint and format) and mypy, nothing is changed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

slow: $(INSTALLED) ## the tests that the normal run leaves out
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow

docs: $(INSTALLED) ## write the generated pages: the catalogue and the command line
	$(BIN)/python -m tools.render_docs

bench: $(INSTALLED) ## speed and memory against the rivals, see benchmarks/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

clean: ## remove .venv and all that tools left behind
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
