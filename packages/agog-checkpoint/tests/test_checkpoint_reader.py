"""Looking into checkpoints without objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import agog_core as ag
from agog_checkpoint import (
    Checkpoint,
    Saver,
    checkpoint_exists,
    list_variables,
    load_checkpoint,
    load_variable,
)
from agog_core.errors import DataLossError, NotFoundError
from agog_testing import says


def test_variables_of_objects(tmp_path: Path) -> None:
    values = [
        ag.Variable(np.arange(6.0).reshape(2, 3)),
        ag.Variable([1 + 2j], dtype="complex64"),
        ag.Variable(np.zeros((0, 4), np.int8)),
        ag.Variable(1.5, dtype="bfloat16"),
    ]
    path = Checkpoint(layers=values).save(tmp_path / "run")
    expected = [("layers/0", [2, 3]), ("layers/1", [1]), ("layers/2", [0, 4]), ("layers/3", []), ("save_counter", [])]
    assert list_variables(path) == list_variables(tmp_path) == list_variables(f"{path}.safetensors") == expected
    reader = load_checkpoint(tmp_path)
    assert reader.get_variable_to_shape_map() == dict(expected)
    dtypes = [ag.float64, ag.complex64, ag.int8, ag.bfloat16, ag.int64]
    assert list(reader.get_variable_to_dtype_map().values()) == dtypes
    for number, value in enumerate(values):
        loaded = load_variable(path, f"layers/{number}")
        np.testing.assert_array_equal(loaded, value.numpy())
        assert loaded.dtype == value.numpy().dtype
    assert reader.has_tensor("layers/0")
    assert not reader.has_tensor("layers")


def test_variables_by_name(tmp_path: Path) -> None:
    path = Saver([ag.Variable([1.0, 2.0], name="net/kernel"), ag.Variable(3, name="step")]).save(tmp_path / "c")
    assert list_variables(path) == [("net/kernel", [2]), ("step", [])]
    np.testing.assert_array_equal(load_variable(path, "net/kernel:0"), [1.0, 2.0])


def test_loaded_values_are_the_callers(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable([1.0, 2.0])).write(tmp_path / "c")
    reader = load_checkpoint(path)
    reader.get_tensor("v")[0] = 9.0
    np.testing.assert_array_equal(reader.get_tensor("v"), [1.0, 2.0])


def test_existence(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).write(tmp_path / "c")
    assert checkpoint_exists(path)
    assert checkpoint_exists(f"{path}.safetensors")
    assert not checkpoint_exists(tmp_path / "d")
    assert not checkpoint_exists(tmp_path)


def test_errors(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(1.0), w=ag.Variable(1.0)).write(tmp_path / "c")
    with says(NotFoundError, f"Key u not found in checkpoint '{path}'; its keys are v, w."):
        load_variable(path, "u")
    with says(NotFoundError, f"Key u not found in checkpoint '{tmp_path}/none/c'; its keys are none."):
        load_variable(Saver([]).save(tmp_path / "none" / "c"), "u")
    with says(
        ValueError,
        f"load_checkpoint: the folder '{tmp_path}' has no checkpoint; pass a folder that something was saved in, or "
        "the path of a checkpoint.",
    ):
        list_variables(tmp_path)
    with says(
        NotFoundError,
        f"Checkpoint: there is no checkpoint '{tmp_path}/d': neither '{tmp_path}/d.safetensors' nor TensorFlow's "
        f"'{tmp_path}/d.index' exists.",
    ):
        load_checkpoint(tmp_path / "d")
    content = (tmp_path / "c.safetensors").read_bytes()
    (tmp_path / "c.safetensors").write_bytes(content[:-1])
    with says(
        DataLossError,
        f"Checkpoint: the file '{path}.safetensors' is not a whole checkpoint: safetensors cannot read its "
        f"{len(content) - 1} bytes: incomplete metadata, file not fully covered. Nothing was changed; "
        "restore another checkpoint.",
    ):
        load_checkpoint(path)
