# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2086,SC2154,SC2164 # sourced with set -e by tools/stages/run after builds.sh
#
# The stages of `make check`: everything that takes longer than `make test` may. By itself it runs all of it, which takes
# hours on two cores. With
#     GARNER_CHECK_MINUTES=35 make check
# it takes about so long there: of the longest stages a sample runs, another one at each commit, and a line says which.
#     GARNER_SAMPLE=2     that sample, instead of the one whose turn it is

# Minutes on two cores of the stages that always run whole, and of those of which a sample may run.
readonly whole=35 sampled=100

parts=1
if [ -n "${GARNER_CHECK_MINUTES-}" ]; then
    left=$((GARNER_CHECK_MINUTES > whole + 5 ? GARNER_CHECK_MINUTES - whole : 5))
    parts=$(((sampled + left - 1) / left))
fi
number=${GARNER_SAMPLE:-$(git rev-list --count HEAD 2>/dev/null || echo $(($(date +%s) / 86400)))}
turn=$((number % parts))

sample() { # WHAT ITEM...: leaves in chosen the items whose turn it is, and says how many that are
    local what=$1 number=0 item
    shift
    chosen=()
    for item in "$@"; do
        [ $((number % parts)) != $turn ] || chosen+=("$item")
        number=$((number + 1))
    done
    say_share "$what" ${#chosen[@]} $#
}
say_share() { # WHAT HOW-MANY OF-ALL
    [ $parts = 1 ] || echo "SAMPLE $1: $2 of $3, sample $((turn + 1)) of $parts"
}

# These run whole, in turn; coverage, which takes half an hour, only where there is time for everything.
sample 'peers, wheels, pythonlong' peers wheels pythonlong >/dev/null
of_three="${#chosen[@]} (${chosen[*]:-none})"
[ $parts != 1 ] || chosen+=(coverage)
wanted=(bare tsan amalgamation clang undefined package others plain sdist shellasan onnxruntime openvino dask mpi cuda graphs failing random calls
    page slow bareroot valgrind mutations operators proofs analysis fuzz cross "${chosen[@]}")

prepare() {
    tools/setup check || exit 1
    say_share 'stages peers, wheels, pythonlong' "$of_three" 3
    [ $parts = 1 ] || echo 'SKIP coverage: it takes half an hour; make check and make coverage run it'
}
summary() { :; }

stage testenv one
stage_testenv() { tools/testenv --runtimes && echo 'build/testenv'; }

# ---- Other compilers and sanitizers --------------------------------------------------------------

# Without optimisation, which other stages have; clang's warnings need no code to be made.
stage bare all
stage_bare() {
    local root=$PWD sources
    sources=$(find "$root/src" -path '*/cuda' -prune -o -name '*.c' -print)
    rm -rf build/check/bare && mkdir build/check/bare
    amalgamated_by gcc
    amalgamated_by clang
    cd build/check/bare
    gcc -std=c11 -pthread $warnings -I"$root/include" -c $sources
    clang -std=c11 -fsyntax-only -pthread $warnings -I"$root/include" $sources
    echo 'gcc and clang, no warnings'
}

stage tsan all
stage_tsan() {
    build_in build/check/tsan -DGARNER_BUILD_CLI=OFF -DGARNER_SANITIZE=thread
    unit_tests build/check/tsan -L thread
}

# Not optimised, which no other stage tests.
stage amalgamation all
stage_amalgamation() {
    build_in build/check/amalgamation -DCMAKE_BUILD_TYPE=Debug -DGARNER_AMALGAMATION=ON -DGARNER_BUILD_CLI=OFF
    GARNER_TEST_SCALE=0.2 unit_tests build/check/amalgamation -L src -E "$each_level"
}

stage clang all
stage_clang() {
    build_in build/check/clang -DCMAKE_C_COMPILER=clang
    unit_tests build/check/clang
}

# What clang alone finds undefined, as counting on from NULL. Not optimised, because optimising the kernels with
# these checks takes it minutes.
stage undefined all
stage_undefined() {
    build_in build/check/undefined -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DGARNER_BUILD_CLI=OFF \
        -DGARNER_SANITIZE=undefined,pointer-overflow
    GARNER_TEST_SCALE=0.1 unit_tests build/check/undefined -L src -E "$each_level"
}

# Every program: no invalid access, no use of an unset value, no leak.
stage valgrind all
stage_valgrind() {
    # It does not see what the kernel writes into memory for io_uring.
    build_in build/check/valgrind -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGARNER_BUILD_CLI=OFF -During_include=OFF -During_library=OFF
    # shellcheck disable=SC2046 # names have no spaces
    sample valgrind $(find build/check/valgrind/tests -maxdepth 1 -type f -name 'test_*' ! -name '*.log' | LC_ALL=C sort)
    printf '%s\n' "${chosen[@]}" | GARNER_TEST_SCALE=0.1 xargs -P "$jobs" -I PROGRAM sh -c \
        'valgrind --quiet --fair-sched=yes --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite PROGRAM >PROGRAM.log 2>&1 ||
            { tail -n 60 PROGRAM.log; echo "valgrind: PROGRAM FAILED"; exit 1; }'
    echo "valgrind: ${#chosen[@]} programs, nothing found"
}

# ---- The same at greater length ------------------------------------------------------------------

seed=${GARNER_TEST_SEED:-$(date +%s)}
stage random all build buildasan
stage_random() {
    echo "random cases, seed $seed"
    export GARNER_TEST_SEED=$seed
    GARNER_TEST_SCALE=${GARNER_TEST_SCALE:-20} $release/tests/test_random
    GARNER_TEST_SCALE=5 $release/tests/test_random_large
    GARNER_TEST_SCALE=10 $release/tests/test_kernels
    GARNER_TEST_SCALE=0.5 $asan/tests/test_random_large
    case $(uname -m) in x86_64) GARNER_TEST_SCALE=0.05 unit_tests $asan -R "$each_level" ;; esac
    GARNER_TEST_SCALE=2 $release/tests/test_npz
    GARNER_TEST_SCALE=2 $release/tests/test_changing
}

# Calls from several threads, under both sanitizers that see threads' mistakes.
stage calls all tsan buildasan
stage_calls() {
    local seconds=${GARNER_CALLS_SECONDS:-60}
    build/check/tsan/tests/test_threads_calls --seconds "$seconds" --seed "$seed"
    $asan/tests/test_threads_calls --seconds "$seconds" --seed "$seed"
}

# Each call of whole commands and of every Python entry failing in turn; with sanitizers, what that leaks in commands.
stage failing all wheel buildasan testenv
stage_failing() {
    export GARNER_TEST_FAILING=all
    GARNER_BUILD=$release python_tests tests/cli/test_failing.py
    GARNER_BUILD=$asan python_tests -n 0 -k leaks tests/cli/test_failing.py
    python_tests -n 0 tests/python/test_failing.py
    GARNER_TEST_FAILING=part tests/python/run --asan "$PWD/$asan" -k test_each_call_fails
}

# What make test leaves out: as released, of the documents, and of the Python package with sanitizers.
stage slow all wheel buildasan testenv
stage_slow() {
    GARNER_BUILD=$release python_tests -m long tests/cli
    GARNER_TEST_INSTALLS=1 GARNER_BUILD=$release python_tests -n 0 -k models.md tests/docs/test_docs.py
    tests/python/run --asan "$PWD/$asan" -m slow
}

stage shellasan all buildasan testenv
stage_shellasan() { GARNER_TEST_SCALE=4 GARNER_BUILD=$asan ASAN_OPTIONS=$ASAN_OPTIONS:exitcode=99 python_tests -m slow tests/cli; }

stage mutations all
stage_mutations() { tests/mutations/run --sample $((turn + 1)) $parts; }

# All proofs and a sample of their seeded mistakes: about three minutes.
stage proofs all
stage_proofs() {
    tools/setup proofs || true # what is missing is skipped, and named
    proofs/run --sample $((turn + 1)) $parts
}

# gcc -fanalyzer, clang-tidy and cppcheck: about two minutes.
stage analysis all
stage_analysis() {
    tools/setup analysis || true # what is missing is skipped, and named
    tools/analyse
}

# Every wrong operator of the core takes hours: one of 32 here, others at each commit, all of them with make check-long.
stage operators all
stage_operators() {
    if [ -n "${GARNER_CHECK_LONG-}" ]; then
        tests/mutations/operators
    else
        tests/mutations/operators --sample $((number % 32 + 1)) 32
    fi
}

# Which conditions the tests try.
stage coverage all testenv
stage_coverage() { tools/coverage; }

fuzz_seconds=$((${GARNER_FUZZ_SECONDS:-600} / parts))
stage fuzz all testenv buildasan
stage_fuzz() {
    say_share 'fuzz, seconds' $fuzz_seconds $((fuzz_seconds * parts))
    tools/fuzz $fuzz_seconds
    tools/fuzz-python $((fuzz_seconds / 5))
}

# ---- What it is used by and with -----------------------------------------------------------------

stage package all wheel
stage_package() {
    build_in $release -DGARNER_INSTALL=ON # which the wheel's build has turned off
    tests/package/symbols $release
    tests/package/hardening $release build/dist/*.whl
    tests/package/size $release
    tests/package/size --other # a minute of compiling
    tests/package/run
}

# With the runtimes that make test does not install.
stage others all build testenv
stage_others() { GARNER_BUILD=$release python_tests tests/oracle bench/tests; }

stage plain all wheel
stage_plain() { tests/python/run --plain; }

stage sdist one wheel
stage_sdist() { tests/python/run --sdist; }

# With torch and JAX as oracles, and long stress.
stage pythonlong all wheel
stage_pythonlong() { tests/python/run --long; }

# NumPy's and torch's own tests with garner's functions put in.
stage peers one wheel
stage_peers() { tests/peers/run; }

# The plug-in for ONNX Runtime, in several versions of it; and with the plug-in as buildasan made it. Each call fails in turn.
stage onnxruntime all wheel buildasan
stage_onnxruntime() { export GARNER_TEST_FAILING=all && tests/onnxruntime/run --asan "$PWD/$asan" && tests/onnxruntime/run; }

# The same for OpenVINO's extension, whose C++ is compiled as users compile it.
stage openvino all wheel buildasan
stage_openvino() { export GARNER_TEST_FAILING=all && tests/openvino/run --asan "$PWD/$asan" && tests/openvino/run; }

# dask arrays, under threads and in a cluster of processes: about a minute.
stage dask one wheel
stage_dask() { tests/dask/run; }

# Tables over the ranks of Open MPI and of MPICH, which oversubscribe the cores: about four minutes.
stage mpi all wheel
stage_mpi() { GARNER_BUILD=$PWD/$release tests/mpi/run; }

# The page in a browser, and its core against the reference: about four minutes, compiling included.
stage page one build
stage_page() { tests/page/reference/run && GARNER_BUILD=$PWD/$release tests/page/run; }

# The library for GPUs: compiled, by PyPI's compiler where there is no other, and its kernels in the stand-in for the driver at
# greater length, with AddressSanitizer: about two minutes.
stage cuda all buildasan
stage_cuda() {
    tools/cuda --compiler
    build_in build/check/cuda -DGARNER_BUILD_CUDA=ON -DGARNER_CUDA_ARCHITECTURES=90 -DGARNER_BUILD_CLI=OFF -DGARNER_BUILD_TESTS=OFF \
        -DGARNER_BUILD_ONNXRUNTIME=OFF
    tests/cuda/symbols build/check/cuda
    $asan/tests/cuda/test_cuda_corners
    GARNER_TEST_SCALE=0.1 $asan/tests/cuda/test_cuda_examples
    GARNER_TEST_SCALE=0.1 $asan/tests/cuda/test_cuda_random
    GARNER_TEST_SCALE=0.02 $asan/tests/cuda/test_cuda_exhaustive
    echo 'SKIP the GPU itself: no stage uses a device'
    echo 'kernels compiled, and run in the stand-in for the driver'
}

# Random models in all of them.
stage graphs one wheel
stage_graphs() { tools/fuzz-graphs $((fuzz_seconds / 5)) "$seed"; }

# ---- Other machines ------------------------------------------------------------------------------

# That of x86-64 and aarch64 which this machine is not, and others: big-endian, 32-bit, musl, older CPUs; one of five in turn where time
# is short. Windows and macOS: two minutes. make check-long runs all C tests there.
stage cross all
stage_cross() {
    local rotated=(s390x i386 riscv64 musl "$(printf '%s\n' x86_64 aarch64 | grep -vx "$(uname -m)")") targets
    # shellcheck disable=SC2207 # names have no spaces
    targets=($(tests/cross/run --list))
    if [ $parts != 1 ]; then
        targets=("${rotated[number % 5]}" wine windows macos macos-x86_64)
        echo "SAMPLE cross, machines: ${targets[0]} of ${rotated[*]}"
    fi
    tools/setup wine || true # what is missing is skipped, and named
    tests/cross/run ${GARNER_CHECK_LONG:+--long} "${targets[@]}"
}

# Not beside another user of tools/bare: the tests look for what it leaves behind.
stage bareroot all testenv
stage_bareroot() {
    if [ "$(id -u)" != 0 ]; then
        echo 'SKIP tools/bare: only root can make a bare system'
        return
    fi
    GARNER_TEST_BARE=1 python_tests -n 0 tests/tools
}

# The wheels for PyPI where they are to work.
stage wheels all
stage_wheels() { tests/wheels/run; }
