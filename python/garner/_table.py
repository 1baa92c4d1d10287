# SPDX-License-Identifier: MIT
"""Tables in files: gathers from data that need not fit in memory."""

import operator
import os
from concurrent.futures import ThreadPoolExecutor

from . import _garner

_HOWS = (None, "mapped", "ring", "pread")


def _as_numpy(array):
    """An Array as NumPy's, where NumPy is installed and has the type."""
    try:
        import numpy

        return numpy.asarray(array)
    except (ModuleNotFoundError, TypeError):
        return array


class Table:
    """One tensor of a file, to gather from without loading it.

    The file is a .npy, .npz, .safetensors or .pb, or an .onnx model, of which name is an initializer; of a file with one
    tensor the name may be left out. All indices of a gather are known before anything is read: each block of the file is
    read once, many at a time. how is 'mapped', 'ring' or 'pread', by default whichever is fastest; memory is how many
    bytes a gather may take beside indices and result (256 MiB). Tables may be used from several threads at once.

    >>> import garner, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.npy")
    >>> garner.save(path, [[1, 2], [3, 4], [5, 6]])
    >>> with garner.Table(path, how="pread") as table:
    ...     table.shape, table.dtype, table.take([2, -3]).tolist()
    ((3, 2), 'i64', [[5, 6], [1, 2]])
    """

    def __init__(self, path, name=None, *, how=None, memory=None, follow_links=False):
        if not isinstance(how, (str, type(None))) or how not in _HOWS:
            raise _garner.BadArgument(f"Table: how is {how!r}, and must be 'mapped', 'ring', 'pread' or None")
        if not isinstance(name, (str, type(None))):
            raise _garner.BadType(f"Table: name is {name!r}, and must be a string or None")
        memory = 0 if memory is None else operator.index(memory)
        if not 0 <= memory < 1 << 64:
            raise _garner.BadArgument(f"Table: memory is {memory} bytes, and must be at least 1048576, or 0 for the usual 256 MiB")
        os.stat(path)
        self._path, self._name = os.fspath(path), name
        self._handle = _garner._table_open(path, name, _HOWS.index(how), memory, follow_links)
        self.dtype, self.shape = _garner._table_about(self._handle)

    def _open(self):
        if self._handle is None:
            raise _garner.BadArgument(f"the table of {self._path!r} is closed")
        return self._handle

    def gather(self, indices, axis=0, batch_dims=0, *, spec=None, strict=False, oob=None, out=None):
        """Picks slices along an axis, as garner.gather does. The result is NumPy's array, or an Array without NumPy.

        >>> import garner, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "table.npy")
        >>> garner.save(path, [[1, 2, 3], [4, 5, 6]])
        >>> garner.open(path).gather([2, 0], axis=1).tolist()
        [[3, 1], [6, 4]]
        """
        result = _garner._table_gather(self._open(), indices, axis, batch_dims, spec, strict, oob, out)
        return result if out is not None else _as_numpy(result)

    def take(self, indices, axis=0, out=None):
        """Picks slices along an axis; out may be any kind of array that garner.gather takes.

        >>> import array, garner, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "table.npy")
        >>> garner.save(path, [10, 20, 30])
        >>> garner.open(path).take([2, -3], out=array.array("q", [0, 0]))
        array('q', [30, 10])
        """
        return self.gather(indices, axis, out=out)

    def batches(self, iterable):
        """Takes one batch of indices after the other; the next one is being read while the last one is worked on.

        >>> import garner, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "table.npy")
        >>> garner.save(path, [10, 20, 30])
        >>> [rows.tolist() for rows in garner.open(path).batches([[0, 1], [2], []])]
        [[10, 20], [30], []]
        """
        self._open()
        return self._take_ahead(iterable)

    def _take_ahead(self, iterable):
        with ThreadPoolExecutor(1) as reader:
            coming = None
            for indices in iterable:
                after = reader.submit(self.take, indices)
                if coming is not None:
                    yield coming.result()
                coming = after
            if coming is not None:
                yield coming.result()

    def close(self):
        """Closes the file. Gathers that are under way end first."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __len__(self):
        if not self.shape:
            raise TypeError("a table of rank 0 has no length")
        return self.shape[0]

    def __repr__(self):
        name = f" {self._name!r}" if self._name is not None else ""
        return f"<garner.Table{name} of {self._path!r}: {self.dtype}{list(self.shape)}>"


def open(path, name=None):
    """Opens one tensor of a file as a Table, to gather from it without loading it.

    >>> import garner, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "table.npy")
    >>> garner.save(path, [[1.5, 2.5], [3.5, 4.5]])
    >>> table = garner.open(path)
    >>> table.take([1, 1, 0]).tolist()
    [[3.5, 4.5], [3.5, 4.5], [1.5, 2.5]]
    >>> table.take([2])
    Traceback (most recent call last):
        ...
    garner.OutOfRange: Gather: indices[0] = 2 is outside [-2, 1] of data axis 0
    """
    return Table(path, name)


for _thing in (Table, open):
    _thing.__module__ = "garner"
