# SPDX-License-Identifier: MIT
"""== and != of garner.Array element by element, bool(), all(), any() and `in`."""

import array
import ctypes
import itertools
import math
import signal
import struct
import threading
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from conftest import NO_NUMPY, SANITIZED

import garner

needs_numpy = pytest.mark.skipif(NO_NUMPY, reason="without NumPy")


def of(values):
    """An Array of nested lists, as they are."""
    return garner.gather([values], 0)


def typed(letter, values):
    return garner.gather(array.array(letter, values), range(len(values)))


def packed(name, shape, data):
    """An Array of any type, out of its bytes."""
    return garner._garner._array_of_bytes(data, name, 0, shape, None, None)


def check(array, other, right):
    """== one way and the other, and != is its opposite."""
    wrong = [not x for x in right]
    for answer in (array == other, other == array):
        assert type(answer) is garner.Array and answer.dtype == "bool" and answer.tolist() == right
    for answer in (array != other, other != array):
        assert type(answer) is garner.Array and answer.dtype == "bool" and answer.tolist() == wrong


def test_what_people_write_first():
    taken = garner.take([1, 2, 3, 4, 5], [1, 2, 4])
    assert repr(taken == [2, 3, 5]) == "garner.Array([True, True, True], dtype='bool')"
    assert (taken == [2, 3, 5]).all() and not (taken != [2, 3, 5]).any()
    check(taken, [2, 0, 5], [True, False, True])
    check(taken, (2, 3, 6), [True, True, False])
    check(taken, range(2, 5), [True, True, False])
    check(taken, 3, [False, True, False])
    check(taken, 3.0, [False, True, False])
    check(taken, array.array("i", [2, 3, 5]), [True, True, True])
    assert (taken == memoryview(array.array("d", [2, 3.5, 5]))).tolist() == [True, False, True]  # on the left it says False itself
    check(taken, (ctypes.c_int16 * 3)(2, 1, 5), [True, False, True])
    check(taken, taken, [True, True, True])
    check(garner.gather(b"spam", [0, 3]), b"sm", [True, True])
    assert (garner.gather(b"spam", [0, 3]) == bytearray(b"sx")).tolist() == [True, False]


def test_broadcasting():
    table = of([[1, 2], [3, 4]])
    assert (table == [1, 4]).tolist() == [[True, False], [False, True]]
    assert (table == [[1], [4]]).tolist() == [[True, False], [False, True]]
    assert (of([1, 4]) == [[1, 2], [3, 4]]).tolist() == [[True, False], [False, True]]
    assert (table == [[[1, 2], [3, 4]]]).shape == (1, 2, 2)
    assert (of([[1], [2]]) == [1, 2, 3]).tolist() == [[True, False, False], [False, True, False]]
    assert (table[:, 1] == [2, 4]).all() and (table[::-1] == [[3, 4], [1, 2]]).all()
    assert (of([[], []]) == [[1], [2]]).shape == (2, 0) and (of([]) == []).shape == (0,) and (of([]) == 1).tolist() == []
    assert repr(of(5) == 5) == "garner.Array(True, dtype='bool')" and (of(5) == [4, 5]).tolist() == [False, True]
    for other in ([1, 2, 3], [], [[1, 2]] * 3, array.array("q", [1, 2, 3])):
        with pytest.raises(garner.BadShape, match=r"^[!=]=: axis \d has extent 2 in the Array and \d in the other; they must be equal, or one of them 1$"):
            table == other  # noqa: B015
        with pytest.raises(garner.BadShape, match="extent"):
            other != table  # noqa: B015
    with pytest.raises(garner.BadShape, match="rectangular"):
        table == [[1, 2], [3]]  # noqa: B015


def test_numbers_are_exact():
    big = 2**63
    check(typed("Q", [big, 2**64 - 1, big + 1]), [big, 2**64 - 1, big], [True, True, False])
    check(typed("q", [-1, -big, big - 1]), typed("Q", [2**64 - 1, big, big - 1]), [False, False, True])
    check(typed("q", [2**53 + 1, 2**53]), [float(2**53), 2.0**53], [False, True])
    check(typed("q", [2**53 + 1, 2**53, -(2**53)]), typed("d", [2**53, 2**53, -(2**53)]), [False, True, True])
    check(typed("Q", [2**64 - 1, 0]), typed("d", [2.0**64, -0.0]), [False, True])
    check(typed("q", [-big, big - 1]), typed("d", [-(2.0**63), 2.0**63]), [True, False])
    check(typed("d", [2.0**70, 0.5, 1e300]), [2**70, Fraction(1, 2), 10**300], [True, True, False])
    check(typed("d", [0.1, 0.5]), [Decimal("0.1"), Decimal("0.5")], [False, True])
    assert (typed("d", [0.5, 1]) == Fraction(1, 2)).tolist() == [True, False]
    check(typed("b", [-1, 1]), typed("B", [255, 1]), [False, True])
    check(typed("q", [1, 0, 2]), [True, False, True], [True, True, False])
    check(of([True, False]), typed("d", [1, 1]), [True, False])
    check(of([0.0, math.nan, math.inf]), [-0.0, math.nan, math.inf], [True, False, True])
    nan = of([math.nan, 1.0])
    check(nan, nan, [False, True])
    check(of([1 + 0j, 1 + 2j, complex(1, math.nan)]), [1, 1 + 2j, complex(1, math.nan)], [True, True, False])
    check(of([1 + 0j, 1 + 2j]), typed("q", [1, 1]), [True, False])
    check(of([1 + 0j, 2 + 0j]), typed("f", [1, 1]), [True, False])


def test_every_type():
    assert (packed("f16", (2,), struct.pack("=ee", 1.5, math.inf)) == [1.5, math.inf]).all()
    assert (packed("bf16", (2,), struct.pack("=HH", 0x3FC0, 0x7FC0)) == [1.5, math.nan]).tolist() == [True, False]
    for name, bits in [("f8e4m3fn", 0x3C), ("f8e4m3fnuz", 0x44), ("f8e5m2", 0x3E), ("f8e5m2fnuz", 0x42)]:
        check(packed(name, (2,), bytes([bits, 0])), [1.5, 0], [True, True])
    check(packed("f8e8m0", (2,), bytes([127, 128])), [1, 2.0], [True, True])
    check(packed("i4", (3,), bytes([0x8F, 0x01])), [-1, -8, 1], [True, True, True])
    check(packed("u4", (3,), bytes([0x8F, 0x01])), [15, 8, 2], [True, True, False])
    check(packed("i2", (4,), bytes([0b11100100])), [0, 1, -2, -1], [True] * 4)
    check(packed("u1", (3,), bytes([0b10100000])), [1, 0, 1], [True] * 3)
    check(packed("f4e2m1", (2,), bytes([0x21])), packed("f8e4m3fn", (2,), bytes([0x30, 0x38])), [True, True])
    check(packed("u3", (8,), bytes(3)), [0] * 8, [True] * 8)
    check(packed("nf4", (2,), bytes([0x10])), [0, 1], [True, True])
    swapped = garner.gather(memoryview(struct.pack(">2h", 1, 258)).cast("B"), range(4))
    assert (swapped == [0, 1, 1, 2]).all()


def strings(tmp_path):
    path = tmp_path / "s.pb"
    # TensorProto: dims 3, data_type STRING, three string_data
    path.write_bytes(bytes([0x08, 3, 0x10, 8]) + b"".join(bytes([0x32, len(s)]) + s for s in (b"a", "µ".encode(), b"")))
    return garner.load(path)


def test_strings(tmp_path):
    words = strings(tmp_path)
    assert words.dtype == "str"
    check(words, ["a", "µ", ""], [True, True, True])
    check(words, "a", [True, False, False])
    check(words, garner.gather(words, [0, 0, 2]), [True, False, True])
    check(words, [1, "µ", None], [False, True, False])
    check(words, [1, 2, 3], [False, False, False])
    check(words, of([1, 2, 3]), [False, False, False])
    check(of([1, 2]), ["1", 2], [False, True])
    assert words.any() and not words.all() and words[:2].all() and "µ" in words and "b" not in words
    if not NO_NUMPY:
        import numpy as np

        for other in (np.array(["a", "b", ""]), np.array(["a", "b", ""], object)):
            answer = words == other
            assert type(answer) is garner.Array and answer.tolist() == [True, False, True]


def test_what_cannot_be_compared():
    taken = of([1, 2])

    class Unknown:
        pass

    class Agrees:
        def __eq__(self, other):
            return "asked"

    for other in (None, Unknown(), {1: 2}, {1, 2}, object, garner.Array, len):
        assert (taken == other) is False and (taken != other) is True and taken.__eq__(other) is NotImplemented
    assert (taken == Agrees()) == "asked"
    for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(taken, compare)([1, 2]) is NotImplemented
    with pytest.raises(TypeError, match="'<' not supported"):
        taken < [1, 2]  # noqa: B015

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    opaque = garner.gather((Pair * 2)(), [0])
    for call in (lambda: opaque == opaque, lambda: taken == opaque, lambda: opaque != [b"abc"], opaque.any, opaque.all, lambda: bool(opaque)):
        with pytest.raises(garner.BadType, match="opaque bytes"):
            call()
    with pytest.raises(garner.BadType, match="element 1 of the list"):
        taken == [1, of([1, 2])]  # noqa: B015


def test_truth():
    assert bool(of(1)) and not of(0) and bool(of([[2.5]])) and not of([0.0]) and bool(of([math.nan])) and not of([0j]) and bool(of([1j]))
    for values in ([1, 2], [], [[0, 0]], [[], []]):
        with pytest.raises(garner.BadShape, match=r"^Array: \d elements are neither true nor false together; say which is meant by \.all\(\), \.any\(\) or \.size$"):
            bool(of(values))
    with pytest.raises(ValueError):
        if of([1, 1]) == [1, 1]:
            pass
    for values in itertools.product([0, 1], repeat=3):
        assert of(list(values)).all() is all(values) and of(list(values)).any() is any(values)
    assert of([]).all() is True and of([]).any() is False and of([[0, 1], [1, 0]])[:, 0].any() and not of([[0, 1], [1, 0]])[::2, 0].any()
    with pytest.raises(TypeError):
        of([1]).all(0)
    assert packed("i4", (3,), bytes([0x10, 0])).any() and not packed("i4", (3,), bytes([0x00, 0xF0])).any()


def test_containment_and_lists_of_arrays():
    taken = of([[1, 2], [3, 4]])
    assert 3 in taken and 5 not in taken and [1, 2] in taken and None not in taken and 1.0 in taken
    one, other = of([1, 2]), of([3, 4])
    assert one in [one, other]  # the very object
    with pytest.raises(ValueError, match="all"):
        one in [other]  # noqa: B015
    assert of([7]) in [of([7])]


def test_arrays_have_no_hash():
    """What is equal must have one hash, and == is no bool."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(of([1]))
    with pytest.raises(TypeError, match="unhashable"):
        {of([1])}  # noqa: B018


def test_extents_without_elements_take_no_time():
    wide = packed("u8", (10**12, 0), b"")
    assert (wide == 1).shape == (10**12, 0) and wide.all() and not wide.any()


def test_a_long_comparison_can_be_interrupted():
    column, row = garner.gather(bytes(45000), [[i] for i in range(45000)]), bytes(45000)  # 2 * 10**9 comparisons: many seconds

    class Pressed(Exception):
        pass

    def press(*_):
        raise Pressed

    before = signal.signal(signal.SIGUSR1, press)
    main = threading.main_thread().ident
    timer = threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGUSR1))
    try:
        start = time.monotonic()
        with pytest.raises(Pressed):
            timer.start()
            column == row  # noqa: B015
        assert time.monotonic() - start < 5
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


@needs_numpy
def test_numpy_on_either_side():
    import numpy as np

    taken = garner.take([1, 2, 3, 4, 5], [1, 2, 4])
    for dtype in "bBhHiIlLqQefdFD":
        answer = taken == np.array([2, 0, 5], dtype)
        assert type(answer) is garner.Array and answer.tolist() == [True, False, True]
        answer = np.array([2, 0, 5], dtype) == taken
        assert answer.tolist() == [True, False, True]  # NumPy's own, of its kind
    assert (taken == np.int8(2)).tolist() == [True, False, False] and (np.float32(2) == taken).tolist() == [True, False, False]
    assert (taken == np.array([2, 0, 5], ">i4")).tolist() == [True, False, True]
    assert (taken == np.arange(12).reshape(4, 3)[:, ::-1]).shape == (4, 3)
    odd = np.zeros(3, np.dtype({"names": ["a"], "formats": ["<i4"], "offsets": [1], "itemsize": 6}))["a"]
    odd[:] = [2, 3, 4]
    assert (taken == odd).tolist() == [True, True, False]
    assert (taken == [np.int64(2), np.float32(3), np.uint8(5)]).all()
    for refused in (np.array([1, 2, None], object), np.array(["a"] * 3), np.ma.array([1, 2, 3]), np.zeros(3, "M8[s]")):
        with pytest.raises(garner.BadType):
            taken == refused  # noqa: B015


@needs_numpy
def test_random_against_numpy():
    import numpy as np

    random = np.random.default_rng(3)
    for _ in range(300):
        shape = random.integers(0, 4, random.integers(0, 4))
        other = np.where(random.random(shape.shape) < 0.3, 1, shape)[random.integers(0, len(shape) + 1) :]
        a = random.integers(0, 3, shape).astype(random.choice(list("bBhHiIqQefdFD")))
        b = random.integers(0, 3, other).astype(random.choice(list("bBhHiIqQefdFD")))
        ours = garner.gather(memoryview(a[None]), 0) if a.size else None
        if ours is None:
            continue
        for given in (b, b.tolist(), b.T.copy().T):
            assert np.array_equal(ours == given, a == b) and np.array_equal(ours != given, a != b)
        assert ours.all() == a.all() and ours.any() == a.any()


LIMITS = {"b": (-128, 127), "B": (0, 255), "h": (-(2**15), 2**15 - 1), "H": (0, 2**16 - 1), "i": (-(2**31), 2**31 - 1), "I": (0, 2**32 - 1),
          "q": (-(2**63), 2**63 - 1, 2**53 + 1), "Q": (0, 2**63, 2**64 - 1, 2**53 + 1), "f": (-0.0, 2.0**31, 2.0**63, -(2.0**63), 0.5, math.nan, math.inf),
          "d": (-0.0, 2.0**32 - 1, 2.0**63, 2.0**64, -(2.0**63), 2.0**53, math.nan, -math.inf)}  # fmt: skip


def test_long_rows_of_every_pair_of_types():
    """More than is compared at once, every second element, and a row that is repeated; a list is compared by other code."""
    for a, b in itertools.product(LIMITS, repeat=2):
        left = [*LIMITS[a], 0, 1, 5][::-1] * 300
        right = ([*LIMITS[b], 0, 1, 5][::-1] * 300)[: len(left)]
        right += [1] * (len(left) - len(right))
        ours, theirs = typed(a, left), typed(b, right)
        expected = [x == y for x, y in zip(ours.tolist(), theirs.tolist())]
        assert (ours == theirs).tolist() == expected and (ours != theirs).tolist() == [not x for x in expected], (a, b)
        assert (ours == theirs.tolist()).tolist() == expected
        assert (ours[::-2] == theirs[::-2]).tolist() == expected[::-2]
        twice = garner.gather(ours, [list(range(len(left)))] * 2)
        assert (twice == theirs).tolist() == [expected, expected]
        for one in (theirs[0], right[0]):
            assert (ours == one).tolist() == [x == theirs[0] for x in ours.tolist()], (a, b)
    zeros = typed("q", [0] * 1300)
    assert not zeros.any() and garner.gather([zeros.tolist(), [0] * 1299 + [7]], [1]).any()
    assert not typed("f", [1.0] * 1299 + [-0.0]).all() and typed("d", [math.nan] * 1300).all()


@pytest.mark.skipif(SANITIZED, reason="built with sanitizers")
def test_large_arrays_make_no_objects():
    """Many times as fast as making the objects of one side, which alone would be half the work."""
    large = garner.gather(array.array("i", range(1 << 18)), range(1 << 18))

    def best(call):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(lambda: (large == large).all()) < best(large.tolist) / 4
