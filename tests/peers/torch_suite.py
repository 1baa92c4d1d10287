# SPDX-License-Identifier: MIT
"""The samples that torch's own tests call its gathers with (OpInfo), given to torch and to garner.

Every type that torch has the function for on the CPU, as they are, not contiguous, and with an out. What differs must be what
docs/torch.md lists as differences on purpose, no more and no less.
"""

import sys
import warnings

import torch
from differences import compare, listed

warnings.simplefilter("ignore")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

import garner  # noqa: E402

OURS = {
    "gather": lambda input, dim, index, sparse_grad=False, out=None: garner.gather_elements(input, index, dim, out=out),
    "index_select": garner.index_select,
    "take": lambda input, index, out=None: garner.take(input, index, None, out),
    "take_along_dim": garner.take_along_dim,
    "nn.functional.embedding": lambda weight, index, **gradients: garner.gather(weight, index),
}
FEWEST = 500  # calls: fewer would mean that samples were not found
REFUSALS = (IndexError, ValueError, TypeError, RuntimeError)


def shown(value):
    """An argument for a name: of tensors the shape, of others than int64 and the data's type also that."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    return str(tuple(value.shape)) + ("" if value.dtype in (torch.int64, torch.float32) else f":{value.dtype}".replace("torch.", ""))


def name_of(function, sample):
    """Without the data's type: the samples of all types are the same."""
    rest = [shown(a) for a in sample.args] + [f"{k}={shown(v)}" for k, v in sample.kwargs.items()]
    return f"{function}({tuple(sample.input.shape)}, {', '.join(rest)})"


def outcome(call):
    """What comes back; or that it is refused, and how."""
    try:
        return call(), ""
    except REFUSALS as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0]}"


def same(ours, theirs):
    """Type, shape and bits."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    return torch.equal(ours.contiguous().reshape(-1).view(torch.uint8), theirs.contiguous().reshape(-1).view(torch.uint8)) if ours.numel() else True


def difference(op, sample, given_out):
    """How the answers differ; None if they do not."""
    arguments, options = (sample.input, *sample.args), dict(sample.kwargs)
    theirs, their_refusal = outcome(lambda: op(*arguments, **options))
    if given_out and theirs is not None:
        options["out"] = torch.empty_like(theirs)
    ours, our_refusal = outcome(lambda: OURS[op.name](*arguments, **options))
    if theirs is None or ours is None:
        return None if theirs is ours else f"torch: {their_refusal or 'answers'}; garner: {our_refusal or 'answers'}"
    return None if same(ours, theirs) else f"torch {theirs.dtype} {tuple(theirs.shape)}, garner {ours.dtype} {tuple(ours.shape)}, or other values"


def samples(op):
    """Each with whether it is called with an out."""
    takes_out = op.supports_out and op.name != "nn.functional.embedding"
    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
            if sample.kwargs.get("max_norm") is not None:
                continue  # which writes to the weights first
            yield sample, False
            yield sample.noncontiguous(), False
            if takes_out:
                yield sample, True
    if op.error_inputs_func:
        for error in op.error_inputs("cpu"):
            if "out" not in error.sample_input.kwargs:
                yield error.sample_input, False


def main():
    met, ran, calls = {}, set(), 0
    torch.manual_seed(0)
    for op in op_db:
        if op.name not in OURS or op.variant_test_name:
            continue
        for sample, given_out in samples(op):
            name, calls = name_of(op.name, sample), calls + 1
            ran.add(name)
            found = difference(op, sample, given_out)
            if found:
                met[name] = found
    print(f"torch {torch.__version__}: {calls} calls of {len(ran)} samples of {', '.join(OURS)}")
    if calls < FEWEST:
        sys.exit(f"only {calls} calls, and there should be at least {FEWEST}")
    sys.exit(compare(met, ran, listed("torch.md", "torch's sample"), "docs/torch.md"))


if __name__ == "__main__":
    main()
