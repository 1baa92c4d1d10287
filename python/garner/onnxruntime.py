# SPDX-License-Identifier: MIT
"""garner inside ONNX Runtime: its Gather, GatherElements and GatherND run here, in models as they are.

    import onnxruntime as ort, garner.onnxruntime

    session = ort.InferenceSession("model.onnx", garner.onnxruntime.session_options())

InferenceSession's own `providers=` replaces the providers of session options, garner too: give that list to session_options.
Needs onnxruntime 1.24 or newer. The other operators stay with the runtime.
"""

import functools
import sys
import warnings
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NAME = "GarnerExecutionProvider"
CPU = "CPUExecutionProvider"
OLDEST = (1, 24)
OPTIONS = ("min_bytes",)

_prepared = weakref.WeakKeyDictionary()  # options that have the provider: all of theirs, with what each was given

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


@functools.cache
def _options_class(onnxruntime):
    """Session options that notice when a session does not use their providers."""

    class SessionOptions(onnxruntime.SessionOptions):
        def has_providers(self):
            # InferenceSession asks when it was given providers, which replace ours. It has them in a variable of that name.
            given = sys._getframe(1).f_locals.get("providers")
            if given and NAME not in given:
                warnings.warn(
                    f"garner.onnxruntime: this session runs without garner: providers={given!r} replaces the providers of its session "
                    "options. Leave it out, and call session_options(providers=[...]) if the session needs others than the CPU's",
                    stacklevel=4,
                )
            return super().has_providers()

    return SessionOptions


def _ordered(providers):
    """A list as InferenceSession takes it, of names or (name, options), as pairs. Ours is first if it is not in the list, and
    the CPU's last."""
    entries = [(providers,)] if isinstance(providers, str) else providers
    pairs = [(entry, {}) if isinstance(entry, str) else entry for entry in entries]
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], dict)):
            raise TypeError(f"garner.onnxruntime: providers has {pair!r}; it must be a list of names or (name, options)")
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"garner.onnxruntime: providers names one of them twice: {', '.join(names)}")
    return [(NAME, {})] * (NAME not in names) + pairs + [(CPU, {})] * (CPU not in names)


def _add_providers(onnxruntime, options, pairs):
    """A provider that came as a plug-in is added by its devices, one that is built in by its name."""
    known = {device.ep_name for device in onnxruntime.get_ep_devices()} | set(onnxruntime.get_available_providers())
    for name, _ in pairs:
        if name not in known:
            raise ValueError(f"garner.onnxruntime: there is no provider {name}; this onnxruntime has {', '.join(sorted(known))}")
    for name, provider_options in pairs:
        devices = _devices(onnxruntime, name)
        if devices:
            options.add_provider_for_devices(devices, provider_options)
        else:
            options.add_provider(name, provider_options)


def session_options(options: Any = None, *, providers: Iterable = (), **provider_options: int | str) -> Any:
    """Session options, new ones or those given, with which a session runs its gathers here and the rest as ever.

    Registers the provider if that was not done. The one provider option is `min_bytes`: nodes whose output is known to
    be smaller are left to the runtime. Not given, only those are that have nothing to gain (docs/onnxruntime.md); 0 takes
    these, too. Options that are given are changed, and may be given again.

    Do not give `providers=` to InferenceSession as well: that list replaces the providers of session options, and garner is
    gone. Give it here: `providers` are names or (name, options) as there. garner comes before them, unless it is one of
    them, and the runtime's own CPU provider last.

    >>> options = garner.onnxruntime.session_options(min_bytes=4096)
    >>> options = garner.onnxruntime.session_options(providers=["CPUExecutionProvider"])
    """
    onnxruntime = _runtime()
    ordered = _ordered(providers)
    ours = {**dict(ordered)[NAME], **provider_options}
    given = {name: _as_text(name, value) for name, value in ours.items()}
    if not isinstance(options, (onnxruntime.SessionOptions, type(None))):
        raise TypeError(f"garner.onnxruntime: options is a {type(options).__name__}; it must be onnxruntime.SessionOptions")
    register()
    options = _options_class(onnxruntime)() if options is None else options
    ordered = [(name, given if name == NAME else {key: str(value) for key, value in rest.items()}) for name, rest in ordered]
    if options in _prepared:  # the runtime would refuse a provider that is there twice
        if _prepared[options] != ordered:
            raise ValueError(f"garner.onnxruntime: these options have their providers already: {_prepared[options]}")
        return options
    _add_providers(onnxruntime, options, ordered)
    _prepared[options] = ordered
    return options
