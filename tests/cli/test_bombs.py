# SPDX-License-Identifier: MIT
"""Small files that would ask for much: memory stays in proportion to the file."""

from protobuf import block, number

MOST = 400_000  # KiB, also with sanitizers; the files below once took gigabytes


def stays_small(peak, path):
    """Reads the model, and then finds that it has no such input."""
    code, message, memory = peak("run", path, "nothing=[1]")
    assert code == 2 and b"nothing" in message, (code, message)
    assert memory < MOST, memory


def test_repeated_producer(garner, peak, tmp_path):
    """Of fields that may stand once, the last one counts."""
    opset, graph = block(8, number(2, 13)), block(7, block(2, b"g"))
    many = b"".join(block(3, b"%08d" % i) for i in range(20000))
    (tmp_path / "m.onnx").write_bytes(number(1, 8) + block(2, b"old") + many + block(2, b"new") + opset + graph)
    stays_small(peak, "m.onnx")
    answer = garner("info", "m.onnx")
    assert answer.code == 0 and "new 00019999" in answer.text and "old" not in answer.text, answer.text[:400]
