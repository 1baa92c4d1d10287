# SPDX-License-Identifier: MIT
#
# A thin front: the build is CMakeLists.txt, the work of the other targets is in tools/. On a machine
# where something is missing, tools/setup installs it by package name when it may, else names it.

PREFIX ?= /usr/local

.PHONY: all demo test cuda bench bench-models bench-gpu bench-scale check check-long coverage proofs python wheels page docs install uninstall amalgamation format lint clean help

all:           ## build build/garner, build/libgarner.a and build/libgarner.so (Release)
	@tools/build

demo: all      ## show what it does: real gathers from the shell, under a minute
	@tools/demo

test:          ## run the tests, as released and with AddressSanitizer: three to six minutes on two cores
	@tools/test

cuda:          ## build build/libgarner_cuda.so, with a CUDA compiler from PyPI where there is none
	@tools/cuda

bench:         ## measure garner against its peers; tables and plots under build/bench/
	@tools/bench

bench-models:  ## measure whole models inside ONNX Runtime and OpenVINO; tables under build/bench/models/
	@tools/bench-models

bench-gpu:     ## measure gathers on an NVIDIA GPU against torch, CuPy, JAX; tables under build/bench/gpu/
	@tools/bench-gpu

bench-scale:   ## measure tables larger than memory or than a machine; tables under build/bench/scale/
	@tools/bench-scale

check:         ## run the slow tests: compilers, valgrind, coverage, runtimes, other architectures, wheels, fuzzing: hours, or GARNER_CHECK_MINUTES=35
	@tools/check

proofs:        ## prove the arithmetic of indices, views and readers, and that seeded mistakes are caught: minutes
	@tools/setup proofs
	@proofs/run

check-long:    ## run what make check runs samples of, whole: hours
	@GARNER_CHECK_LONG=1 tools/check

coverage:      ## which conditions the tests try: MC/DC of the core, branches of the rest, on both architectures
	@tools/coverage

python:        ## build the Python wheel into build/dist/ and an environment with it, build/venv
	@tools/python

wheels:        ## build the wheels for PyPI into build/wheels: manylinux and musllinux, x86-64 and aarch64
	@tools/wheels

page:          ## build the page, the core as WebAssembly included, into build/site/play
	@tools/page

docs:          ## render the documentation as a site into build/site
	@tools/docs

install: all   ## install under PREFIX (/usr/local); DESTDIR is put in front
	@cmake --install build --prefix "$(abspath $(PREFIX))"

uninstall:     ## remove what the last install wrote; give the same PREFIX and DESTDIR
	@cmake -D MANIFEST=build/install_manifest.txt -D PREFIX="$(abspath $(PREFIX))" -P cmake/uninstall.cmake

amalgamation:  ## write the library as two files: build/garner.c and build/garner.h
	@tools/amalgamate build

format:        ## format the C sources as .clang-format says
	@tools/lint --fix

lint:          ## check format, layers and shell scripts
	@tools/lint

clean:         ## remove build/
	rm -rf build

help:          ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
