# SPDX-License-Identifier: MIT
"""Puts garner's functions into NumPy's own test modules as they are imported.

ndarray.take is a method of a type that cannot be changed, so the tests' sources are: wherever one reads the attribute `take`
or `take_along_axis`, or imports one of them by name, it gets garner's if it would have got NumPy's.
"""

import ast
import functools
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

import numpy as np

import garner

_ROOT = Path(np.__file__).parent
NAMES = ("take", "take_along_axis")
_OWN = {name: getattr(np, name) for name in NAMES}
calls = []  # one entry for each call of garner's


def take(a, indices, axis=None, out=None, mode="raise"):
    calls.append("take")
    return garner.take(a, indices, axis, out, mode)


def take_along_axis(arr, indices, axis=-1):
    calls.append("take_along_axis")
    return garner.take_along_axis(arr, indices, axis)


def look_up(thing, name):
    """getattr, but for NumPy's functions and ndarray's own method."""
    if isinstance(thing, np.ndarray) and name == "take" and type(thing).take is np.ndarray.take:
        return functools.partial(take, thing)
    found = getattr(thing, name)
    return globals()[name] if found is _OWN[name] else found


class _PutIn(ast.NodeTransformer):
    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in NAMES or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(ast.Name("_garner_look_up", ast.Load()), [node.value, ast.Constant(node.attr)], [])
        return ast.copy_location(call, node)


def mentions(node):
    """Whether a piece of source reads one of the functions."""
    return any(getattr(part, "attr", None) in NAMES or getattr(part, "id", None) in NAMES for part in ast.walk(node))


class _Loader(SourceFileLoader):
    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = _PutIn().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module._garner_look_up = look_up
        super().exec_module(module)
        for name in NAMES:
            if getattr(module, name, None) is _OWN[name]:
                setattr(module, name, globals()[name])


class _Finder:
    """Finds NumPy's test modules before others do."""

    def find_spec(self, name, path=None, target=None):
        if not name.rpartition(".")[2].startswith("test_"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.origin and Path(spec.origin).is_relative_to(_ROOT):
            spec.loader = _Loader(name, spec.origin)
        return spec


def install():
    sys.meta_path.insert(0, _Finder())
