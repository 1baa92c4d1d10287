# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2086,SC2154,SC2164 # sourced with set -e by tools/stages/run, which has the other variables
#
# What the stages of both suites share: two builds that serve many of them, one as released and one with AddressSanitizer; the
# wheel, made of the objects of the first; the environment of the Python tests.

release=build/test/release
asan=build/test/asan
export CMAKE_GENERATOR='Unix Makefiles' # which the wheel's build would choose otherwise
# Looking for leaks at the exit of a program takes seconds on aarch64: where it is done, it is asked for.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1

build_in() { # FOLDER CMAKE-OPTION...
    local folder=$1
    shift
    cmake -S . -B "$folder" -DGARNER_WARNINGS_AS_ERRORS=ON "$@"
    cmake --build "$folder" -j "$jobs"
}

# The core builds with nothing but a C compiler; so does its amalgamation.
warnings='-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror'
amalgamated_by() { # COMPILER: as far as warnings need it
    tools/amalgamate "$logs/bare"
    "$1" -std=c11 -fsyntax-only -pthread $warnings "$logs/bare/garner.c"
}

# A test that passes is silent, and what it skipped too: that is taken out of ctest's own log.
unit_tests() { # FOLDER CTEST-OPTION...: runs those built there
    local folder=$1 status=0
    shift
    ctest --test-dir "$folder" -j "$jobs" --no-tests=error --output-on-failure "$@" || status=$?
    grep -h '^SKIP ' "$folder/Testing/Temporary/LastTest.log" | sort -u || true
    return $status
}

# What runs once more for each level of x86-64's kernels: minutes where sanitizers look on, or nothing is optimised.
readonly each_level='^test_random_large_'

python_tests() { # PYTEST-ARGUMENT...
    build/testenv/bin/python -m pytest -n "$jobs" -q -rsfE -p no:cacheprovider "$@"
}

# Kernels that make has compiled already are taken from there.
stage build all
stage_build() { build_in $release -DGARNER_BUILD_TESTS=ON -DGARNER_BUILD_PYTHON=ON -DGARNER_COMPILED_ONCE="$PWD/build/once"; }

stage buildasan all
stage_buildasan() { build_in $asan -DGARNER_BUILD_TESTS=ON -DGARNER_BUILD_PYTHON=ON -DGARNER_SANITIZE=address,undefined; }

# As `make python` leaves it in build/dist and build/venv, but for its objects, which are those of the stage build.
stage wheel one build testenv
stage_wheel() {
    tools/python --config-settings build-dir=$release --config-settings cmake.define.GARNER_BUILD_TESTS=ON
    tools/venv build/testenv --wheel build/dist/*.whl
}
