# SPDX-License-Identifier: MIT
"""garner on NVIDIA GPUs. The functions are garner's own: garner.take(x, i) works where x lies. This is what they have beside it.

    with garner.cuda.deferred():        # launches, and waits once, at the end
        a = garner.take(x, i, axis=0)
        b = garner.take_along_axis(y, j, axis=1)

Needs libgarner_cuda.so, which `make cuda` builds, and NVIDIA's driver. Both are looked for when the first array on a GPU is met.
"""

from types import TracebackType

from . import _garner

__all__ = ["available", "deferred"]


def available() -> bool:
    """Whether gathers on a GPU work here: libgarner_cuda.so is there, and a driver that knows a device.

    >>> garner.cuda.available() in (True, False)
    True
    """
    try:
        return _garner._device_count() > 0
    except OSError:
        return False


class deferred:
    """Within it, gathers on a GPU do not wait: an error is raised at the end, the first one if there are several.

    Until then what a bad index picks is zero. Calls whose arrays come from a library without a current stream, such as JAX,
    wait all the same. So do calls that mix libraries or streams. It is for the thread that enters it, and may be entered again.

    >>> with garner.cuda.deferred():
    ...     pass

    A CUDA graph can be captured in it. What the graph does when it is launched is looked at by check(), after the graph's
    stream was waited for; keep the object as long as the graph.
    """

    def __init__(self) -> None:
        self._scope, self._outer = _garner._device_scope_new(), []

    def __enter__(self) -> "deferred":
        self._outer.append(_garner._device_scope_enter(self._scope))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        _garner._device_scope_leave(self._scope, self._outer.pop())
        try:
            self.check()
        except _garner.Error as error:
            if value is None:
                raise
            value.add_note(f"and before that, deferred: {error}")

    def check(self) -> None:
        """Waits for what was launched so far, and raises the first error since the last time.

        >>> check = garner.cuda.deferred()
        >>> check.check()
        """
        _garner._device_scope_check(self._scope)
