# SPDX-License-Identifier: MIT
"""What the package offers, by name and signature; its documentation; its command."""

import ast
import doctest
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import garner

SIGNATURES = {
    "gather": "(data, indices, axis=0, batch_dims=0, *, spec=None, strict=False, oob=None, out=None, threads=None)",
    "gather_elements": "(data, indices, axis=0, *, spec=None, strict=False, oob=None, out=None, threads=None)",
    "gather_nd": "(data, indices, batch_dims=0, *, spec=None, strict=False, oob=None, out=None, threads=None)",
    "take": "(x, indices, axis=None, out=None, mode='raise')",
    "take_along_axis": "(x, indices, axis=-1)",
    "index_select": "(input, dim, index, *, out=None)",
    "take_along_dim": "(input, indices, dim=None, *, out=None)",
    "Plan": "(op, data_shape, indices_shape, *, dtype='f32', index_dtype='i64', axis=0, batch_dims=0, spec=None, "
    "strict=False, oob=None)",
    "load": "(path, *, copy=False, follow_links=False)",
    "save": "(path, array_or_mapping)",
    "Model": "(path)",
    "explain": "(op, data, indices, axis=0, batch_dims=0, *, spec=None, strict=False, oob=None)",
    "get_num_threads": "()",
    "set_num_threads": "(n)",
    "cpu_info": "()",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    assert str(inspect.signature(getattr(garner, name))) == SIGNATURES[name]


def test_signature_of_a_plan():
    plan = garner.Plan("gather", [3], [2], dtype="i64")
    assert str(inspect.signature(plan)) == str(inspect.signature(plan.__call__)) == "(data, indices, out=None, threads=None)"
    assert str(inspect.signature(garner.Plan)) == SIGNATURES["Plan"]
    assert plan.__call__([5, 6, 7], indices=[2, 0]).tolist() == plan([5, 6, 7], indices=[2, 0]).tolist() == [7, 5]


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_are_those_of_the_signature(name):
    """Each parameter is known by its name, an unknown one is not, and too many are too many."""
    function = getattr(garner, name)
    parameters = inspect.signature(function).parameters.values()
    for parameter in parameters:
        with pytest.raises(Exception) as caught:
            function(**{parameter.name: object()})
        assert "unexpected keyword" not in str(caught.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        function(nonsense=1)
    places = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    with pytest.raises(TypeError, match="positional argument"):
        function(*[0] * (places + 1))


def test_everything_says_that_it_is_garner_s():
    for name in garner.__all__:
        thing = getattr(garner, name)
        if not isinstance(thing, (str, dict)):
            assert thing.__module__ == "garner", name
            assert thing.__doc__, name
            assert pickle.loads(pickle.dumps(thing)) is thing


def test_docstring_examples():
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    with_examples = set()
    for name in ["garner", *garner.__all__]:
        thing = garner if name == "garner" else getattr(garner, name)
        for test in finder.find(thing, name, globs={}, module=False):
            if test.examples:
                with_examples.add(name)
            runner.run(test)
    assert runner.failures == 0
    needed = {name for name in garner.__all__ if callable(getattr(garner, name))}
    needed -= {"Tensors", "Port", "Drawing"}  # made by load, Model and explain, and shown there
    needed -= {name for name in needed if inspect.isclass(getattr(garner, name)) and issubclass(getattr(garner, name), BaseException)}
    assert needed <= with_examples


def test_stubs_have_what_the_package_has():
    stub = Path(garner.__file__).with_name("__init__.pyi")
    tree = ast.parse(stub.read_text())
    named = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {node.target.id: node for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert set(garner.__all__) <= set(named)
    for name, node in named.items():
        if name in SIGNATURES and isinstance(node, ast.FunctionDef):
            given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            assert [a.arg for a in given] == list(inspect.signature(getattr(garner, name)).parameters)


def test_exceptions_are_those_that_people_catch():
    for kind, built_in in [(garner.OutOfRange, IndexError), (garner.BadShape, ValueError), (garner.BadType, TypeError),
                           (garner.BadFile, ValueError), (garner.BadSpec, ValueError)]:  # fmt: skip
        assert issubclass(kind, garner.Error) and issubclass(kind, built_in)
    blank = garner.Error("x")
    assert [getattr(blank, name) for name in "status axis position coordinates value bound".split()] == [None] * 6


def test_errors_survive_pickling():
    with pytest.raises(garner.OutOfRange) as caught:
        garner.gather([1, 2], [0, 5])
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is garner.OutOfRange and again.value == 5 and again.coordinates == (1,)


def test_cuda():
    """A module that is imported when it is asked for; its examples need no GPU."""
    assert garner.cuda.__all__ == ["available", "deferred"]
    assert str(inspect.signature(garner.cuda.available)) == "() -> bool" and str(inspect.signature(garner.cuda.deferred)) == "() -> None"
    assert str(inspect.signature(garner.cuda.deferred.check)) == "(self) -> None"
    result = doctest.testmod(garner.cuda, extraglobs={"garner": garner})
    assert result.attempted >= 3 and result.failed == 0


def test_version_is_the_package_s():
    from importlib import metadata

    try:
        installed = metadata.version("garner-ops")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed, only on the path")
    assert garner.__version__ == installed


def test_import_brings_no_numpy_along():
    code = "import sys, garner; garner.gather(b'abc', [0]); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_command():
    from importlib import metadata

    try:
        metadata.version("garner-ops")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed, only on the path")
    said = subprocess.run([sys.executable, "-m", "garner", "gather", "[1,2,3]", "[2,0]"], capture_output=True, text=True)
    assert (said.stdout, said.returncode) == ("[3,1]\n", 0)
    said = subprocess.run([sys.executable, "-m", "garner", "--version"], capture_output=True, text=True)
    assert garner.__version__ in said.stdout


def test_threads_setting():
    before = garner.get_num_threads()
    try:
        garner.set_num_threads(3)
        assert garner.get_num_threads() == 3
        for bad in (0, -1, None):
            with pytest.raises(ValueError):
                garner.set_num_threads(bad)
        with pytest.raises(TypeError):
            garner.set_num_threads("2")
        assert garner.get_num_threads() == 3
    finally:
        garner.set_num_threads(before)


def test_threads_from_the_environment():
    code = "import garner; print(garner.get_num_threads())"
    for text, meant in [("5", "5"), ("1000", "256")]:
        said = subprocess.run([sys.executable, "-c", code], env=os.environ | {"GARNER_NUM_THREADS": text, "PYTHONPATH": ":".join(sys.path)},
                              capture_output=True, text=True)  # fmt: skip
        assert said.stdout.strip() == meant
