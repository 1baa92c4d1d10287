# SPDX-License-Identifier: MIT
"""Runs a program of WebAssembly with wasmtime, and ends as it does: run.py PROGRAM."""

import sys

import wasmtime

engine = wasmtime.Engine()
linker = wasmtime.Linker(engine)
linker.define_wasi()
store = wasmtime.Store(engine)
wasi = wasmtime.WasiConfig()
wasi.env = [("GARNER_TEST_SCALE", "0.02")]
wasi.inherit_stdout()
wasi.inherit_stderr()
store.set_wasi(wasi)
instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    instance.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
