# SPDX-License-Identifier: MIT
"""Exports the architectures: torch to ONNX, ONNX to IR, then without weights into a folder each. What cannot be exported is
named, and the others are."""

import contextlib
import io
import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

import onnx
import openvino
import torch

from ..peers import one_line
from ..table import size
from . import architectures, stored, strip

OPSET = 18
MOST_BYTES = 50 << 20  # that all of them may take


def _shapes(architecture):
    """The open axes, in the form of the arguments of `forward`: those behind a star are one tuple."""
    left = [{axis: torch.export.Dim.AUTO for axis in feed.open} for feed in architecture.feeds]
    flags = architecture.module.forward.__code__
    named = flags.co_argcount - 1  # less self
    return tuple(left[:named]) + ((tuple(left[named:]),) if flags.co_flags & 4 else ())


def _captured(architecture, path):
    """By the exporter that reads the program."""
    feeds = architecture.feeds
    made = torch.onnx.export(architecture.module, tuple(feed.example for feed in feeds), dynamo=True, opset_version=OPSET,
                             dynamic_shapes=_shapes(architecture), input_names=[feed.name for feed in feeds],
                             output_names=architecture.outputs, verbose=False)  # fmt: skip
    onnx.save(made.model_proto, path)


def _traced(architecture, path):
    """By the one that watches it run."""
    feeds = architecture.feeds
    axes = {feed.name: feed.open for feed in feeds if feed.open}
    torch.onnx.export(architecture.module, tuple(feed.example for feed in feeds), path, dynamo=False, opset_version=17,
                      dynamic_axes=axes, input_names=[feed.name for feed in feeds], output_names=architecture.outputs)  # fmt: skip


def _export_onnx(architecture, path):
    """The way that works, by name; raises what the last one raised."""
    ways = {"captured": _captured, "traced": _traced}
    for name in reversed(ways) if architecture.traced else ways:
        try:
            with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
                ways[name](architecture, str(path))
            return name
        except Exception as error:  # an exporter raises whatever it likes
            failed = error
    raise failed


def _feed(feed):
    return {"name": feed.name, "dtype": str(feed.example.dtype).removeprefix("torch."), "shape": list(feed.example.shape),
            "draw": feed.draw, "below": feed.below}  # fmt: skip


def export(name, folder, order=0):
    """One architecture; the stored model."""
    torch.manual_seed(order + 1)
    architecture = architectures.ALL[name]()
    architecture.module.eval()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model.onnx"
        way = _export_onnx(architecture, path)
        ir = path.with_suffix(".xml")
        openvino.save_model(openvino.convert_model(path), ir, compress_to_fp16=False)
        about = {"name": name, "order": order, "exporter": f"torch {torch.__version__.split('+')[0]}, {way}",
                 "feeds": [_feed(feed) for feed in architecture.feeds]}  # fmt: skip
        return strip.store(path, ir, about, Path(folder) / name)


def export_all(names, folder):
    """How many failed."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    failed, total = [], 0
    for name in names:
        begin = time.perf_counter()
        try:
            made = export(name, folder, list(architectures.ALL).index(name))
        except Exception as error:
            failed.append(name)
            print(f"bench-models: FAILED: {name} could not be exported: {one_line(error)}", file=sys.stderr, flush=True)
            continue
        total += stored.size(made)
        said = f"{name}: {size(stored.size(made))}, {made.about['exporter']}, {time.perf_counter() - begin:.0f} s"
        print(said, file=sys.stderr, flush=True)
    print(f"{len(names) - len(failed)} models, {size(total)}" + (f"; FAILED: {', '.join(failed)}" if failed else ""))
    if total > MOST_BYTES:
        print(f"bench-models: that is more than {size(MOST_BYTES)}", file=sys.stderr)
    return bool(failed) or total > MOST_BYTES
