# Every target works on a fresh machine: those that need the environment build it first.

SHELL := /bin/bash
VENV ?= .venv
PYTHON ?= $(shell tests/tools/find_python.sh 3.13 3.12 3.11 | head -n 1)
DEBIAN_PACKAGES := ibsim-utils libumad2sim0 opensm infiniband-diags ibutils openssh-server iproute2 \
  python3-venv gcc libc6-dev chromium poppler-utils postgresql \
  qemu-system-x86 ipxe-qemu ovmf dnsmasq-base chrony cloud-init tinyproxy

# CI points these at the environment of the built wheel and at a copy of the tree without our packages.
TEST_PYTHON ?= $(abspath $(VENV))/bin/python
TEST_ROOT ?= .
ARGS ?=

BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-done
PYTEST = cd $(TEST_ROOT) && $(TEST_PYTHON) -m pytest

DEMO := --plan tests/data/demo/cabling.csv.gz --discovered tests/data/demo/ibnetdiscover-faulty.txt.gz

.PHONY: help setup debian-packages demo demo-data test test-slow test-pythons lint format bench wheel

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: debian-packages $(STAMP) ## .venv with everything, and (as root) the Debian packages the tests use

debian-packages:
	@tests/tools/debian_packages.sh $(DEBIAN_PACKAGES)

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || test -n "$(PYTHON)" || \
	  { echo "no Python 3.11 or newer found; give one: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[xlsx]' --group dev
	@touch $@

demo: setup ## verify-cabling on the 320-switch fabric with injected faults; leaves a picture and a work order
	@mkdir -p out
	@code=0; $(BIN)/fabricctl verify-cabling $(DEMO) --html out/demo-report.html || code=$$?; \
	if [ $$code -ne 1 ] || [ ! -s out/demo-report.html ]; then \
	  echo "demo: expected findings (exit code 1) and a report, got exit code $$code" >&2; exit 1; fi; \
	code=0; $(BIN)/fabricctl work-order make $(DEMO) --output out/demo-work-order.html || code=$$?; \
	if [ $$code -ne 1 ] || [ ! -s out/demo-work-order.html ]; then \
	  echo "demo: expected steps (exit code 1) and a work order, got exit code $$code" >&2; exit 1; fi; \
	echo; echo "Exit code 1, as it should be: this fabric has faults."; \
	echo "The picture: out/demo-report.html   The work order: out/demo-work-order.html"

demo-data: setup ## make the demo's data anew with ibsim, OpenSM and ibnetdiscover
	$(BIN)/python -m tests.sim.demo_data

test: setup ## the quick suite, minutes
	$(PYTEST) -n 2 -m "not slow and not bench" $(ARGS)

test-slow: setup ## tests that start real daemons or take long
	$(PYTEST) -m "slow and not bench" $(ARGS)

test-pythons: ## the quick suite on each of Python 3.11, 3.12, 3.13 that is installed
	tests/tools/test_pythons.sh

bench: setup ## speed, in figures, beside what it is compared with
	$(PYTEST) -s -m bench tests/bench $(ARGS)

lint: setup ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## ruff's formatting and import order
	$(BIN)/ruff check --select I --fix .
	$(BIN)/ruff format .

wheel: setup ## dist/*.whl
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .
