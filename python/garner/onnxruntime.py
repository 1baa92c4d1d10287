# SPDX-License-Identifier: MIT
"""garner inside ONNX Runtime: its Gather, GatherElements and GatherND run here, in models as they are.

    import onnxruntime as ort, garner.onnxruntime

    garner.onnxruntime.register()
    session = ort.InferenceSession("model.onnx", garner.onnxruntime.session_options())

Needs onnxruntime 1.24 or newer. The other operators stay with the runtime.
"""

import weakref
from pathlib import Path
from typing import Any

NAME = "GarnerExecutionProvider"
OLDEST = (1, 24)
OPTIONS = ("min_bytes",)

_prepared = weakref.WeakKeyDictionary()  # options that have the provider, and what they gave it

__all__ = ["library", "register", "session_options", "unregister"]


def library() -> str:
    """The path of the plug-in, for programs in C and C++ that register it themselves.

    >>> garner.onnxruntime.library().endswith("libgarner_onnxruntime.so")
    True
    """
    path = Path(__file__).resolve().with_name("libgarner_onnxruntime.so")
    if not path.exists():
        raise ImportError(f"garner.onnxruntime: this installation of garner-ops came without the plug-in ({path})")
    return str(path)


def _runtime():
    """The onnxruntime package, if it is there and new enough."""
    try:
        import onnxruntime
    except ImportError:
        onnxruntime = None
    version = getattr(onnxruntime, "__version__", None)  # a folder of that name may pass for a package
    if version is None:
        raise ImportError("garner.onnxruntime: onnxruntime is not installed: pip install onnxruntime")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise ImportError(f"garner.onnxruntime: onnxruntime {version} is installed, and {needed} or newer is needed")
    return onnxruntime


def _devices(onnxruntime, name):
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == name]


def _as_text(name, value):
    """A provider's option as the runtime passes it on. Python's runtime would go on without us if we left it to find out."""
    if name not in OPTIONS:
        raise TypeError(f"garner.onnxruntime: there is no option {name}; there is {', '.join(OPTIONS)}")
    if not str(value).isdecimal() or int(value) >= 2**63:
        raise ValueError(f"garner.onnxruntime: {name} is {value!r}; it must be a whole number of bytes, from 0 to {2**63 - 1}")
    return str(int(value))


def register() -> None:
    """Makes the execution provider known to ONNX Runtime in this process; once is enough, again is harmless.

    >>> garner.onnxruntime.register()
    """
    onnxruntime = _runtime()
    if not _devices(onnxruntime, NAME):
        onnxruntime.register_execution_provider_library(NAME, library())


def unregister() -> None:
    """Takes the execution provider back; sessions that have it keep it. Harmless where it is not registered.

    >>> garner.onnxruntime.unregister()
    """
    onnxruntime = _runtime()
    if _devices(onnxruntime, NAME):
        onnxruntime.unregister_execution_provider_library(NAME)


def session_options(options: Any = None, **provider_options: int | str) -> Any:
    """Session options, new ones or those given, with which a session runs its gathers here and the rest as ever.

    Registers the provider if that was not done. The one provider option is `min_bytes`: nodes whose output is known to
    be smaller are left to the runtime; not given, all are taken. Options that are given are changed, and may be given again.

    >>> options = garner.onnxruntime.session_options(min_bytes=4096)
    """
    onnxruntime = _runtime()
    given = {name: _as_text(name, value) for name, value in provider_options.items()}
    if not isinstance(options, (onnxruntime.SessionOptions, type(None))):
        raise TypeError(f"garner.onnxruntime: options is a {type(options).__name__}; it must be onnxruntime.SessionOptions")
    register()
    options = onnxruntime.SessionOptions() if options is None else options
    if options in _prepared:  # the runtime would refuse a provider that is there twice
        if _prepared[options] != given:
            raise ValueError(f"garner.onnxruntime: these options have the provider already, with {_prepared[options]}")
        return options
    options.add_provider_for_devices(_devices(onnxruntime, NAME), given)
    options.add_provider_for_devices(_devices(onnxruntime, "CPUExecutionProvider"), {})
    _prepared[options] = given
    return options
