# Every target installs what it needs. `make help` lists them.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: help demo test lint format golden docs bench compare lock clean compiled

help: ## List the targets.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  \1\t\2/'

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev -e '.[mcp]'
	touch $@

# Tests and measurements start the command hundreds of times, some where Python may not keep what it compiled.
compiled: $(INSTALLED)
	$(BIN)/python -m compileall -q abs_gate

demo: $(VENV)/.demo ## Play one good and one bad pull request.
	$(BIN)/abs-gate demo

$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/abs-gate || $(BIN)/python -m pip install --quiet -e .
	touch $@

test: compiled ## Run every test.
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

lint: $(INSTALLED) ## Format check, lint, types, layers.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED) ## Format and mend what can be mended.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(INSTALLED) ## Write the golden files of the reports again.
	$(BIN)/python -m tests.golden.regenerate

docs: $(INSTALLED) ## Write the generated parts of the documentation again.
	$(BIN)/python -m tests.meta.readme_tables
	$(BIN)/python -m abs_gate.contracts.rules.document > docs/rules.md

REFERENCE := $(VENV)-reference
bench: compiled ## Measure against peers; prints ratios.
	test -x $(REFERENCE)/bin/abslang || { $(PYTHON) -m venv $(REFERENCE) && $(REFERENCE)/bin/pip install --quiet abslang==0.6.0; }
	$(BIN)/python -m bench --reference $(REFERENCE)/bin/python

PEERS := $(VENV)-peers
NODE_PEERS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/abs-gate-compare
compare: compiled ## Put the same tool changes to abs-gate and its peers.
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	-for peer in jsonsubschema==0.0.8 mcp-contract==0.6.0 mcp-diff==0.1.0 mcpdrift==0.1.0 mcplock==1.0.3; do \
	  $(PEERS)/bin/pip install --quiet --disable-pip-version-check $$peer; done
	-npm install --silent --no-fund --no-audit --no-save --prefix $(NODE_PEERS) json-schema-diff@1.0.0
	$(BIN)/python -m compare --peers $(PEERS)/bin/python --node-modules $(NODE_PEERS)/node_modules

lock: $(INSTALLED) ## Pin the image's dependencies again, with hashes.
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra mcp --universal --python-version 3.11 --generate-hashes --no-header -q -o .lock
	{ sed -n '1,2p' requirements.lock; cat .lock; } > .lock.new && mv .lock.new requirements.lock && rm .lock

clean: ## Remove the virtual environment and caches.
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
