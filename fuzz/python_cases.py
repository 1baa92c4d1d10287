# SPDX-License-Identifier: MIT
"""Cases for python_calls.py: which functions are called with what, and what must hold afterwards."""

import copy
import os
import pickle
import sys

import numpy as np
import python_reference as reference
from python_things import INTEGERS, NUMBERS, OTHERS, Boom, Stop, World, chunks, small_ir

import garner
from garner import _garner

HARM = (Boom, Stop, KeyboardInterrupt, SystemExit, GeneratorExit)
# What may be raised though nobody does harm: ours, and what Python raises for arguments of no sensible type.
OURS = (garner.Error, TypeError, MemoryError)
SPECS = ["onnx-1", "onnx-11", "onnx-12", "onnx-13", "openvino-1", "openvino-5", "openvino-6", "openvino-7", "openvino-8", "onnx-99", "", 7]
OOBS = ["error", "error", "zero", "clamp", "wrap"]
MODES = ["raise", "raise", "wrap", "clip"]
WORDS = {"oob": OOBS, "mode": MODES}
SHOW = os.environ.get("GARNER_FUZZ_SHOW")


class Wrong(Exception):
    """The package did something that it must not."""


class Call:
    """A call that is about to be made. `expected`: a Tensor, a kind of Refused, or None where nothing is known."""

    def __init__(self, name, function, arguments, named=None, expected=None, things=(), check=None):
        self.name, self.function, self.arguments, self.named = name, function, arguments, named or {}
        self.expected, self.things, self.check = expected, things, check

    def __repr__(self):
        named = ", ".join(f"{key}={shown(value)}" for key, value in self.named.items())
        return f"{self.name}({', '.join(map(shown, self.arguments))}{', ' if named else ''}{named}) -> {self.expected!r}"


def references(call):
    """How many references there are to each argument that is nobody else's."""
    return [sys.getrefcount(thing.object) for thing in call.things if type(thing.object) not in (int, float, bool, type(None))]


def shown(value):
    """A value for people, without running any code of its own."""
    if type(value) is int and value.bit_length() > 100:
        return f"<int of {value.bit_length()} bits>"
    if type(value) in (int, float, str, bool, type(None)):
        return repr(value)[:80]
    if type(value) is np.ndarray:
        return f"ndarray({value.dtype}, {value.shape}, {value.strides})"
    return f"<{type(value).__name__}>"


class Cases:
    def __init__(self, folder):
        self.folder = folder
        try:
            self.model = garner.Model(small_ir.write(folder))
        except garner.BadFile:  # built without expat
            self.model = None

    def run(self, random):
        world = World(random, self.again)
        for _ in range(random.choice([1, 1, 2, 4])):
            self.one(world)
        if not world.close():
            raise Wrong("a capsule was consumed without being deleted, or deleted twice")
        garner.set_num_threads(2)

    def again(self, world):
        """A call within a call."""
        self.one(world)

    def one(self, world):
        make = world.any([self.gather, self.gather, self.gather_elements, self.gather_nd, self.take, self.take_along_axis, self.index_select,
                          self.take_along_dim, self.plan, self.save, self.load, self.run_model, self.explain, self.array, self.array, self.pickle, self.rest])  # fmt: skip
        try:
            call = make(world)
        except HARM:
            return
        if SHOW:
            print("  " * world.depth, call, file=sys.stderr, flush=True)
        self.perform(world, call)

    def perform(self, world, call):
        good = all(thing.value is not None for thing in call.things) and call.expected is not None
        # Held until the call is over: a capsule that dies as Python hands on an exception may lose it, whosever that is.
        arguments, named = tuple(call.arguments), dict(call.named)
        counts = references(call)
        before = [np.asarray(thing.object).tobytes() if good and thing.kind == "ndarray" else None for thing in call.things]
        try:
            result = call.function(*arguments, **named)
        except HARM:
            result = None
            if good:
                raise Wrong(f"harm out of nowhere: {call}") from None
        except SystemError as error:
            raise Wrong(f"{call}") from error
        except Exception as error:
            self.judge(call, error, good)
            result = None
        else:
            if good and isinstance(call.expected, type):
                raise Wrong(f"{call}: a result, and no {call.expected.__name__}")
            if good:
                compare(call, result)
            if call.check:
                call.check(result)
        result = None
        for thing, bits in zip(call.things, before):
            if bits is not None and np.asarray(thing.object).tobytes() != bits:
                raise Wrong(f"{call}: an argument was changed")
        if good and world.depth == 0 and counts != references(call):
            raise Wrong(f"{call}: references were {counts} before")

    def judge(self, call, error, good):
        """Whether an exception is one that may come."""
        if isinstance(error, garner.Error):
            text = str(error)
            if not text or "\n" in text or len(text) > 2000:
                raise Wrong(f"{call}: the sentence is {text!r}")
        if not good:
            return
        kind = call.expected
        if not isinstance(kind, type) or not isinstance(error, OURS) or (kind is reference.Outside) != isinstance(error, garner.OutOfRange):
            raise Wrong(f"{call}: {error!r}") from error

    # ---- The operators -----------------------------------------------------------------------

    def operands(self, world, rank=None):
        """Data, indices into them, and how to predict what comes of them; or things of which nothing is known."""
        if world.maybe(0.35):
            return self.any_thing(world), self.any_thing(world)
        data = world.elements(world.shape(), world.any(INTEGERS + NUMBERS + OTHERS))
        shape = world.shape(3) if rank is None else rank(data)
        most = max(data.shape, default=1) or 1
        picks = np.array([world.random.randrange(-most, most) for _ in range(int(np.prod(shape)))], object).reshape(shape)
        kind = np.dtype(world.any(INTEGERS))
        indices = np.asarray(np.abs(picks.astype("i8")) if kind.kind == "u" else picks).astype(kind)
        if world.maybe(0.1) and indices.size:
            indices.flat[world.random.randrange(indices.size)] = world.any([127, 100, 5])
        if world.maybe(0.04):
            indices = indices.astype(world.any(NUMBERS))
        return world.thing(data), world.thing(world.layout(indices))

    def any_thing(self, world):
        return world.bad() if world.maybe(0.6) else world.good()

    def option(self, world, choices):
        """One of some good values, seldom something else."""
        if world.maybe(0.04):
            return world.bad().object
        return world.any(choices)

    def expect(self, function, data, indices, **named):
        """The reference's answer; None where one of the arguments is none that it understands."""
        if data.value is None or indices.value is None:
            return None
        for key, value in named.items():
            flattens = value is None and key not in WORDS and function in (reference.take, reference.take_along_axis, reference.take_along_dim)
            understood = key in WORDS and value in WORDS[key] if type(value) is str else type(value) is int and key not in WORDS
            if not flattens and not understood:
                return None
        if indices.integers is None:
            return reference.Refused
        try:
            return function(data.value, indices.integers, data.item, **named)
        except reference.Refused as error:
            return type(error)

    def out(self, world, data, expected):
        """An array for the result, of its shape or of another one; and what is then expected."""
        if not isinstance(expected, reference.Tensor) or data.dtype is None or data.kind != "ndarray" or world.maybe(0.2):
            return world.any([world.bad().object, None]), None
        made = world.elements(expected.shape, data.dtype)
        same = made.flags.writeable and 0 not in made.strides and type(made) is np.ndarray and made.flags.aligned
        return made, expected if same else None

    def operator(self, world, name, function, rank=None, **options):
        data, indices = self.operands(world, rank)
        named = {key: self.option(world, values) for key, values in options.items() if world.maybe(0.7)}
        known = {key: value for key, value in named.items() if value is not None or key != "oob"}
        expected = self.expect(function, data, indices, **known)
        extra = {}
        if world.maybe(0.15):
            extra = {"spec": self.option(world, SPECS), "strict": self.option(world, [True, False])}
            expected = None
        if world.maybe(0.2):
            extra["threads"] = self.option(world, [1, 2, 3])
            expected = expected if type(extra["threads"]) is int and extra["threads"] > 0 else None
        if world.maybe(0.2):
            extra["out"], expected = self.out(world, data, expected)
        return Call(name, getattr(garner, name), [data.object, indices.object], named | extra, expected, [data, indices])

    def gather(self, world):
        return self.operator(world, "gather", reference.gather, axis=[0, 0, 1, -1, 2, -3, 7], batch_dims=[0, 0, 0, 1, 2], oob=OOBS)

    def gather_elements(self, world):
        def rank(data):
            return tuple(max(n + world.any([0, 0, 0, -1]), 0) for n in data.shape) if world.maybe(0.9) else world.shape(3)

        return self.operator(world, "gather_elements", reference.gather_elements, rank, axis=[0, 0, 1, -1, 5], oob=OOBS)

    def gather_nd(self, world):
        def rank(data):
            return (*data.shape[: world.any([0, 0, 1])], *world.shape(2), world.any([1, 1, 2, 3, 0]))

        return self.operator(world, "gather_nd", reference.gather_nd, rank, batch_dims=[0, 0, 1, 2], oob=OOBS)

    def named(self, world, name, function, rank=None, **options):
        """One of the functions of NumPy's and torch's names."""
        data, indices = self.operands(world, rank)
        named = {key: self.option(world, values) for key, values in options.items()}
        return Call(name, getattr(garner, name), [data.object, indices.object], named, self.expect(function, data, indices, **named), [data, indices])

    def take(self, world):
        call = self.named(world, "take", reference.take, axis=[None, None, 0, 1, -1, 4], mode=MODES)
        if world.maybe(0.2):
            call.named["out"], call.expected = self.out(world, call.things[0], call.expected)
        return call

    def along(self, world):
        def rank(data):
            return tuple(world.any([n, n, 1, 2]) for n in data.shape) if world.maybe(0.8) else world.shape(2)

        return rank

    def take_along_axis(self, world):
        return self.named(world, "take_along_axis", reference.take_along_axis, self.along(world), axis=[0, -1, 1, None, 3])

    def take_along_dim(self, world):
        return self.named(world, "take_along_dim", reference.take_along_dim, self.along(world), dim=[0, -1, 1, None, 3])

    def index_select(self, world):
        call = self.named(world, "index_select", reference.index_select, lambda data: world.shape(1), dim=[0, 0, 1, -1])
        call.arguments, call.named = [call.arguments[0], call.named["dim"], call.arguments[1]], {}
        return call

    # ---- Everything else ---------------------------------------------------------------------

    def plan(self, world):
        data, indices = self.operands(world)
        shapes = [thing.value.shape if thing.value else self.any_thing(world).object for thing in (data, indices)]
        types = [thing.dtype if thing.dtype is not None and world.maybe(0.9) else world.any(["f32", "nope", None, world.bad().object]) for thing in (data, indices)]

        def use(**named):
            plan = garner.Plan("gather", *shapes, dtype=types[0], index_dtype=types[1], **named)
            repr(plan)
            return plan(data=data.object, indices=indices.object) if world.maybe(0.5) else plan(data.object, indices.object)

        return Call("Plan", use, [], {"axis": self.option(world, [0, 1])}, None, [data, indices])

    def save(self, world):
        suffix = world.any([".npy", ".npz", ".safetensors", ".pb", ".txt"])
        path = os.path.join(self.folder, "saved" + suffix)
        things = [self.any_thing(world) for _ in range(world.any([1, 2, 3]))]
        several = world.maybe(0.5)
        given = {world.any(["a", "b", "c", "é", "x\0", "\ud800", 7]): thing.object for thing in things} if several else things[0].object

        def check(unused):
            read = garner.load(path, copy=world.maybe(0.5))
            if isinstance(read, garner.Tensors):
                for name in read:
                    read[name].nbytes
            changes = any(things[0].object is victim for victim in world.victims)
            if not several and not changes and things[0].value is not None and suffix == ".npy" and things[0].dtype.isnative:
                compare(Call("save", None, [], expected=things[0].value), read)

        return Call("save", garner.save, [path if world.maybe(0.95) else world.bad().object, given], {}, None, things, check)

    def load(self, world):
        """A file that was saved, with some bytes changed."""
        path = os.path.join(self.folder, "good" + world.any([".npy", ".npz", ".safetensors", ".pb"]))
        made = np.ascontiguousarray(world.elements(world.shape(3), world.any(["i8", "f4", "u1", "?"])))
        garner.save(path, {"a": made, "b": [1, 2]} if path.endswith(("z", "s")) else made)
        with open(path, "rb") as file:
            content = bytearray(file.read())
        for _ in range(world.any([0, 1, 1, 3])):
            if content:
                content[world.random.randrange(min(len(content), 200))] = world.random.randrange(256)
        damaged = path.replace("good", "damaged")
        with open(damaged, "wb") as file:
            file.write(content[: world.any([None, None, -1, 20])])

        def check(read):
            try:
                for array in read.values() if isinstance(read, garner.Tensors) else [read]:
                    repr(array)
            except garner.BadFile:
                pass

        return Call("load", garner.load, [damaged], {"copy": world.maybe(0.5)}, None, [], check)

    def run_model(self, world):
        if self.model is None:
            return self.gather(world)
        x = world.elements((world.any([0, 1, 2, 5]), 3), world.any(["f4", "f4", ">f4", "f8"]))
        things = [world.thing(x), world.thing(world.elements((2,), world.any(["i8", "i8", "i4"])))]
        if world.maybe(0.4):
            things[world.any([0, 1])] = self.any_thing(world)
        given = dict(zip(["x", world.any(["i", "i", "i", "j", 7])], [thing.object for thing in things]))
        return Call("run", self.model.run, [given], {}, None, things)

    def explain(self, world):
        data, indices = self.operands(world)
        op = self.option(world, ["gather", "gather_elements", "gather-nd"])

        def check(drawing):
            str(drawing)
            drawing._repr_svg_()

        return Call("explain", garner.explain, [op, data.object, indices.object], {"axis": self.option(world, [0, 1])}, None, [data, indices], check)

    def array(self, world):
        """What can be done with an Array."""
        made = world.elements(world.shape(3), world.any(INTEGERS + NUMBERS + OTHERS))
        try:
            whole = garner.gather(memoryview(made), range(made.shape[0] if made.ndim else 1))
        except (ValueError, BufferError, garner.Error):
            whole = garner.gather([[1, 2], [3, 4]], [1, 0])
        for _ in range(world.any([0, 1, 2])):
            keys = [slice(None, None, -1), slice(1, None, 2), slice(2**62, None), slice(None, None, 2**62), slice(None, None, -(2**63)), 0, -1, slice(0, 0)]
            try:
                whole = whole[world.any(keys)]
            except (garner.Error, TypeError):
                pass
            if not isinstance(whole, garner.Array):
                return self.rest(world)
        other = world.any([self.any_thing(world).object, whole, made])

        def use():
            world.any([
                whole.tolist, whole.tobytes, lambda: repr(whole), lambda: len(whole), lambda: list(whole), lambda: memoryview(whole).tolist(),
                lambda: np.asarray(whole), lambda: copy.copy(whole), lambda: pickle.loads(pickle.dumps(whole)), lambda: whole == other, lambda: whole != other,
                lambda: bool(whole), lambda: whole[other], lambda: whole.__dlpack__(max_version=other), lambda: whole.__dlpack__(copy=other),
                lambda: whole.__dlpack__(dl_device=other), lambda: garner.gather(whole.__dlpack__(max_version=(1, 0)), [0]), lambda: np.from_dlpack(whole),
                lambda: memoryview(whole) == memoryview(whole), lambda: whole.__array__(world.any(["f4", "V3", "no type", None])), lambda: hash(whole),
            ])()  # fmt: skip

        return Call("Array", use, [], {}, None, [])

    def pickle(self, world):
        """A pickle of an Array with some of its parts changed, and what readers of the Array make of it."""
        parts = [bytes(range(16)), "i64", 0, (2,), "q", None]
        others = [[b"", bytes(8)], ["opaque", "f32", "bf16", "u4", "str", 7, "c64"], [1, 8, 16, 2**63, -1, None], [(), (16,), (1, 2), (-2,), (2**62, 4), [2], ("a",)],
                  ["O", "d", ">q", "T{O:a:}", "T{<i:a::<O:b:}", "8x", "c", "P", "", None, "\ud800", "Zf"], ["'<M8[s]'", "'|O'", "[('a','<i4')]", "x", 7]]  # fmt: skip
        for at in world.random.sample(range(6), world.any([0, 1, 2, 3])):
            parts[at] = world.any(others[at])

        def check(made):
            for read in (lambda: memoryview(made).tolist(), lambda: np.asarray(made).tolist(), made.tolist, made.tobytes, lambda: repr(made)):
                try:
                    read()
                except (TypeError, ValueError, BufferError, NotImplementedError, RuntimeError, garner.Error, ModuleNotFoundError):
                    pass

        return Call("pickle", _garner._array_of_bytes, parts, {}, None, [], check)

    def rest(self, world):
        bad = world.bad()
        return world.any([
            lambda: Call("set_num_threads", garner.set_num_threads, [self.option(world, [1, 2, 300, 0, -1, 2**70])]),
            lambda: Call("get_num_threads", garner.get_num_threads, []),
            lambda: Call("cpu_info", garner.cpu_info, []),
            lambda: Call("gather", garner.gather, [bad.object]),
            lambda: Call("gather", garner.gather, [bad.object] * 3, {"axis": 0}),
            lambda: Call("gather", garner.gather, [bad.object, bad.object], {world.any(["x", "\ud800", "oob"]): bad.object}, None, [bad]),
            lambda: Call("load", garner.load, [bad.object]),
            lambda: Call("Model", garner.Model, [bad.object]),
            lambda: Call("Array", garner.Array, [bad.object]),
        ])()  # fmt: skip




def bits_of_scalar(scalar, dtype):
    """An array of a NumPy scalar, which is of this machine's byte order, without arithmetic on its bits."""
    if dtype.kind not in "iufcbMm":
        return np.array(scalar, dtype)
    native = np.frombuffer(scalar.tobytes(), dtype.newbyteorder("=")).reshape(())
    return native if dtype.isnative else native.byteswap()


def compare(call, result):
    """Whether a result has the elements that it should have."""
    expected = call.expected
    item = len(expected.elements[0]) if expected.elements else 1
    if isinstance(result, np.generic):
        result = bits_of_scalar(result, call.things[0].dtype)
    if tuple(result.shape) != expected.shape or (expected.elements and chunks(result.tobytes(), item) != expected.elements):
        raise Wrong(f"{call}: {result!r}, and not {expected.shape} {expected.elements}")
