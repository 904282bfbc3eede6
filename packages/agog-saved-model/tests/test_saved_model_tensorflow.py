"""Folders of TensorFlow: variables by parts of objects or by names; functions are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("google_crc32c", reason="reads checksums of TensorFlow's checkpoints")

from agog_checkpoint.tensorflow.checkpoint import OBJECT_GRAPH
from agog_checkpoint.tensorflow.writer import write_checkpoint
from agog_core.errors import DataLossError, UnimplementedError
from agog_saved_model import contains_saved_model, load
from agog_testing import says

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def field(number: int, content: bytes | int) -> bytes:
    """A field of a message of protocol buffers."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def part(number: int, name: str) -> bytes:
    return field(1, field(1, number) + field(2, name.encode()))


def variable(name: str, key: str) -> bytes:
    return field(2, field(1, b"VARIABLE_VALUE") + field(2, name.encode()) + field(3, key.encode()))


def folder(tmp_path: Path, tensors: dict[str, np.ndarray]) -> Path:
    made = tmp_path / "model"
    (made / "variables").mkdir(parents=True)
    (made / "saved_model.pb").write_bytes(b"")
    write_checkpoint(str(made / "variables" / "variables"), tensors)
    return made


def test_variables_by_names(tmp_path: Path) -> None:
    made = folder(tmp_path, {"net/dense/kernel": np.ones((2, 3), "f"), "step": np.array(7)})
    assert contains_saved_model(made)
    loaded = load(made)
    assert loaded.net.dense.kernel.numpy().tolist() == [[1.0] * 3] * 2
    assert [each.name for each in loaded.variables] == ["net/dense/kernel:0", "step:0"]
    text = (
        f"saved_model.load: TensorFlow has written {str(made)!r}, and agog runs none of its functions; the "
        "variables are there (net/dense/kernel:0, step:0): make the model in Python, and assign them."
    )
    with says(UnimplementedError, text):
        loaded.signatures["serving_default"]
    with says(UnimplementedError, text):
        loaded(1.0)


def test_variables_by_objects(tmp_path: Path) -> None:
    graph = b"".join(
        field(1, node)
        for node in (
            part(1, "parts") + part(2, "w"),
            part(2, "0") + part(3, "1"),
            variable("w", f"w{VALUE}"),
            variable("", f"parts/1{VALUE}"),
        )
    )
    text = np.empty((), object)
    text[()] = graph
    tensors = {f"w{VALUE}": np.array([1.0, 2.0], "f"), f"parts/1{VALUE}": np.array(3), OBJECT_GRAPH: text}
    loaded = load(folder(tmp_path, tensors))
    assert loaded.parts[0] is loaded.w
    assert (loaded.w.name, loaded.parts[1].name, int(loaded.parts[1])) == ("w:0", "parts/1:0", 3)


def test_a_damaged_object_graph(tmp_path: Path) -> None:
    text = np.empty((), object)
    text[()] = field(1, part(9, "w"))
    made = folder(tmp_path, {OBJECT_GRAPH: text})
    with pytest.raises(DataLossError, match=r"saved_model.load: the object graph in .* is damaged"):
        load(made)
