# SPDX-License-Identifier: MIT
"""garner inside OpenVINO: its Gather, GatherElements and GatherND run here, in models as they are.

    import openvino as ov, garner.openvino

    core = ov.Core()
    core.add_extension(garner.openvino.library())     # models that core reads from now on: .xml and .onnx
    model = garner.openvino.replace(model)            # one that is in memory already

A binary for OpenVINO belongs to one of its releases, so the extension is compiled here, when it is first asked for.
"""

import contextlib
import fcntl
import hashlib
import operator
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from . import __version__
from ._trusted import is_trusted_file, trusted_folder

__all__ = ["library", "replace"]

MIN_BYTES = 32768  # what the first layer called by reference costs, points that count for this begin to earn

_PARTS = Path(__file__).resolve().with_name("_openvino")
_FLAGS = ["-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wl,--exclude-libs,ALL,-z,nodelete"]
# What compilers and linkers offer against mistakes that come through all the same, as the rest of garner is built with it.
_HARDENING = ["-fstack-protector-strong", "-fstack-clash-protection", "-fcf-protection=return", "-mbranch-protection=pac-ret",
              "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]  # fmt: skip
_SPECS = {
    "Gather": [(1, "openvino-1"), (7, "openvino-7"), (8, "openvino-8")],
    "GatherElements": [(6, "openvino-6")],
    "GatherND": [(5, "openvino-5"), (8, "openvino-8")],
}


# ---- The extension -----------------------------------------------------------------------------------------------------


def _runtime():
    """The openvino package and the folder that it lies in."""
    try:
        import openvino
    except ImportError:
        openvino = None
    if not hasattr(openvino, "__version__"):  # a folder of that name may pass for a package
        raise ImportError("garner.openvino: the openvino package is not installed: pip install openvino")
    return openvino, Path(openvino.__file__).resolve().parent


def _parts(folder):
    """The headers and the libraries that the compiler needs: ours, and those of the openvino package."""
    libraries = sorted((folder / "libs").glob("libopenvino.so*")) + sorted((folder / "libs").glob("libtbb.so*"))
    if not (_PARTS / "libgarner_layer.a").exists():
        raise ImportError(f"garner.openvino: this installation of garner-ops came without the extension's sources ({_PARTS})")
    if not libraries or not (folder / "include" / "openvino").is_dir():
        raise ImportError(
            f"garner.openvino: the openvino package in {folder} has no headers or no libopenvino.so; the one from PyPI has both"
        )
    return libraries


def _compiler():
    """The C++ compiler, as words of a command line: CXX of the environment, or the first that is there."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen:
        if shutil.which(chosen[0]):
            return chosen
        raise RuntimeError(f"garner.openvino: CXX names {chosen[0]!r}, and there is no such program")
    found = next(filter(shutil.which, ["c++", "g++", "clang++"]), None)
    if found is None:
        raise RuntimeError(
            "garner.openvino: a C++ compiler is needed, once for each version of openvino: install g++, or let CXX name one"
        )
    return [found]


def _cache():
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "garner"


def _name(openvino, min_bytes):
    """The file's name: everything that the binary depends on has a part in it."""
    digest = hashlib.sha256(" ".join([openvino.get_version(), platform.machine(), *_FLAGS, *_HARDENING, str(min_bytes)]).encode())
    for path in sorted(_PARTS.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    release = openvino.__version__.split("-")[0]
    return f"openvino-{release}-garner-{__version__}-{digest.hexdigest()[:16]}.so"


@contextlib.contextmanager
def _alone(folder):
    """Lets one process or thread at a time compile; the others find what it made. Where locks are not to be had, all do."""
    with open(folder / "lock", "w") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sweep(folder):
    """What compilations left behind that were killed."""
    for path in folder.glob("compiling-*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > 3600:
                shutil.rmtree(path, ignore_errors=True)


def _hardening(compiler, folder):
    """The words of _HARDENING with which this compiler makes a library of nothing, and complains of nothing."""

    def takes(words):
        command = [*compiler, *_FLAGS, "-Werror", *words, "-x", "c++", os.devnull, "-o", f"{folder}/nothing.so"]
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0

    return [word for line in _HARDENING if takes(line.split()) for word in line.split()]


def _compile(package, target, min_bytes):
    """Compiles in a folder of its own and moves the result into place, so that no one ever finds half of it."""
    libraries = _parts(package)
    compiler = _compiler()
    _sweep(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="compiling-") as folder:
        made = Path(folder) / target.name
        # One unit of all files: OpenVINO's headers, which take most of the time, are read once.
        units = [word for name in ("choice.cpp", "faults.cpp", "operators.cpp") for word in ("-include", f"{_PARTS / name}")]
        options = [*_FLAGS, *_hardening(compiler, folder), f"-DGARNER_MIN_BYTES={min_bytes}"]
        command = [*compiler, *options, f"-I{_PARTS}", "-isystem", f"{package / 'include'}",
                   *units, f"{_PARTS / 'extension.cpp'}", f"{_PARTS / 'libgarner_layer.a'}", *map(str, libraries), "-o", f"{made}"]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)
        if said.returncode or not made.exists():
            lines = [line for line in said.stderr.splitlines() if "error" in line] or said.stderr.splitlines() or ["it said nothing"]
            raise RuntimeError(f"garner.openvino: {compiler[0]} could not compile the extension: {lines[0]}")
        made.chmod(made.stat().st_mode & 0o755)  # whatever the umask lets others do
        os.replace(made, target)


def _bytes(min_bytes):
    """The number given, if it is one that can be."""
    try:
        number = operator.index(min_bytes)
    except TypeError:
        raise TypeError(f"garner.openvino: min_bytes is a {type(min_bytes).__name__}, not a whole number of bytes") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"garner.openvino: min_bytes is {number}; it must be a whole number of bytes, from 0 to {2**63 - 1}")
    return number


def library(*, min_bytes: int = MIN_BYTES) -> str:
    """The path of the extension for the openvino that is installed here; compiles it if there is none yet.

    A gather of one index, or whose points count for fewer bytes than `min_bytes` (docs/openvino.md says what each counts for),
    is left to the runtime, where the runtime's own kernel gives the same; 0 takes every gather. Each value is a file of its
    own, so that cores with different values can live in one process.

    Compiling takes a C++ compiler and a few seconds, once for each version of openvino and of garner and each value. The
    result lies in the user's cache ($XDG_CACHE_HOME/garner or ~/.cache/garner) and needs nothing else. ImportError says that
    the openvino package is missing, RuntimeError that a compiler is, or what it said; OSError that the cache cannot be
    written, or that others have a hand in its path: what lies there is run.

    >>> import openvino as ov, garner.openvino
    >>> core = ov.Core()
    >>> core.add_extension(garner.openvino.library())
    """
    least = _bytes(min_bytes)
    openvino, package = _runtime()
    _parts(package)
    folder = trusted_folder(_cache())
    target = folder / _name(openvino, least)
    if not is_trusted_file(target):
        with _alone(folder):
            if not is_trusted_file(target):
                _compile(package, target, least)
    return str(target)


# ---- Models in memory --------------------------------------------------------------------------------------------------


def _spec(node):
    """The version that a node's opset has of its operator; None if this is no gather."""
    opset = node.get_type_info().version_id
    versions = _SPECS.get(node.get_type_name(), [])
    if not versions or not opset.startswith("opset"):
        return None
    return next((spec for first, spec in reversed(versions) if first <= int(opset.removeprefix("opset"))), None)


def _bodies(node):
    """The models inside a node: both branches of an If, the body of a Loop or a TensorIterator."""
    if hasattr(node, "get_then_body"):
        return [node.get_then_body(), node.get_else_body()]
    return [node.get_function()] if hasattr(node, "get_function") else []


def _make(factory, node, spec, min_bytes):
    """Garner's operator; or another, if the extension leaves this one to the runtime."""
    kind = "GatherND5" if spec == "openvino-5" else node.get_type_name()
    made = factory.create(f"Garner{kind}", node.input_values(), {**node.get_attributes(), "spec": spec, "min_bytes": min_bytes})
    made.set_friendly_name(node.get_friendly_name())
    return made


def replace(model: Any, *, min_bytes: int = MIN_BYTES) -> Any:
    """Puts garner's operators in place of OpenVINO's in a model that is in memory, and returns that model.

    For models that were not read by a core with the extension: built in Python, or converted from another framework.
    Subgraphs (If, Loop, TensorIterator) are part of it. Names stay as they are, and so does what each version means.
    `min_bytes` is what it is for `library()`.

    >>> import numpy as np, openvino as ov, garner.openvino
    >>> from openvino import opset8
    >>> table, rows = opset8.parameter([3, 2], np.float64), opset8.parameter([2], np.int64)
    >>> model = ov.Model([opset8.gather(table, rows, 0)], [table, rows])
    >>> model = garner.openvino.replace(model)
    >>> [node.get_type_name() for node in model.get_ordered_ops() if "Gather" in node.get_type_name()]
    ['GarnerGather']
    """
    openvino, _ = _runtime()
    if not isinstance(model, openvino.Model):
        raise TypeError(f"garner.openvino.replace: model is a {type(model).__name__}, not an openvino.Model")
    from openvino.utils import replace_node
    from openvino.utils.node_factory import NodeFactory

    least = _bytes(min_bytes)
    factory = NodeFactory()
    factory.add_extension(library())  # any value's: what is made is said here
    waiting = [model]
    while waiting:
        for node in waiting.pop().get_ordered_ops():
            waiting += _bodies(node)
            spec = _spec(node)
            if spec is not None:
                made = _make(factory, node, spec, least)
                if made.get_type_name().startswith("Garner"):
                    replace_node(node, made)
    model.validate_nodes_and_infer_types()
    return model
