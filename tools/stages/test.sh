# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2086,SC2154,SC2164 # sourced with set -e by tools/stages/run after builds.sh
#
# The stages of `make test`: the unit tests of every part, the shell, the Python package and the documents, as released and
# once with AddressSanitizer. A few minutes on two cores; what takes longer is in check.sh.

wanted=(lint bare unit shell python others docs unitasan shellasan pythonasan)

# Two stages fill the gaps of each other: tests that wait, and compilers that wait for the longest source.
together=2

# What compiling takes comes first. The rest is installed while it compiles.
cases=$logs/cases.txt
prepare() {
    rm -f "$cases"
    tools/setup compile || exit 1
}

stage packages one
stage_packages() { tools/setup test lint && echo 'everything is installed'; }

stage testenv one packages
stage_testenv() { tools/testenv && echo 'build/testenv'; }

stage lint one packages
stage_lint() { tools/lint; }

stage bare one
stage_bare() { amalgamated_by gcc && echo 'the amalgamation compiles without a warning'; }

# The number of cases for each operator version, index type and element type is shown in the end.
stage unit all build
stage_unit() {
    unit_tests $release -E "$each_level"
    sed -n '/^cases for each/,/^[^A-Zc]/p' $release/Testing/Temporary/LastTest.log | grep -v '^\[' >"$cases"
}
summary() { [ ! -s "$cases" ] || cat "$cases"; }

stage shell all build testenv
stage_shell() { GARNER_BUILD=$release python_tests -m 'not long' tests/cli; }

stage python all wheel build
stage_python() { GARNER_BUILD=$release python_tests tests/python; }

# Those that need no runtime: onnx's own cases, the tools, the benchmark.
stage others all build testenv
stage_others() {
    GARNER_BUILD=$release python_tests tests/oracle/test_onnx_*.py tests/tools bench/tests/test_bench.py
}

# What the documents show, and the documents as a site.
stage docs one wheel
stage_docs() {
    tools/docs --without-page
    GARNER_BUILD=$release python_tests tests/docs tests/site
}

# Leaks are looked for in the programs that make and free the most. test_random_large takes minutes here: make check runs it.
stage unitasan all buildasan
stage_unitasan() {
    local leaky='^test_(plan|errors|npz|file|model)$'
    GARNER_TEST_SCALE=0.05 unit_tests $asan -E "$leaky|^test_random_large"
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=1 unit_tests $asan -R "$leaky"
}

stage shellasan all buildasan testenv
stage_shellasan() { GARNER_BUILD=$asan ASAN_OPTIONS=$ASAN_OPTIONS:exitcode=99 python_tests -m 'not slow' tests/cli; }

# But for each call failing in turn and what is slow here, which make check does.
stage pythonasan all buildasan testenv
stage_pythonasan() { tests/python/run --asan "$PWD/$asan" -m 'not slow' --ignore tests/python/test_failing.py; }
