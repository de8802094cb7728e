# Everything from a clone with nothing but Python 3.11 or newer, pip and make:
#
#   make serve     run the emulator on http://127.0.0.1:8038/v1 (options: make serve OPTIONS="--clock auto")
#   make test      the tests (some of them: make test TESTS=tests/kernel)
#   make check     style, types, layers, and with node the syntax of the scripts
#   make format    put the style right where that can be done by machine
#   make contract  after a change of the contract: renew its examples, and what repeats its words
#   make verify    the long verification (with node and java there is more of it)
#   make coverage  the tests, and which branches they leave out
#   make mutants   change the code one place at a time, and list what no test notices (hours; some: OPTIONS="kernel")
#   make bench     the measurements, beside a bare ASGI function, Starlette and FastAPI
#   make claims    prove what the project promises, and write docs/reference/claims.md (an hour; some: OPTIONS="speed")
#   make screenshot  the pictures of the page in docs/ (needs chromium)
#   make wheel     build dist/*.whl
#   make dist      build dist/*.whl and dist/*.tar.gz
#   make sbom      list what is installed at run time, as CycloneDX in dist/sbom.cdx.json
#   make release VERSION=0.3.0  build a release twice, compare, try it outside the clone, and say what is left to do
#   make changelog VERSION=0.3.0  join the fragments of changes/ into CHANGELOG.md
#   make lock      renew the locks in requirements/ (needs uv)
#   make clean     remove all that was made

PYTHON ?= python3
OPTIONS ?=
TESTS ?=
# Says no to an interpreter that is too old before pip does so less clearly.
OLD := import sys; sys.version_info >= (3, 11) or sys.exit("The emulator needs Python 3.11 or newer: make PYTHON=python3.11")

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

COMPILED := emulator/image_workflow_emulator/_shipped/compiled/.made

# Tests start hundreds of processes. Where Python may not keep bytecode, each of them compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: serve test check contract format verify coverage mutants bench claims screenshot wheel dist sbom release changelog lock clean
.DELETE_ON_ERROR:

serve: $(VENV)/runtime.made $(COMPILED)
	@exec $(BIN)/image-workflow-emulator serve $(OPTIONS)

test: $(VENV)/dev.made $(COMPILED)
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

check: $(VENV)/dev.made
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/check_words.py
	$(BIN)/python .ci/check_layout.py
ifneq ($(shell command -v node),)
	node --experimental-vm-modules --no-warnings tests/page/read_scripts.mjs $(SCRIPTS)
else
	@echo "Scripts are not read: there is no node."
endif
ifneq ($(shell command -v zizmor),)
	zizmor --quiet --offline .github setup
else
	@echo "Workflows are not audited: there is no zizmor."
endif
ifneq ($(shell command -v actionlint),)
	actionlint
else
	@echo "Workflows are not linted: there is no actionlint."
endif
SCRIPTS := $(wildcard emulator/image_workflow_emulator/control/page/*.js examples/typescript/*.ts examples/course/*.ts)

contract: $(VENV)/dev.made
	PYTHONPATH=. $(BIN)/python .ci/derived_documents.py
	PYTHONPATH=.ci $(BIN)/python -m tests.support.contract_examples

format: $(VENV)/dev.made
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

verify: $(VENV)/verify.made $(COMPILED)
	$(BIN)/python -m pytest -m verify -n auto --dist worksteal $(TESTS)

coverage: $(VENV)/dev.made $(COMPILED)
	$(BIN)/python -m pytest -n auto --cov --cov-report=term $(if $(TESTS),,--cov-fail-under=$(COVERED_PERCENT)) $(TESTS)
# All but a few branches, which depend on how far a connection or process came before another acted.
COVERED_PERCENT := 99

mutants: $(VENV)/verify.made $(COMPILED)
	$(BIN)/python -m tests.mutants.mutants $(OPTIONS)

bench: $(VENV)/verify.made $(COMPILED)
	$(BIN)/python tests/benchmarks/run.py $(OPTIONS)

claims: $(VENV)/verify.made $(COMPILED)
	$(BIN)/python tests/claims/claims.py $(OPTIONS)

screenshot: $(VENV)/verify.made $(COMPILED)
	PYTHONPATH=. $(BIN)/python tests/page/screenshot.py docs

wheel: $(VENV)/dev.made
	$(BIN)/python -m hatchling build -t wheel

dist: $(VENV)/dev.made
	$(BIN)/python -m hatchling build -t wheel -t sdist

sbom: $(VENV)/verify.made
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements/runtime.lock --output-reproducible --output-file dist/sbom.cdx.json
	$(BIN)/python .ci/sbom.py dist/sbom.cdx.json

release: $(VENV)/dev.made
	@test -n "$(VERSION)" || { echo "Name the version: make release VERSION=0.3.0"; exit 2; }
	.ci/release $(VERSION)

changelog:
	@test -n "$(VERSION)" || { echo "Name the version: make changelog VERSION=0.3.0"; exit 2; }
	$(PYTHON) changes/join.py $(VERSION) $$(date -u +%F)

lock:
	uv pip compile $(LOCK_FLAGS) pyproject.toml -o requirements/runtime.lock
	uv pip compile $(LOCK_FLAGS) --group dev -c requirements/runtime.lock pyproject.toml -o requirements/dev.lock
	uv pip compile $(LOCK_FLAGS) --group build -c requirements/dev.lock -o requirements/build.lock
	uv pip compile $(LOCK_FLAGS) --group verify -c requirements/dev.lock -o requirements/verify.lock
# With extras: where another package asks for one, pip takes the newest release, not the locked one.
# With hashes, but neither the addresses of a package index nor the paths of a machine.
LOCK_FLAGS := --quiet --universal --no-strip-extras --generate-hashes --no-annotate --python-version 3.11 --custom-compile-command "make lock"

clean:
	rm -rf $(VENV) dist emulator/image_workflow_emulator/_shipped .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage* htmlcov

# The compiled form of the contract: without it the emulator starts more slowly, that is all.
$(COMPILED): contract/openapi.yaml contract/control-plane.yaml emulator/image_workflow_emulator/documents/shipped.py | $(VENV)/runtime.made
	@$(BIN)/python -m image_workflow_emulator.documents >/dev/null
	@touch $@

# The environment is made by an outer pip, since a bare Debian has no ensurepip to put one inside. The clone itself is
# installed in it as it lies there, for the command and the pytest plugin. requirements/dev.lock holds the packages of
# the two others in the same versions, so either environment may be made first.
$(VENV)/runtime.made: requirements/runtime.lock requirements/build.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --require-hashes -r requirements/runtime.lock -r requirements/build.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.made: requirements/dev.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(INSTALL) --require-hashes -r requirements/dev.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/runtime.made

$(VENV)/verify.made: requirements/verify.lock $(VENV)/dev.made
	$(INSTALL) --require-hashes -r requirements/verify.lock
	@touch $@

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c '$(OLD)'
	$(PYTHON) -m venv --without-pip $(VENV)

INSTALL = $(PYTHON) -m pip --disable-pip-version-check --python $(VENV) install --quiet --only-binary=:all:
