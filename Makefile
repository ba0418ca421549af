# Everything starts here: `make demo` and `make test` need only git, make and Python 3.11 or newer.

VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
UV     := uv==0.13.9
TYPESCRIPT := typescript@7.0.2
AGENTS := $(VENV)/agents
PIP    := $(PY) -m pip --disable-pip-version-check --quiet
SRC    := $(wildcard src tests bench examples)

# Tests wait for disks and other processes half of the time, so two cores serve four workers.
WORKERS := 4

# The newest interpreter that really runs and is new enough (a shim that is found may still not run).
FIND_PYTHON = for name in $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3; do \
    if "$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
    then command -v "$$name"; break; fi; done

# Containers often forbid bytecode. Then each of the many interpreters that the tests start would compile the package.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help quick test test-types test-agents lint check generate format coverage stress fuzz docs recording bench bench-contention bench-rivals bench-merge bench-semantics bench-hooks bench-exec bench-starting bench-tracing bench-claims bench-coordination bench-plan-check bench-dashboard bench-network bench-sessions bench-session-workspaces publish demo dashboard dashboard-pictures build lock clean
.SILENT:
.DELETE_ON_ERROR:

help: ## List what make can do
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP) ## Show what Commonhold does, in a throw-away repository
	$(VENV)/bin/commonhold demo

dashboard: $(STAMP) ## Let two scripted agents collide beside a server, and print the link of its dashboard
	$(VENV)/bin/commonhold demo --dashboard $(ARGS)

quick: $(STAMP) ## Run the tests that are not marked slow, in two to three minutes
	$(PY) -m pytest -n 2 -m "not slow" --hypothesis-profile=quick $(ARGS)

test: $(STAMP) ## Run all tests
	$(PY) -m tests.services
	echo "Running the tests"
	$(PY) -m pytest -n $(WORKERS) $(ARGS)

test-types: $(STAMP) ## Test the types level against TypeScript's own server, which npm brings
	npm install --silent --no-audit --no-fund --prefix $(VENV)/typescript $(TYPESCRIPT)
	$(PY) -m pytest $(ARGS) tests/typescript/against_npm.py

test-agents: $(STAMP) ## Run real coding agents, whose models play scripts, against Commonhold; npm and pip bring them
	[ -n "$$COMMONHOLD_AGENT_CLIS" ] || $(PY) -m tests.agents.fetch $(AGENTS)
	$(PY) -m pytest $(ARGS) tests/agents/against_scripted_model.py tests/agents/in_everyday_situations.py

lint: $(STAMP) ## Check style, types and the direction of imports
	echo "Checking style"
	$(PY) -m ruff check --quiet $(SRC)
	$(PY) -m ruff format --check --quiet $(SRC) || { echo "Some files are not formatted: run make format" >&2; exit 1; }
	echo "Checking types"
	$(PY) -m mypy --no-error-summary $(SRC)
	echo "Checking who imports whom"
	$(VENV)/bin/lint-imports --no-logo

check: lint test ## Lint, then test: what CI runs

generate: $(STAMP) ## Write the files and the tables of the docs that are derived from the code
	$(PY) -m tests.architecture.derived
	$(PY) -m tests.docs.blocks

format: $(STAMP) ## Format the code and mend what can be mended without thought
	$(PY) -m ruff check --fix-only --quiet $(SRC)
	$(PY) -m ruff format $(SRC)

coverage: $(STAMP) ## Run all tests and measure the branches they take
	$(PY) -m tests.services
	$(PY) -m pytest -n $(WORKERS) --cov --cov-report= $(ARGS)
	echo "All packages: at least 90 %"
	$(PY) -m coverage report --fail-under=90
	echo "Pure packages: 100 %"
	$(PY) -m coverage report --fail-under=100 \
	  --include='src/commonhold/kernel/*,src/commonhold/code/*'

stress: $(STAMP) ## Eight processes, 200 commits each, killed at random; other losses of power; then everything that `make test` samples
	COMMONHOLD_STRESS_COMMITS=200 $(PY) -m pytest -q $(ARGS) tests/e2e/test_stress.py
	COMMONHOLD_CRASH_SEED=$$(date +%s) $(PY) -m pytest -q --hypothesis-profile=stress --timeout=3600 $(ARGS) tests/crashes
	$(PY) -m pytest -q --timeout=3600 $(ARGS) tests/e2e/workers_under_chaos.py
	$(PY) -m pytest -n $(WORKERS) -q --hypothesis-profile=stress --timeout=3600 $(ARGS) \
	  tests/model tests/unit tests/contract tests/sim tests/history tests/habits tests/spin tests/bench \
	  tests/e2e/test_crash.py tests/e2e/test_lost_state.py tests/e2e/test_git_commits.py tests/e2e/test_servers_on_one_store.py

fuzz: $(STAMP) ## Send thousands of requests made up from the OpenAPI document to a server
	$(PY) -m pytest -q --hypothesis-profile=stress --timeout=3600 $(ARGS) tests/e2e/test_http_fuzz.py

docs: $(STAMP) ## Build the docs site into build/site
	$(PY) -m zensical build --clean --strict

recording: $(STAMP) ## Draw docs/collision.svg, the picture of the README, from a run of two scripted agents
	$(PY) -m bench.recording $(ARGS)

dashboard-pictures: $(STAMP) ## Draw the pictures of docs/dashboard.md, in a headless Chromium
	$(PY) -m bench.dashboard_pictures $(ARGS)

bench: $(STAMP) ## Measure speed
	$(PY) -m bench.run $(ARGS)

bench-contention: $(STAMP) ## Measure many agents at once: ARGS="--parts scaling size", all parts take an hour or so
	$(PY) -m bench.contention $(ARGS)

bench-rivals: $(STAMP) ## Measure against two other tools, each installed beside it
	$(PY) -m bench.rivals $(ARGS)

bench-merge: $(STAMP) ## Measure merging: ARGS="--cooperbench DIR --repos DIR..." on real work, ARGS="--parts generated --work DIR" on edits made up
	$(PY) -m bench.merging $(ARGS)

bench-semantics: $(STAMP) ## Measure admission across files on real work: ARGS="--repos DIR... --work DIR"
	$(PY) -m bench.semantics $(ARGS)

bench-hooks: $(STAMP) ## Measure what a hook costs beside deciding
	$(PY) -m bench.hooks $(ARGS)

bench-exec: $(STAMP) ## Measure what an agent's shell command costs beside itself, in a large repository
	$(PY) -m bench.exec_overhead $(ARGS)

bench-starting: $(STAMP) ## Measure how long commands that look, and a killed daemon, take to start
	$(PY) -m bench.starting $(ARGS)

bench-tracing: $(STAMP) ## Count the files, functions and transactions of a commit, a lease and an edit
	$(PY) -m bench.tracing $(ARGS)

bench-claims: $(STAMP) ## Race clones for tasks through git: ARGS="--races 200"
	$(PY) -m bench.claims $(ARGS)

bench-coordination: $(STAMP) ## Let scripted agents carry out a plan of 60 tasks: ARGS="--median 2"
	$(PY) -m bench.coordination $(ARGS)

bench-plan-check: $(STAMP) ## Measure predicted overlaps on plans made from histories: ARGS="--repos DIR... --work DIR"
	$(PY) -m bench.plan_check $(ARGS)

bench-dashboard: $(STAMP) ## Measure the dashboard in a headless Chromium, with 20 agents and 10,000 events
	$(PY) -m bench.dashboard $(ARGS)

bench-network: $(STAMP) ## Measure HTTP beside the socket, and 200 watchers beside 50 agents
	$(PY) -m bench.network $(ARGS)

bench-sessions: $(STAMP) ## Measure managed sessions: start-up, log lines, the throughput of their queue
	$(PY) -m bench.sessions $(ARGS)

bench-session-workspaces: $(STAMP) ## Measure workspaces of sessions in large repositories: ARGS="--sizes 50000 --rounds 2"
	$(PY) -m bench.session_workspaces $(ARGS)

publish: $(STAMP) ## Write docs/benchmarks.md from what the benches have measured last
	$(PY) -m bench.publish --take $(ARGS)

build: $(STAMP) ## Build the wheel and the source archive into dist/
	rm -rf dist
	$(PY) -m build --quiet --no-isolation --outdir dist .
	ls dist

lock: $(STAMP) ## Resolve the dependencies anew and write the three lock files (UPGRADE=1 takes newer versions)
	$(PIP) install $(UV)
	$(call COMPILE) --output-file requirements.lock pyproject.toml
	$(call COMPILE) --output-file requirements-dev.lock --group dev pyproject.toml
	$(call COMPILE) --output-file deploy/requirements.lock --extra postgres --extra redis --extra server pyproject.toml
	echo "Wrote requirements.lock, requirements-dev.lock and deploy/requirements.lock"

# No configuration, no address and no path of this machine may reach the locks.
COMPILE = env -u UV_FIND_LINKS -u UV_INDEX -u UV_EXTRA_INDEX_URL $(PY) -m uv pip compile --quiet \
    --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
    --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade)

clean: ## Remove the environment and all that was built or cached
	rm -rf $(VENV) .venv-rivals build dist .cache htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): requirements-dev.lock pyproject.toml
	python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then \
	  echo "Commonhold needs Python 3.11 or newer with venv (Debian: python3-venv). Name one with: make PYTHON=/path/to/python" >&2; \
	  exit 1; \
	fi; \
	[ -x $(PY) ] || { echo "Making $(VENV) with $$python"; "$$python" -m venv $(VENV); }
	echo "Installing what the lock names (a minute or so, once)"
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@
