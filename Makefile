.DEFAULT_GOAL := help
.PHONY: help setup check format test coverage kernel bench performance docs site newcomer incidents mutate swaps
BIN := .venv/bin
WORKERS := 2

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what development needs, and podpath itself in place, into .venv
	scripts/install-test-needs
	$(BIN)/pip install -q --disable-pip-version-check -e .

check: ## Lint, format, types and the laws of import; seconds when warm
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: ## Format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: ## Everything that CI runs, on the built wheels; PKG=evidence: one package's tests in place, without the kernel
ifdef PKG
	$(BIN)/pytest -q -n $(WORKERS) -m "not kernel" tests/$(PKG) $(wildcard tests/test_$(PKG).py)
else
	scripts/test
endif

coverage: ## Print which branches the tests take; PKG=diagnosis: those of one package by its own tests
	$(BIN)/coverage erase
	$(BIN)/coverage run --source $(if $(filter capture lab protect,$(PKG)),podpath_$(PKG),podpath$(if $(PKG),.$(PKG))) -m pytest -q -m "not kernel" $(if $(PKG),tests/$(PKG) $(wildcard tests/test_$(PKG).py))
	$(BIN)/coverage report

kernel: ## The tests on the real kernel (root)
	PODPATH_REQUIRE_KERNEL=1 $(BIN)/pytest -m kernel

bench: ## Measure, and print a table with ratios
	$(BIN)/python bench/run.py

performance: ## Measure, and write docs/quality/performance.md
	$(BIN)/python bench/run.py | $(BIN)/python scripts/performance_page.py

mutate: ## Plant errors into PKG (COUNT=60 SEED=11), and list those that its tests do not notice
	$(BIN)/pip install -q --disable-pip-version-check --group mutation
	nice $(BIN)/python scripts/mutate.py $(PKG) --count $(or $(COUNT),60) --seed $(or $(SEED),11)

swaps: ## Swap decisions of the datapath (MODELS=140), and list those that CASES=2000 on the real kernel do not notice (root)
	nice $(BIN)/python scripts/wrong_models.py --models $(or $(MODELS),140) --cases $(or $(CASES),2000) --page

docs: ## Write the generated pages of docs/ anew
	$(BIN)/python scripts/generate_docs.py

site: ## Build the documentation as a site, with warnings as errors: build/site/html/index.html
	$(BIN)/python scripts/build_site.py

newcomer: ## Install in fresh roots of Debian, in each way, and do the main job (root)
	scripts/test-newcomer

incidents: ## Record examples/incidents anew on the real kernel (root)
	$(BIN)/python -m examples.record
