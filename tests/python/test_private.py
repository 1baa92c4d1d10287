# SPDX-License-Identifier: MIT
"""The extension module's own functions, called as the package never does: an exception, and nothing else."""

import array
import threading

import pytest

import garner
import garner.cuda
from conftest import NO_NUMPY
from garner import _garner

PRIVATE = sorted(name for name in dir(_garner) if name.startswith("_") and not name.startswith("__"))
ARRAY = garner.gather(array.array("i", [1, 2, 3]), [0, 2])
SCOPE = _garner._device_scope_new()
WRONG = [(), (None,), (7,), ("x",), (b"x",), (object(), 1), (SCOPE,), (SCOPE, 1, 2), ([], []), (ARRAY,), (None,) * 4, (None,) * 5, ("x", [], [], {}),
         ("x", {}, [], []), ("x", [], {}, []), (None,) * 6, (b"x", *[None] * 5), (None,) * 8, (None,) * 10, ("gather", *[None] * 9)]  # fmt: skip
HARMLESS = {"_device_scope_new": [()], "_device_count": [()], "_device_scope_check": [(SCOPE,)], "_device_scope_enter": [(SCOPE,), (SCOPE, 1, 2)]}


@pytest.mark.parametrize("name", PRIVATE)
def test_private_functions_are_called_wrongly(name):
    for arguments in WRONG:
        try:
            made = getattr(_garner, name)(*arguments)
        except (TypeError, ValueError, IndexError, LookupError, AttributeError, OSError, garner.Error):
            continue
        finally:
            if name == "_device_scope_enter" and arguments and arguments[0] is SCOPE:
                _garner._device_scope_leave(SCOPE, None)
        assert arguments in HARMLESS.get(name, []) or made is None or name == "_device_scope_new", (name, arguments, made)


def test_methods_take_no_arguments():
    for method in ARRAY.tolist, ARRAY.tobytes:
        with pytest.raises(TypeError, match="takes no arguments"):
            method(1)
        with pytest.raises(TypeError, match="takes no arguments"):
            method(order="C")


def test_a_store_has_tensors_of_its_own_only(tmp_path):
    garner.save(tmp_path / "x.npy", ARRAY)
    store = _garner._file_open_store(str(tmp_path / "x.npy"), False)
    assert _garner._file_load(store, 0).tolist() == [1, 3]
    for wrong in 1, -1, 2**70, "0", None:
        with pytest.raises((IndexError, OverflowError, TypeError)):
            _garner._file_load(store, wrong)
    with pytest.raises(TypeError):
        _garner._file_load(store)


def test_a_scope_is_not_shared():
    """A scope ends where it began, and after those that began within it."""
    scope = garner.cuda.deferred()
    seen = []

    def other():
        try:
            _garner._device_scope_leave(scope._scope, None)
        except RuntimeError as error:
            seen.append(str(error))

    with scope:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(seen) == 1 and "another thread" in seen[0]


# ---- Options -----------------------------------------------------------------------------------------


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


@pytest.mark.parametrize("threads", [0, -1, -(2**70), "two", 1.5, Index(ValueError("no")), [1]])
def test_threads_that_are_none(threads):
    with pytest.raises((garner.Error, TypeError, ValueError)):
        garner.gather([1, 2], [0], threads=threads)


def test_many_threads():
    for threads in 300, 2**31, 2**62, 2**80:
        try:
            assert garner.gather([1, 2], [1], threads=threads).tolist() == [2]
        except garner.BadArgument as error:
            assert "threads" in str(error)
    kept = garner.get_num_threads()
    garner.set_num_threads(5000)
    assert 1 <= garner.get_num_threads() <= 256
    garner.set_num_threads(kept)


def test_an_axis_that_raises():
    for error in MemoryError(), KeyboardInterrupt():
        with pytest.raises(type(error)):
            garner.gather([[1, 2]], [0], axis=Index(error))
    for axis in ([1, 2], [0.5], [], "0", [[0]], garner.gather([0.5], [0])):
        try:
            assert garner.gather([[1, 2]], [0], axis=axis).tolist() == [[1, 2]]
        except garner.BadType as caught:
            assert "axis is" in str(caught)


@pytest.mark.skipif(NO_NUMPY, reason="of NumPy's arrays")
def test_huge_indices_of_no_axis():
    """Numbers beyond 64 bits, wrapped along axes that there are not: what is said is about the axis or the tuple."""
    for call in (lambda: garner.gather_nd([[1, 2]], [[2**70, 0, 0]], oob="wrap"), lambda: garner.gather_nd([[1, 2]], 2**70, oob="wrap"),
                 lambda: garner.gather([1], [2**70], axis=7, oob="wrap"), lambda: garner.gather([], [2**70], oob="wrap"),
                 lambda: garner.gather([[1, 2]], [2**70], axis=-7, oob="wrap")):  # fmt: skip
        with pytest.raises(garner.Error):
            call()
    assert garner.gather_nd([[1, 2, 3]], [[0, 2**70]], oob="wrap").tolist() == [[1, 2, 3][2**70 % 3]]
    assert garner.gather([1, 2, 3], [-(2**70)], oob="wrap").tolist() == [[1, 2, 3][-(2**70) % 3]]
