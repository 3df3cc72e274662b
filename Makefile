# Every target sets itself up on a bare machine with Python 3.11 or newer, git and make.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The first interpreter that is there and new enough; say `make PYTHON=/path/to/python3` to choose.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)

FAST_TESTS := tests/unit tests/architecture

.DEFAULT_GOAL := help
.PHONY: help setup install lint check check-editors format-editors vsix test-vscode test again simulate torture fuzz-shell bench demo clean

help: ## what there is to say
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

setup: $(READY) ## .venv/ with everything for development, a real nvim among it

$(READY): pyproject.toml constraints.txt
	@sh scripts/setup.sh "$(PYTHON)" $(VENV)
	@touch $@

install: ## agent-ls for you, outside this directory; EXTRAS=mcp,postgres adds servers of tools, a ledger on a server
	@EXTRAS="$(EXTRAS)" sh scripts/install.sh "$(PYTHON)"

lint: $(READY) ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What reads the code goes beside what runs it: two processors are busy, and both fit the minute.
check: $(READY) ## lint (Python, Lua, TypeScript) and the fast tests, under a minute
	@{ $(MAKE) -s lint && sh scripts/check_editors.sh $(BIN)/nvim && sh scripts/check_vscode.sh; } & lint=$$!; \
	$(BIN)/python -m pytest -q $(FAST_TESTS); tests=$$?; wait $$lint && exit $$tests

check-editors: $(READY) ## the Lua of the Neovim plugin, the TypeScript of the VS Code extension
	@sh scripts/check_editors.sh $(BIN)/nvim
	@sh scripts/check_vscode.sh

vsix: ## the VS Code extension: editors/vscode/agent-ls-VERSION.vsix
	@sh scripts/vsix.sh

test-vscode: $(READY) ## the VS Code extension in a real VS Code, installed into ~/.cache/agent-ls at its first run
	$(BIN)/python -m pytest tests/editors/vscode

format-editors: $(READY) ## formats it
	@sh scripts/check_editors.sh $(BIN)/nvim --write

test: lint ## everything, two tests at a time
	$(BIN)/python -m pytest -n 2 tests

again: lint ## the tests that failed last time, once more
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none tests

simulate: $(READY) ## seeded histories of the whole runtime: SEEDS=100000 for many, SEED=7 for one, told line by line
	@$(BIN)/python -m agent_ls.testing.simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),2000))

torture: $(READY) ## kill -9 at random times, ROUNDS=1000 of them; SEED=7 says which, POSTGRES=1 on a server
	@$(BIN)/python -m tests.crash.torture --rounds $(or $(ROUNDS),1000) $(if $(SEED),--seed $(SEED)) $(if $(POSTGRES),--postgres)

fuzz-shell: $(READY) ## the shell policy against what the kernel sees, MINUTES=10 of it; SEED=7 begins elsewhere
	@$(BIN)/python -m tests.security.fuzz_shell --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

bench: $(READY) ## the numbers, beside a floor measured in the same run
	$(BIN)/python -m benchmarks

demo: $(READY) ## the whole story in a terminal, no key needed
	@$(BIN)/agent-ls demo

clean: ## removes .venv/ and every cache
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf editors/vscode/node_modules editors/vscode/dist editors/vscode/build editors/vscode/*.vsix
	find agent_ls tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
