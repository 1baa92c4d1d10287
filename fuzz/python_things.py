# SPDX-License-Identifier: MIT
"""Arguments for the package's functions: arrays of every kind, capsules with any fields, and objects whose methods do harm.

Whatever is made here may be given to a call and must not crash it; memory that a view reaches is there. A Thing that has a
`value` is fine, so that a call has a right answer; of the others nothing is known.
"""

import array
import ctypes
import gc
import math
import os
import sys

import numpy as np
from python_reference import Tensor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
import capsule as capsules  # noqa: E402
import small_ir  # noqa: E402, F401

import garner  # noqa: E402

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">i4", ">i8", ">u8"]
NUMBERS = ["f8", "f4", "f2", ">f4", "c8", "c16", ">c8", "?"]
OTHERS = ["S3", "U2", "M8[s]", "m8[ns]", "g", "V5", [("a", "i4"), ("O", "f2")], [("a", ">i2", 2)]]
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Boom(Exception):
    """What hostile code raises."""


class Stop(BaseException):
    """The same, and no Exception: as an interrupt."""


class Thing:
    """An argument; its value as a Tensor of bytes, and as one of integers, where they are known."""

    def __init__(self, object, value=None, integers=None, item=0, kind="", dtype=None):
        self.object, self.value, self.integers, self.item, self.kind, self.dtype = object, value, integers, item, kind, dtype


class Capsule:
    """What became of a capsule: how often its deleter ran, and (if it is watched) whether it was used."""

    def __init__(self):
        self.deletions, self.object, self.counts = 0, None, True

    def is_right(self):
        if not self.counts:
            return True
        if self.object is None:
            return self.deletions <= 1
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        return self.deletions == (name(self.object) or b"").startswith(b"used_")


class World:
    """One case: its random numbers, and everything that it made."""

    def __init__(self, random, reenter):
        self.random, self.reenter = random, reenter
        self.depth = 0
        self.is_over = False
        self.victims = []  # ndarrays that nobody else has the memory of
        self.capsules = []
        self.kept = []  # memory that capsules point to

    def maybe(self, chance):
        return self.random.random() < chance

    def any(self, choices):
        return self.random.choice(choices)

    # ---- Harm --------------------------------------------------------------------------------

    def act(self):
        """What hostile code does."""
        if self.depth > 3 or self.is_over:
            return
        self.depth += 1
        try:
            self.any([self.fail, self.stop, self.resize, self.reshape, self.enter, self.enter, self.empty, self.scribble, gc.collect, self.stumble])()
        finally:
            self.depth -= 1

    def fail(self):
        raise self.any([Boom, ValueError, TypeError, IndexError, BufferError, AttributeError, MemoryError, StopIteration, OverflowError])("harm")

    def stop(self):
        raise self.any([Stop, KeyboardInterrupt, SystemExit, GeneratorExit])

    def stumble(self):
        try:
            int("x")
        except ValueError:
            pass

    def resize(self):
        for victim in self.victims:
            try:
                victim.resize(self.any([(0,), (1,), (1 << 16,)]), refcheck=False)
            except ValueError:
                pass

    def reshape(self):
        for victim in self.victims:
            try:
                if self.maybe(0.5):
                    victim.shape = self.any([(-1,), (1, -1), (-1, 1)])
                elif self.maybe(0.5):
                    victim.dtype = self.any(["u1", "V1"])
                else:
                    victim.setflags(write=self.maybe(0.5))
            except (ValueError, TypeError, AttributeError):
                pass

    def scribble(self):
        for victim in self.victims:
            if victim.flags.writeable and victim.dtype.kind in "iu" and victim.size:
                victim[...] = self.random.randrange(100)

    def empty(self):
        """Empties containers that hold an argument."""
        for victim in self.victims[-2:]:
            for holder in gc.get_referrers(victim):
                if type(holder) is list and holder is not self.victims:
                    holder.clear()

    def enter(self):
        self.reenter(self)

    # ---- Good arrays -------------------------------------------------------------------------

    def shape(self, most=4):
        return tuple(self.any([0, 1, 1, 2, 2, 3, 4, 5]) for _ in range(self.any(range(most + 1))))

    def elements(self, shape, dtype):
        """An ndarray of random bits, in one of the layouts that there are."""
        dtype = np.dtype(dtype)
        count = math.prod(shape)
        made = np.frombuffer(bytearray(self.random.randbytes(count * dtype.itemsize)), dtype, count).reshape(shape)
        if dtype.kind == "b":
            made.view("u1")[...] &= 1
        return self.layout(made)

    def layout(self, made):
        how = self.any(["plain", "owned", "owned", "fortran", "reversed", "stepped", "odd", "frozen", "subclass", "repeated"])
        if how == "owned":
            made = made.copy()
            self.victims.append(made)
        elif how == "fortran":
            made = made.copy(order="F")
        elif how == "reversed" and made.ndim:
            made = made[::-1]
        elif how == "stepped" and made.ndim:
            made = np.repeat(made, 2, axis=-1)[..., ::2]
        elif how == "odd":
            wide = np.zeros(made.shape, np.dtype([("pad", "V1"), ("it", made.dtype)]))
            wide["it"] = made
            made = wide["it"]
        elif how == "frozen":
            made.setflags(write=False)
        elif how == "subclass":
            made = made.view(type("Sub", (np.ndarray,), {}))
        elif how == "repeated" and made.ndim and made.shape[0]:
            made = np.broadcast_to(made[:1], made.shape)
        return made

    def thing(self, made):
        """The same elements as some other library's array, or our own."""
        value = Tensor(made.shape, chunks(made.tobytes(), made.dtype.itemsize))
        integers = Tensor(made.shape, [int(i) for i in made.ravel()]) if made.dtype.kind in "iu" else None
        make = self.any([None, None, None, self.as_view, self.as_array, self.as_list, self.as_capsule, self.as_producer, self.as_interface, self.as_ctypes])
        if self.victims and any(made is victim for victim in self.victims):
            make = None  # whoever else has its memory would not notice that it goes
        object = make(made) if make else None
        known = object is not None
        return Thing(object if known else made, value, integers, made.dtype.itemsize, make.__name__ if known else "ndarray", made.dtype)

    def as_view(self, made):
        try:
            return memoryview(made)
        except (ValueError, BufferError):
            return None

    def as_array(self, made):
        if made.ndim == 0 or made.dtype.kind in "SUMmVg" or not made.dtype.isnative:
            return None
        whole = garner.gather(memoryview(np.ascontiguousarray(made)), range(made.shape[0]))
        return whole[:] if self.maybe(0.5) else whole

    def as_list(self, made):
        if made.dtype.str not in ("<i8", "<f8", "|b1", "<c16") or made.size == 0 or (made.dtype.kind in "fc" and np.isnan(made).any()):
            return None
        listed = made.tolist()
        return tuple(listed) if isinstance(listed, list) and self.maybe(0.3) else listed

    def as_ctypes(self, made):
        kinds = {"i1": ctypes.c_int8, "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "u1": ctypes.c_uint8, "f8": ctypes.c_double}
        kind = kinds.get(made.dtype.str[1:]) if made.dtype.isnative else None
        if kind is None or made.ndim == 0 or made.size == 0:
            return None
        for extent in reversed(made.shape):
            kind = kind * extent
        return kind.from_buffer_copy(made.tobytes())

    def as_interface(self, made):
        names = self.any([["__array__"], ["__array_interface__"], ["__array_struct__"]])
        if made.dtype.kind in "VU" or made.size == 0:  # NumPy itself misreads the size of U in __array_struct__
            return None
        made = np.ascontiguousarray(made).reshape(made.shape)
        self.kept.append(made)

        class Other:
            if names[0] == "__array__":

                def __array__(self, dtype=None, copy=None):
                    return made

        other = Other()
        if names[0] != "__array__":
            setattr(Other, names[0], property(lambda self: getattr(made, names[0])))
            if names[0] == "__array_struct__":
                Other.__array__ = lambda self, dtype=None, copy=None: made
        return other

    def code_of(self, made):
        if made.dtype.kind not in CODES or not made.dtype.isnative or made.dtype.char in "gG":
            return None
        return CODES[made.dtype.kind], made.dtype.itemsize * 8

    def as_capsule(self, made):
        code = self.code_of(made)
        if code is None or any(stride % made.dtype.itemsize for stride in made.strides):
            return None
        self.kept.append(made)
        strides = None
        if not made.flags.c_contiguous or self.maybe(0.5):
            strides = [stride // made.dtype.itemsize for stride in made.strides]
        offset = self.any([0, 0, 8, 64])
        version = self.any([None, (1, 0), (1, 3)])
        return self.capsule(made.ctypes.data - offset, made.shape, *code, self.stumble, strides=strides, offset=offset, version=version)

    def as_producer(self, made):
        if self.code_of(made) is None:
            return None
        while (given := self.as_capsule(made)) is None:
            made = made.copy()
        return capsules.Producer(lambda: given)

    # ---- Capsules ----------------------------------------------------------------------------

    def capsule(self, address, shape, code, bits, harm, **options):
        """A capsule whose end is watched; its deleter may be absent, and `harm` is what it runs."""
        record = Capsule()
        self.capsules.append(record)

        def delete(address):
            record.deletions += 1
            if self.maybe(0.2):
                harm()

        how = self.any(["counts", "counts", "counts", "none", "leaves an error"])
        record.counts = how == "counts" and not (options.get("name") or b"").startswith(b"used_")
        leaves = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
        deleter = {"counts": lambda: capsules.Deleter(delete), "none": lambda: False, "leaves an error": lambda: capsules.Deleter(leaves)}[how]()
        ends = None
        if self.maybe(0.2):
            ends = capsules.Deleter(lambda address: harm())
        made = capsules.capsule(address, shape, code, bits, deleter=deleter, destructor=ends, **options)
        if self.maybe(0.5):
            record.object = made
        return made

    def wild_capsule(self):
        """Any fields, of which those that can be read are of memory that is there."""
        memory = ctypes.create_string_buffer(self.random.randbytes(256), 256)
        self.kept.append(memory)
        shape = [self.any([0, 1, 1, 2, 3, 4, -1, 2**31, 2**62, 2**63 - 1]) for _ in range(self.any([0, 1, 1, 2, 2, 3, 6]))]
        options = {
            "strides": self.any([None, [self.any([0, 1, 1, 2, -1, 3, 2**61, 2**62, 2**63 - 1, -(2**63)]) for _ in shape]]),
            "offset": self.any([0, 0, 0, 1, 8, 64, 2**63 - 1, 2**63, 2**64 - 1]),
            "version": self.any([None, (1, 0), (1, 9), (2, 0), (0, 0)]),
            "lanes": self.any([1] * 9 + [0, 2, 65535]),
            "device": self.any([(1, 0)] * 9 + [(2, 0), (0, 0), (-1, -1), (99, 1)]),
            "ndim": self.any([None] * 15 + [-1, 65, 2**31 - 1, -(2**31)]),
            "shape_pointer": self.maybe(0.97),
            "flags": self.any([0, 0, 1, 2, 4, 2**64 - 1]),
            "name": self.any([None] * 15 + [b"", b"dltensor", b"used_dltensor", b"x"]),
        }
        code, bits = self.any([0, 1, 2, 4, 5, 6, 0, 1, 3, 7, 9, 12, 17, 18, 77, 255]), self.any([8, 16, 32, 64, 128, 4, 2, 0, 1, 7, 255])
        if options["name"] == b"dltensor":
            options["version"] = None  # one form under the other's name is no tensor at all
        takes_minutes = 2**24 < math.prod(shape) < 2**63  # to copy, or to fill a disk with, if strides of 0 make it fit
        if takes_minutes or is_outside(shape, options["strides"], options["offset"], bits, 256):
            shape, options["offset"], options["strides"] = [self.any([0, 1, 2])], 0, None
        address = self.any([ctypes.addressof(memory)] * 9 + [None])
        return self.capsule(address, shape, code, bits, self.act, **options)

    # ---- Hostile objects ---------------------------------------------------------------------

    def good(self):
        """A small array of whatever is asked for."""
        return self.thing(self.elements(self.shape(2), self.any(INTEGERS + NUMBERS + OTHERS)))

    def hostile(self):
        """An object with some of the methods that are called, each of which does harm before it answers."""
        answers = {
            "__index__": lambda *a: self.any([0, 1, -1, 2**70, 1.5, None]),
            "__len__": lambda *a: self.any([0, 1, 2, 2**62, -1]),
            "__getitem__": lambda *a: self.any([0, 1, [1], None]),
            "__iter__": lambda *a: iter([0, 1]),
            "__float__": lambda *a: 1.0,
            "__bool__": lambda *a: self.any([True, False, 7]),
            "__repr__": lambda *a: self.any(["x", 7, "\ud800"]),
            "__str__": lambda *a: "f32",
            "__eq__": lambda *a: self.any([True, NotImplemented]),
            "__hash__": lambda *a: 1,
            "__dlpack__": lambda *a, **k: self.any([None, self.wild_capsule(), np.ones(3).__dlpack__(), self.as_capsule(np.ones(2))]),
            "__dlpack_device__": lambda *a: self.any([(1, 0), (1, 0), None, (2, 0), (1,), ("a", "b"), (1, 2**70)]),
            "__array__": lambda *a, **k: self.any([np.ones(3), None, self.elements(self.shape(2), "i8")]),
            "__array_namespace__": lambda *a, **k: self.any([np, None, garner]),
            "__buffer__": lambda *a: self.any([memoryview(b"abc"), None]),
            "detach": lambda *a: self.any([None, np.ones(2), self.hostile(), capsules.Producer(self.wild_capsule)]),
            "is_conj": lambda *a: self.any([True, False, None]),
            "is_neg": lambda *a: self.any([True, False, None]),
            "__fspath__": lambda *a: self.any(["x", b"x", 7]),
            "keys": lambda *a: ["a"],
        }
        properties = {
            "__array_interface__": lambda s: self.any([np.ones(2).__array_interface__, {}, None, {"shape": (2,), "typestr": "<f8", "version": 3}]),
            "__array_struct__": lambda s: self.any([None, 7]),
            "requires_grad": lambda s: self.any([True, True, False, 1]),
            "shape": lambda s: self.any([(1,), None]),
            "dtype": lambda s: self.any(["f4", None, np.dtype("i4")]),
            "__dlpack_c_exchange_api__": lambda s: None,
            "mask": lambda s: None,
        }

        def harmful(answer):
            def method(*arguments, **named):
                if self.maybe(0.4):
                    self.act()
                return answer(*arguments, **named)

            return method

        chosen = self.random.sample(sorted(answers), self.any([1, 2, 3, 6]))
        members = {name: harmful(answers[name]) for name in chosen}
        if members.keys() & {"__dlpack__"} and self.maybe(0.7):
            members["__dlpack_device__"] = lambda *a: (1, 0)
        if self.maybe(0.5):
            for name in self.random.sample(sorted(properties), 2):
                members[name] = property(harmful(properties[name]))
        if self.maybe(0.2):
            members["__del__"] = lambda *a: self.act()
        return type("Hostile", (self.any([object, object, object, list, int, np.ndarray, tuple]),), members)

    def instance(self):
        kind = self.hostile()
        try:
            if issubclass(kind, np.ndarray):
                return kind(self.shape(2), self.any(INTEGERS + NUMBERS))
            return kind([0, 1]) if issubclass(kind, (list, tuple)) else kind()
        except (Exception, Stop, KeyboardInterrupt, SystemExit, GeneratorExit):
            return None

    def nested(self):
        """Lists within lists, ragged or not, with hostile leaves or without any."""
        leaf = self.any([0, 1, -1, 2**70, 1.5, True, 1j, None, "x", [], self.instance(), range(2), np.int8(1), np.ones(1)])
        depth = self.any([1, 2, 3, 7, 70])
        times = self.any([1, 2, 1000]) if depth == 7 else 0  # a thousand each: far more than can be, or not very many
        for _ in range(depth):
            leaf = [leaf] * (times or self.any([1, 1, 2, 3, 30]))
            if self.maybe(0.1):
                leaf.append(self.any([0, [], leaf, self.instance()]))
        return leaf

    def garbage(self):
        return self.any([
            None, "text", "é" * 99, "\ud800", 1.5, float("nan"), 2**63, -(2**63), 2**64, 10**5000, 3j, True, b"", bytearray(b"abc"), object(), type, sys, len,
            Ellipsis, range(10**13), range(3), range(2**70), {}, {"a": 1}, set(), np.dtype("f4"), np.float32, np.zeros(0), np.array([None]), np.ma.ones(2),
            memoryview(b"abc")[::-1], array.array("u", "ab"), garner, iter([1]), self.released(), slice(None), np.array("a"), np.zeros((1,) * 60),
        ])  # fmt: skip

    def released(self):
        view = memoryview(bytearray(b"abc"))
        view.release()
        return view

    def bad(self):
        """Something that is rarely right."""
        return Thing(self.any([self.instance, self.instance, self.instance, self.nested, self.garbage, self.wild_capsule,
                               lambda: capsules.Producer(self.wild_capsule)])(), kind="bad")  # fmt: skip

    def close(self):
        """Lets go of everything; whether each capsule was consumed at most once, and as its name says."""
        self.is_over = True
        self.victims.clear()
        right = all(record.is_right() for record in self.capsules)
        self.capsules.clear()
        gc.collect()  # capsules in garbage still call into what is let go of next
        self.kept.clear()
        capsules._kept.clear()
        capsules.deleted.clear()
        return right


def chunks(flat, item):
    return [flat[i : i + item] for i in range(0, len(flat), item)]


def is_outside(shape, strides, offset, bits, size):
    """Whether a view can be addressed but leaves its memory, so that no callee can know better than to read there."""
    if any(extent < 0 for extent in shape) or math.prod(shape) > 2**63 - 1 or 0 in shape:
        return False
    low = high = 0
    for i, extent in enumerate(shape):
        step = (strides[i] if strides is not None else math.prod(shape[i + 1 :])) * (extent - 1) * bits
        low, high = low + min(step, 0), high + max(step, 0)
    low, high = low // 8 + offset, (high + bits + 7) // 8 + offset
    beyond = offset > 2**63 - 1 or high > 2**63 - 1 or low < -(2**56) or high - low > 2**63 - 1
    return (low < 0 or high > size) and not beyond
