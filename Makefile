.DEFAULT_GOAL := help
.PHONY: help setup check format test kernel bench performance docs incidents
BIN := .venv/bin

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what development needs, and podpath itself in place, into .venv
	scripts/install-test-needs
	$(BIN)/pip install -q --disable-pip-version-check -e .

check: ## Lint, format, types and the laws of import
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: ## Format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: ## Everything that CI runs, on the built wheel
	scripts/test

kernel: ## The tests on the real kernel (root)
	PODPATH_REQUIRE_KERNEL=1 $(BIN)/pytest -m kernel

bench: ## Measure, and print a table with ratios
	$(BIN)/python bench/run.py

performance: ## Measure, and write docs/performance.md
	$(BIN)/python bench/run.py | $(BIN)/python scripts/performance_page.py

docs: ## Write the generated pages of docs/ anew
	$(BIN)/python scripts/generate_docs.py

incidents: ## Record examples/incidents anew on the real kernel (root)
	$(BIN)/python -m examples.record
