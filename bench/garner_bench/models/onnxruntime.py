# SPDX-License-Identifier: MIT
"""A whole model inside ONNX Runtime: which of its gathers garner took, what they cost, what comes out."""

from ..peers import Way
from ..runtimes import onnxruntime as base
from ..stats import median
from . import stored
from .layers import Layer

GRAPH = stored.ONNX
ELEMENTS = {"float": "f32", "float16": "f16", "double": "f64", "int64": "i64", "int32": "i32", "uint8": "u8"}


def claimed(task, threads):
    """The gathers that garner's side gives to garner, by the session's own word."""
    parts = base.open_session(str(task.model), "garner", threads).get_provider_graph_assignment_info()
    ours = [part for part in parts if part.ep_name == base.PROVIDERS["garner"]]
    return {node.name for part in ours for node in part.get_nodes() if node.op_type in base.OPERATORS}


def way(task, side, threads):
    """Inputs bound to memory of ours; outputs where the runtime makes them, whose extents may depend on the data."""
    session = base.open_session(str(task.model), side, threads)
    binding = session.io_binding()
    for name, array in task.feeds.items():
        binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    for out in session.get_outputs():
        binding.bind_output(out.name, "cpu")
    names = [out.name for out in session.get_outputs()]
    fetch = lambda _: dict(zip(names, binding.copy_outputs_to_cpu()))  # noqa: E731
    return Way("run_with_iobinding", lambda: session.run_with_iobinding(binding), fetch, (session, binding))


def _shape(told):
    ((kind, extents),) = told.items()
    return f"{ELEMENTS.get(kind, kind)}{extents}".replace(" ", "")


class Profile(base.Profile):
    """All gathers of the graph, each on the side where it ran."""

    _open = staticmethod(lambda model, *rest, **changes: base.open_session(str(model), *rest, **changes))

    def __init__(self, *given):
        super().__init__(*given)
        self._seen = {}

    def _check(self, name, told):
        if told["op_name"] in base.OPERATORS and name not in self._seen:
            what = f"{told['op_name']} {' by '.join(map(_shape, told['input_type_shape']))}"
            self._seen[name] = what, self._side == "garner" and told["provider"] == base.PROVIDERS["garner"]

    def finish(self):
        """A Layer for each gather, by name."""
        calls = self._each_call()
        numbers = {name: [median([calls[n].get(name, 0.0) for n in run]) for run in self._runs] for name in self._seen}
        return {name: Layer(what, is_garner, numbers[name]) for name, (what, is_garner) in self._seen.items()}
