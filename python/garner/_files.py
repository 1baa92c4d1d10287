# SPDX-License-Identifier: MIT
"""Files of tensors: .npy and .pb as arrays, .npz and .safetensors as mappings."""

import os
from collections.abc import Mapping

from . import _garner

_COPY, _FOLLOW_LINKS = 1, 2
_SUFFIXES = (".npy", ".npz", ".safetensors", ".pb")


class Tensors(Mapping):
    """The tensors of a file by their names, in the file's order, each loaded when it is asked for.

    What load gives for .npz and .safetensors files.
    """

    def __init__(self, path, handle):
        self._path = os.fspath(path)
        self._handle = handle
        self._places = {name: i for i, name in enumerate(_garner._file_names(handle))}

    def __getitem__(self, name):
        return _garner._file_load(self._handle, self._places[name])

    def __len__(self):
        return len(self._places)

    def __iter__(self):
        return iter(self._places)

    def __contains__(self, name):
        return name in self._places

    def __repr__(self):
        return f"<garner.Tensors of {self._path!r}: {', '.join(map(repr, self._places))}>"


def load(path, *, copy=False, follow_links=False):
    """Opens a file of tensors without reading more of it than is asked for.

    A .npy or .pb file gives an Array; a .npz or .safetensors file a mapping of names to Arrays. Arrays lie in the mapped
    file and are read-only; copy=True reads them instead, so that nothing matters that happens to the file later, and gives
    arrays that can be written to. (A mapped file that another program shortens ends this one with SIGBUS.)
    follow_links=True allows a .pb's external data to be, or to lie behind, a link.

    >>> import garner, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "two.safetensors")
    >>> garner.save(path, {"a": [1, 2, 3], "b": [[0.5]]})
    >>> tensors = garner.load(path)
    >>> list(tensors), tensors["a"].tolist(), tensors["b"].dtype
    (['a', 'b'], [1, 2, 3], 'f64')
    """
    os.stat(path)  # what is not there, or not for this user, is said by Python's own exceptions
    handle = _garner._file_open_store(path, (_COPY if copy else 0) | (_FOLLOW_LINKS if follow_links else 0))
    return _garner._file_load(handle, 0) if _garner._file_is_single(handle) else Tensors(path, handle)


def _descr(array):
    """The type of elements that garner moves without knowing them, as .npy files write it; None for all others."""
    if isinstance(array, _garner.Array):
        return array._descr
    dtype = getattr(array, "dtype", None)
    if type(array).__module__.partition(".")[0] == "numpy" and dtype.isbuiltin != 2 and (dtype.kind in "SUVMm" or dtype.char in "gG"):
        from numpy.lib.format import dtype_to_descr

        return repr(dtype_to_descr(dtype))
    return None


def save(path, array_or_mapping):
    """Writes an array, or a mapping of names to arrays, to a file, whole or not at all.

    The path's ending says how: .npy and .pb hold one array, .npz and .safetensors any number; an array that comes without a
    name takes the file's there. Arrays may be of any kind that the gathers take.

    >>> import garner, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> garner.save(path, [[1, 2], [3, 4]])
    >>> garner.load(path).tolist()
    [[1, 2], [3, 4]]
    """
    text = os.fsdecode(path)
    stem, suffix = os.path.splitext(os.path.basename(text))
    if suffix not in _SUFFIXES:
        raise _garner.BadArgument(f"save: {text!r} ends in none of {', '.join(_SUFFIXES)}")
    os.stat(os.path.dirname(text) or ".")
    several = isinstance(array_or_mapping, Mapping)
    named = dict(array_or_mapping) if several else {stem: array_or_mapping}
    if any(not isinstance(name, str) for name in named):
        raise _garner.BadArgument("save: the names of a mapping must be strings")
    if any("\0" in name for name in named):
        raise _garner.BadArgument("save: the names of a mapping must not contain '\\0', where names end in files")
    arrays = list(named.values())
    _garner._file_save_all(path, list(named), arrays, [_descr(array) for array in arrays])


for _thing in (Tensors, load, save):
    _thing.__module__ = "garner"
