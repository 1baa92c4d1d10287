# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What scripts share that test the wheel: they source this at the root of the tree, with set -e. It completes
# build/testenv, whose Python is $python.
python=build/testenv/bin/python
jobs=$(getconf _NPROCESSORS_ONLN)
tools/testenv

tests() { "$python" -m pytest -q -rsfE -p no:cacheprovider -n "$jobs" "$@"; }

install_wheel() { # that of build/dist, and nothing from the network
    tools/venv build/testenv --wheel build/dist/*.whl
}

need_wheel() { # STATEMENT: one of Python that fails where the wheel is missing, which is then built
    "$python" -c "$1" 2>/dev/null && return
    tools/python
    install_wheel
}
