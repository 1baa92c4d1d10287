# SPDX-License-Identifier: MIT
"""garner.Arrays as pickles, which is also how copy.copy and multiprocessing take them: by value, in C order."""

import copyreg

from . import _garner


def _rebuild(*parts):
    return _garner._array_of_bytes(*parts)


def _reduce(array):
    if array.dtype == "str":
        raise TypeError("an Array of strings cannot be pickled or copied; its tolist() can")
    return _rebuild, (array.tobytes(), array.dtype, array._item_bytes, array.shape, array._format, array._descr)


copyreg.pickle(_garner.Array, _reduce)
