# Every target builds the environment it needs, on a machine that has only Python, pip,
# git, make and g++: CMake and Ninja come as wheels.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
WARP_RELEASES ?= 1.18 1.17
GPU_PYTHON ?=
GPU_TESTS := -m pytest tests/gpu --verification docs/gpu-verification.md

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

PIP_INSTALL := -m pip install --quiet --constraint constraints.txt
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
NATIVE := pyproject.toml CMakeLists.txt constraints.txt $(shell find native -type f 2>/dev/null)
SOURCES := $(shell find src -type f -name '*.py*' -not -path '*/__pycache__/*' 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint bench corpus test-corpus test-warp test-gpu fuzz docs clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv-demo/.installed ## Install as a user would, run examples/demo.py, make a dataset
	.venv-demo/bin/python examples/demo.py
	.venv-demo/bin/ptxkit synth warp --count 40 --out build/demo/kernels
	.venv-demo/bin/ptxkit dataset stats build/demo/kernels

test: $(VENV)/.installed ## Run the whole suite, doctests included
	@for name in chromium chromium-browser google-chrome chrome; do \
	  command -v $$name >/dev/null && exit 0; done; \
	  echo 'make test: no Chromium here, the page is not tested in a browser: apt-get install -y chromium'
	$(VENV)/bin/python -m pytest -n $(JOBS) --ignore=tests/gpu --ignore=tests/corpus

lint: $(VENV)/.installed ## Check style, format and types
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/python -m mypy

bench: .venv-bench/.installed ## Measure against the peers
	.venv-bench/bin/python -m benchmarks

corpus: .venv-corpus/.installed ## Collect real PTX to test on
	.venv-corpus/bin/python -m corpus build

test-corpus: $(VENV)/.installed ## Run the tests over that corpus
	$(VENV)/bin/python -m pytest -n $(JOBS) tests/corpus

# With GPU_PYTHON=python3 no environment is made: that Python has the packages (CONTRIBUTING.md
# says which), and the extension is built into src/ptxkit.
test-warp: $(VENV)/.installed ## Run the tests of the Warp source on older releases of Warp
	for release in $(WARP_RELEASES); do \
	  $(VENV)/bin/python -m pip install --quiet --no-deps --upgrade \
	    --target build/warp-$$release "warp-lang==$$release.*" && \
	  PYTHONPATH=build/warp-$$release $(VENV)/bin/python -m pytest tests/synth/test_warp_source.py \
	    || exit 1; \
	done

test-gpu: ## Run the tests that need an NVIDIA GPU, and write docs/gpu-verification.md
	@nvidia-smi -L 2>/dev/null | grep -q '^GPU' || \
	  { echo 'make test-gpu: no NVIDIA GPU here (nvidia-smi lists none)' >&2; exit 1; }
ifeq ($(GPU_PYTHON),)
	$(MAKE) --no-print-directory $(VENV)/.installed
	$(VENV)/bin/python $(GPU_TESTS)
else
	cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release \
	  -DPython_EXECUTABLE="$$(command -v $(GPU_PYTHON))"
	cmake --build build/gpu
	cp build/gpu/_native*.so src/ptxkit/
	PYTHONPATH="$(CURDIR)/src:$(CURDIR)" $(GPU_PYTHON) $(GPU_TESTS)
endif

fuzz: $(VENV)/.installed ## Fuzz the native core under sanitizers
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" fuzz/run.sh

docs: .venv-docs/.installed ## Build the documentation into build/docs
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict --site-dir build/docs

clean: ## Remove environments, builds and caches
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment. Some distributions ship venv without ensurepip; the pip that is there
# can then install one.
%/.created:
	$(PYTHON) -m venv $* 2>/dev/null || \
	  { $(PYTHON) -m venv --clear --without-pip $* && \
	    $(PYTHON) -m pip --python $*/bin/python install --quiet pip; }
	$*/bin/python -m pip install --quiet --upgrade pip
	@touch $@
.PRECIOUS: %/.created

# For development: Python files are used in place, and C++ is rebuilt incrementally,
# which needs the build tools to stay where they are.
$(VENV)/.installed: $(NATIVE) | $(VENV)/.created
	@echo 'building the extension and fetching what the tests need: this takes some minutes'
	$(VENV)/bin/python $(PIP_INSTALL) $(BUILD_TOOLS)
	$(VENV)/bin/python $(PIP_INSTALL) --no-build-isolation \
	  --config-settings=build-dir=build/$(VENV:.%=%) --editable '.[dev,cuda,synth,ray,neural,evaluate]'
	@touch $@

.venv-demo/.installed: $(NATIVE) $(SOURCES) | .venv-demo/.created
	@echo 'building the extension and fetching the compilers: this takes some minutes'
	.venv-demo/bin/python $(PIP_INSTALL) '.[cuda,synth]'
	@touch $@

.venv-bench/.installed: $(NATIVE) $(SOURCES) | .venv-bench/.created
	.venv-bench/bin/python $(PIP_INSTALL) '.[cuda,synth]' pyptx mm-ptx
	@touch $@

.venv-corpus/.installed: corpus/requirements.txt | .venv-corpus/.created
	.venv-corpus/bin/python -m pip install --quiet --requirement corpus/requirements.txt
	@touch $@

# The reference is read out of the source, so the package itself is not needed here.
.venv-docs/.installed: pyproject.toml constraints.txt | .venv-docs/.created
	.venv-docs/bin/python $(PIP_INSTALL) mkdocs mkdocs-material 'mkdocstrings[python]'
	@touch $@
