# SPDX-License-Identifier: MIT
"""A whole model inside OpenVINO: which of its gathers garner took, what they cost, what comes out."""

from ..peers import Way
from ..runtimes import openvino as base
from . import stored
from .layers import Layer

GRAPH = stored.IR
OPERATORS = ("Gather", "GatherElements", "GatherND")


def _read(task, side):
    """The model, and the names of what the extension took of it."""
    model = base.cores[side].read_model(task.model)
    return model, {node.get_friendly_name() for node in model.get_ops() if node.get_type_name().startswith(base.OUR_TYPES)}


def claimed(task, threads):
    """The gathers that the extension took, and that compiling neither folded away nor gave back."""
    model, names = _read(task, "garner")
    types = base.layer_types(base.compile_model(model, base.cores["garner"], threads, task.dtype))
    return {name for name in names if types.get(name) == base.OUR_LAYER}


def way(task, side, threads):
    request = base.open_request(task, side, threads)
    base.bind(request, task.feeds)
    outputs = request.model_outputs
    names = [output.get_any_name() for output in outputs]
    fetch = lambda _: {name: request.get_tensor(output).data.copy() for name, output in zip(names, outputs)}  # noqa: E731
    return Way("infer", lambda: request.infer(share_outputs=True), fetch, request)


class Profile(base.Profile):
    """All gathers of the graph, each on the side where it ran. Those that the runtime makes when it compiles the model have
    another name each time; they are counted in the order in which they run."""

    def __init__(self, task, side, threads):
        super().__init__(task, side, threads)
        model, self._ours = _read(task, side)
        self._given = {node.get_friendly_name() for node in model.get_ops()}

    def begin_run(self):
        super().begin_run()
        self._first = None

    def begin_block(self):
        if not self._first:
            self._first = self._totals()

    def end_block(self):
        """Nothing: the counters are means in whole microseconds, so that blocks one by one would each be wrong by more than
        all of them together."""

    def _named(self, infos):
        """The gathers among the layers, by names that stay."""
        made = 0
        for info in infos:
            is_garner = info.node_type == base.OUR_LAYER and info.node_name in self._ours
            if info.node_type in OPERATORS or is_garner:
                made += info.node_name not in self._given
                yield info.node_name if info.node_name in self._given else f"made by OpenVINO, {made}", info, is_garner

    def end_run(self):
        (first, start), (last, end) = self._first, self._totals()
        run = {}
        for name, info, is_garner in self._named(self._request.profiling_info):
            spent = max(base.LEAST_TIME, (last[info.node_name] - first[info.node_name]) / (end - start))
            run[name] = ("" if is_garner else info.node_type, is_garner, spent)
        self._runs.append(run)

    def finish(self):
        """A Layer for each gather, by name."""
        return {name: Layer(what, is_garner, [run[name][2] for run in self._runs if name in run])
                for name, (what, is_garner, _) in self._runs[0].items()}  # fmt: skip
