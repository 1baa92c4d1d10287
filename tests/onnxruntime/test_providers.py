# SPDX-License-Identifier: MIT
"""Sessions that are given providers: they have garner, or the user is told that they do not."""

import warnings

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto

import garner.onnxruntime
from sessions import OURS, THEIRS, one_node, options_of, providers

MODEL = one_node("Gather", TensorProto.FLOAT, shapes=([4, 2], [3]))
BUILT_IN = "AzureExecutionProvider"  # one that is no plug-in and claims no node; every wheel has it
BY_NAME = tuple(map(int, onnxruntime.__version__.split(".")[:2])) >= (1, 25)  # the runtime finds plug-ins in providers=


def warned(make):
    """The session, and our sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = make()
    return session, [warning for warning in caught if str(warning.message).startswith("garner.onnxruntime: ")]


def test_replaced_providers_are_told():
    options = garner.onnxruntime.session_options()
    for _ in range(2):
        session, told = warned(lambda: onnxruntime.InferenceSession(MODEL, options, providers=[THEIRS]))
        assert session.get_providers() == [THEIRS]
        (warning,) = told
        assert "this session runs without garner: providers=['CPUExecutionProvider'] replaces" in str(warning.message)
        assert "session_options(providers=[...])" in str(warning.message)
        assert warning.filename == __file__  # the line that made the session


def test_replaced_later():
    session, told = warned(lambda: onnxruntime.InferenceSession(MODEL, garner.onnxruntime.session_options()))
    assert OURS in session.get_providers() and not told
    _, told = warned(lambda: session.set_providers([THEIRS]))
    assert OURS not in session.get_providers() and len(told) == 1


def test_with_options_of_the_caller():
    """Those cannot tell in our words; the runtime does in its own."""
    options = garner.onnxruntime.session_options(options_of())
    with pytest.warns(UserWarning, match="providers"):
        session = onnxruntime.InferenceSession(MODEL, options, providers=[THEIRS])
    assert providers(session) == [THEIRS]


@pytest.mark.parametrize("given", [[], [THEIRS], [OURS, THEIRS], (OURS,), [BUILT_IN], [(BUILT_IN, {}), (THEIRS, {})]])
def test_providers_given_to_us(given):
    options = garner.onnxruntime.session_options(options_of(), providers=given)
    session, told = warned(lambda: onnxruntime.InferenceSession(MODEL, options))
    assert providers(session) == [OURS] and not told
    names = [entry if isinstance(entry, str) else entry[0] for entry in given]
    assert session.get_providers() == [OURS] * (OURS not in names) + names + [THEIRS] * (THEIRS not in names)
    assert session.run(None, {"x": np.ones((4, 2), "f4"), "i": np.array([0, 1, -1])})[0].shape == (3, 2)


def test_place_in_the_list():
    """Who comes first is asked first."""
    options = garner.onnxruntime.session_options(options_of(), providers=[THEIRS, OURS])
    assert providers(onnxruntime.InferenceSession(MODEL, options)) == [THEIRS]


@pytest.mark.parametrize("least, who", [(24, OURS), (25, THEIRS)])
def test_options_in_the_list(least, who):
    options = garner.onnxruntime.session_options(options_of(), providers=[(OURS, {"min_bytes": least}), THEIRS])
    assert providers(onnxruntime.InferenceSession(MODEL, options)) == [who]


def test_given_again():
    options = garner.onnxruntime.session_options(providers=[THEIRS])
    assert garner.onnxruntime.session_options(options, providers=[THEIRS]) is options
    with pytest.raises(ValueError, match="have their providers already"):
        garner.onnxruntime.session_options(options, providers=[BUILT_IN])


def test_bad_lists():
    options = options_of()
    with pytest.raises(ValueError, match="there is no provider NoSuchExecutionProvider; this onnxruntime has .*CPUExecutionProvider"):
        garner.onnxruntime.session_options(options, providers=["NoSuchExecutionProvider"])
    with pytest.raises(ValueError, match="names one of them twice"):
        garner.onnxruntime.session_options(options, providers=[THEIRS, THEIRS])
    for bad in (THEIRS, [1], [(THEIRS,)], [(THEIRS, None)], [(1, {})]):
        with pytest.raises(TypeError, match="must be a list of names"):
            garner.onnxruntime.session_options(options, providers=bad)
    with pytest.raises(TypeError, match="there is no option max"):
        garner.onnxruntime.session_options(options, providers=[(OURS, {"max": 1})])
    assert not options.has_providers()  # nothing was added on the way
    session = onnxruntime.InferenceSession(MODEL, garner.onnxruntime.session_options(options))
    assert providers(session) == [OURS]


def test_by_name():
    """From 1.25 on the runtime finds a registered plug-in by its name; before, it falls back to its own, and says so."""
    make = lambda options: onnxruntime.InferenceSession(MODEL, options, providers=[OURS, THEIRS])  # noqa: E731
    if BY_NAME:
        assert providers(make(options_of())) == [OURS]
    session, told = warned(lambda: make(garner.onnxruntime.session_options()))
    assert (OURS in session.get_providers()) is BY_NAME
    assert len(told) == (0 if BY_NAME else 1)
