# make chat   starts the browser page (on the bundled sample, where there is no index yet)
# make test   runs the fast tests; make test-all also the slow ones
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INDEX ?= .confer
PORT ?= 7860
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: chat test test-all check format clean

chat: $(INSTALLED)
	$(BIN)/confer serve --index $(INDEX) --port $(PORT)

test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest

test-all: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -m "slow or not slow"

check: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Confer needs Python 3.11 or newer; try: make PYTHON=python3.12 chat")'
	$(PYTHON) -m venv $(VENV)

# torch first and pinned: the constraint names the release the tests ran with.
$(INSTALLED): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing Confer and what it needs into $(VENV): some 1.5 GB, a few minutes."
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	touch $@

$(INSTALLED_DEV): $(INSTALLED)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@
