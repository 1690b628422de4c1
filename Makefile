# Every command of the project. `make` alone lists them.
# All paths are relative, so the checkout may lie in a folder whose name has spaces.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
# Two makes in one checkout take turns at installing, where the system has flock.
LOCK := $(if $(shell command -v flock),flock .venv.lock)
PIP_INSTALL := $(RUN) -m pip install -qq --disable-pip-version-check --constraint constraints.txt
COVERED := tasks/*,data_registry/*,prompts/*
# Workers of the tests, one a core: each has a Prefect server of its own. A file's tests stay together, since they share
# what its fixtures made; the files begin in the order that tests/conftest.py gives them. `make test TESTERS=0` uses none.
TESTERS ?= auto
SPREAD := -n $(TESTERS) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench serve stop clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/core.stamp ## build a small release from embedded logs
	@$(VENV)/bin/exceptiondrive demo

test: $(VENV)/dev.stamp ## run every test and check the coverage
	@$(RUN) -m coverage erase
	@$(RUN) -m pytest $(SPREAD) --cov --cov-report=
	@$(RUN) -m coverage report --include='$(COVERED)' --fail-under=95 > .coverage-report.txt || { cat .coverage-report.txt; exit 1; }

lint: $(VENV)/dev.stamp ## check style, format and the direction of imports
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(VENV)/bin/lint-imports --no-logo

types: $(VENV)/dev.stamp ## check types, strictly
	@$(RUN) -m pyright --pythonpath $(RUN)
	@$(RUN) -m pyright --pythonpath $(RUN) --project pyright.tests.json

bench: $(VENV)/dev.stamp ## run every benchmark
	@set -e; found=; for script in benchmarks/*.py; do \
		test -f "$$script" || continue; found=1; echo "== $$script"; $(RUN) "$$script"; \
	done; test -n "$$found" || { echo "no benchmark in benchmarks/"; exit 1; }

serve: $(VENV)/core.stamp ## start the Prefect server and its workers
	@$(RUN) -m flows.server serve

stop: $(VENV)/core.stamp ## stop what `make serve` started
	@$(RUN) -m flows.server stop

clean: ## delete the environment and caches; releases and stores stay
	@rm -rf $(VENV) .venv.lock build dist ./*.egg-info htmlcov .coverage* .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/core.stamp: pyproject.toml constraints.txt
	@echo "installing into $(VENV) (a minute or two)"
	@test -n "$(PYTHON)" || { echo "no python3 found: install Python 3.11, or run make PYTHON=/path/to/python3.11"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "$(PYTHON) is Python %d.%d: Python 3.11 is needed; run make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	@$(LOCK) sh -c 'test -x $(RUN) || "$(PYTHON)" -m venv $(VENV)'
	@$(LOCK) $(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	@echo "installing what the tests need"
	@$(LOCK) $(PIP_INSTALL) --editable '.[dev]'
	@touch $@
