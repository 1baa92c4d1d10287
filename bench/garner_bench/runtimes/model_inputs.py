# SPDX-License-Identifier: MIT
"""What a model works on."""

import numpy as np

LINE = 64


def _aligned(size):
    """Bytes that begin on a line."""
    raw = np.zeros(size + LINE, np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size]


class ModelInputs:
    """What a model works on, as inputs.Inputs is for a cell: arrays that stay where they are. The outputs lie one
    behind the other, so that they can be poisoned and compared as one."""

    def __init__(self, model):
        self.cell = self.model = model
        self.feeds = {name: self._copied(array) for name, array in model.feeds.items()}
        ends = np.cumsum([0] + [self._space(*out) for out in model.outs.values()])
        self.out = _aligned(int(ends[-1]))
        places = zip(model.outs.items(), ends)
        self.outs = {name: self._view(int(at), *out) for (name, out), at in places}
        self._turn = 0
        self.choose(0)

    @staticmethod
    def _copied(array):
        made = _aligned(array.nbytes).view(array.dtype).reshape(array.shape)
        made[...] = array
        return made

    @staticmethod
    def _space(dtype, shape):
        return -(-int(np.prod(shape)) * np.dtype(dtype).itemsize // LINE) * LINE

    def _view(self, at, dtype, shape):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.out[at : at + size].view(dtype).reshape(shape)

    def choose(self, number=None):
        """Puts other indices in place."""
        self._turn = self._turn + 1 if number is None else number
        for name, sets in self.model.drawn.items():
            np.copyto(self.feeds[name], sets[self._turn % len(sets)])
