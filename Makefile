# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Entry point for developers. Every target first makes what it needs, and may be run repeatedly. `make help` lists the
# targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

JOBS ?= $(shell nproc)
RELEASE := build/release
# $(call run_tests,BUILD,LABELS). Every test computes with one thread (cmake/roentgen_room.cmake). So the number of
# parallel tests is the number of cores plus one, because groups of processes wait for each other a fifth of the time.
run_tests = ctest --output-on-failure --no-tests=error -j$$(($(JOBS) + 1)) --test-dir $(1) -L '^($(2))$$' | \
  tools/skipped_cases.py $(1)
# $(call build_targets,TARGETS)
build_targets = cmake --preset release && cmake --build $(RELEASE) -j$(JOBS) --target $(1)
QUICK_LABELS := unit|parallel|e2e|real
# product: every test case with every compute unit and instruction set; `make test` uses one combination per case.
# mpich: tests with the label parallel, run with MPICH if Open MPI is installed, too.
LONG_LABELS := slow|gpu|product|mpich
# ThreadSanitizer checks memory that our own threads share. It cannot see into libgomp and oneDNN, so parallel loops run
# with one thread (OMP_THREAD_LIMIT, because tests request more by number), and some reports about oneDNN are
# suppressed. Memory hooks of UCX, which an MPI library may load, would crash in threads that have ended.
TSAN_ROOMS := data runtime dist train python_core

.PHONY: help setup schedulers build install wheel tarball deb packages quickstart test test-all sanitize-address sanitize-thread fuzz lint tidy format docs docs-api \
  bench clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

setup:  ## Install what is missing (apt; prints what to install elsewhere)
	tools/setup.sh

build: setup  ## Build everything, tests too, into build/release
	cmake --preset release
	cmake --build $(RELEASE) -j$(JOBS)

install: build  ## Install program, library, headers, recipes and man pages below PREFIX (/usr/local)
	cmake --install $(RELEASE) --prefix $(or $(PREFIX),/usr/local)

wheel: setup  ## Write the Python package as a wheel into build/wheels
	$(call build_targets,roentgen roentgen_python)
	tools/wheel.py $(RELEASE) build/wheels

tarball: setup  ## Write program and libraries as a tarball that runs anywhere, and the wheel, into build/packages
	$(call build_targets,roentgen roentgen_python)
	tools/tarball.py $(RELEASE) "$$(tools/wheel.py $(RELEASE) build/packages)" build/packages

deb: setup  ## Write Debian packages into build/packages
	$(call build_targets,roentgen roentgen_shared roentgen_static)
	rm -f build/packages/roentgen_*.deb build/packages/libroentgen*.deb
	cpack --config $(RELEASE)/CPackConfig.cmake -B build/packages
	rm -r build/packages/_CPack_Packages

packages: tarball deb  ## Everything of a release into build/packages: wheel, tarball, Debian packages, SBOM, checksums
	tools/bundle.py $(RELEASE) >build/packages/roentgen-sbom.cdx.json
	cd build/packages && sha256sum *.whl *.tar.gz *.deb *.json >SHA256SUMS

quickstart: setup  ## Synthesise X-rays, train, evaluate: files to AUROC table in minutes
	cmake --preset release
	cmake --build $(RELEASE) -j$(JOBS) --target roentgen
	tools/quickstart.sh

test: build  ## Run the tests labelled unit, parallel, e2e and real
	$(call run_tests,$(RELEASE),$(QUICK_LABELS))

test-all: schedulers test tidy sanitize-address sanitize-thread  ## Also slow ones, all units and instruction sets, sanitizers, tidy
	$(call run_tests,$(RELEASE),$(LONG_LABELS))

schedulers:
	tools/setup.sh --schedulers

sanitize-address: setup  ## Unit and end-to-end tests under AddressSanitizer and UndefinedBehaviourSanitizer
	cmake --preset asan
	cmake --build build/asan -j$(JOBS)
	export UBSAN_OPTIONS=print_stacktrace=1; $(call run_tests,build/asan,unit|e2e|product)

sanitize-thread: setup  ## Unit tests of the rooms with threads of their own under ThreadSanitizer
	cmake --preset tsan
	cmake --build build/tsan -j$(JOBS) --target $(addsuffix _test,$(TSAN_ROOMS))
	for room in $(TSAN_ROOMS); do \
	  OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 UCX_MEM_MMAP_HOOK_MODE=none TSAN_OPTIONS=suppressions=$(CURDIR)/tools/tsan_suppressions.txt \
	  ROENTGEN_SOURCE_DIR=$(CURDIR) build/tsan/$${room}_test --gtest_brief=1; done

fuzz:  ## Every parser under libFuzzer, FUZZ_SECONDS (60) each; FUZZ_TARGETS="png csv" for some (needs clang)
	tools/setup.sh --fuzz
	cmake --preset fuzz
	cmake --build build/fuzz -j$(JOBS) --target roentgen_fuzz
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) tools/fuzz.py build/fuzz $(FUZZ_TARGETS)

lint: setup  ## Format, borders, prose, include cost, clang-tidy on what changed
	cmake --preset release >/dev/null
	cmake --build $(RELEASE) --target roentgen_generated_headers >/dev/null
	tools/format.sh --check
	python3 -m unittest discover -q -s tools -p '*_test.py'
	python3 -m unittest discover -q -s tools/studies -p '*_test.py'
	tools/check_borders.py
	tools/check_prose.py
	tools/check_include_cost.py $(RELEASE)
	tools/tidy.py $(RELEASE) --changed

tidy: setup  ## clang-tidy on the whole tree
	cmake --preset release >/dev/null
	cmake --build $(RELEASE) --target roentgen_generated_headers >/dev/null
	tools/tidy.py $(RELEASE)

format: setup  ## Format all sources in place
	tools/format.sh

docs:  ## Write the documentation as a site into build/docs-site, links checked (skipped loudly without pip)
	tools/docs_site.sh || test $$? -eq 77

docs-api:  ## Write the reference of the library's headers into build/docs-api; every name has its comment
	tools/setup.sh --docs
	cmake --preset release >/dev/null
	cmake --build $(RELEASE) --target docs_api

bench: setup  ## Time one training step of both models (alone; beside PyTorch: tools/studies/peers.py)
	cmake --preset release
	cmake --build $(RELEASE) -j$(JOBS) --target roentgen
	for model in resnet50 densenet121; do \
	  $(RELEASE)/roentgen bench step --model $$model --batch 16 --image 224 --warmup 3 --steps 10 \
	    --json build/bench-step-$$model.json; done

clean:  ## Remove everything that was built or run
	rm -rf build
