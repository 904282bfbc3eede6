"""Checkpoints of TensorFlow where programs name variables: `Saver`, readers, and the file ``checkpoint``."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from bundles.tensors import PARTS, SECOND, same

from agog_checkpoint import (
    CheckpointWarning,
    Saver,
    SessionSaver,
    checkpoint_exists,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
    restore_variables_on_create,
)
from agog_core import Variable
from agog_core.errors import NotFoundError
from agog_testing import says

FILES = Path(__file__).parent / "files"
LAYERS = FILES / "layers"
_KERNELS = ["dense/kernel", "dense_1/kernel"]


def test_a_reader_reads_tensorflow_s_checkpoints() -> None:
    reader = load_checkpoint(FILES / "v2.ckpt")
    expected = SECOND | PARTS
    assert reader.get_variable_to_shape_map() == {name: list(expected[name].shape) for name in sorted(expected)}
    assert reader.get_variable_to_dtype_map()["kind/bfloat16"].name == "bfloat16"
    assert reader.get_variable_to_dtype_map()["texts"].name == "string"
    assert all(same(reader.get_tensor(name), value) for name, value in expected.items())
    assert reader.has_tensor("rows")
    assert not reader.has_tensor("row")
    with says(NotFoundError, f"Key w not found in checkpoint {str(LAYERS / 'model.ckpt-3')!r}; its keys are {_NAMES}."):
        load_checkpoint(LAYERS).get_tensor("w")
    for each in ("saved_model_1", "saved_model_2/variables/variables"):
        (name,) = (name for name, shape in list_variables(FILES / each) if shape == [2])
        np.testing.assert_array_equal(load_variable(FILES / each, name), [1.0, 2.0])


_NAMES = (
    "beta1_power, beta2_power, dense/bias, dense/bias/Adam, dense/bias/Adam_1, dense/kernel, dense/kernel/Adam, "
    "dense/kernel/Adam_1, dense_1/bias, dense_1/bias/Adam, dense_1/bias/Adam_1, dense_1/kernel, dense_1/kernel/Adam, "
    "dense_1/kernel/Adam_1, global_step"
)


def _variables(prefix: str = "") -> list[Variable]:
    return [
        Variable(np.zeros(shape, np.float32), name=prefix + name) for name, shape in list_variables(LAYERS) if shape
    ]


@pytest.mark.parametrize("prefix", ["", "sequential/", "outer/model/"])
def test_saver_restores_by_names_and_by_names_in_other_scopes(prefix: str) -> None:
    path = latest_checkpoint(LAYERS)
    assert path == str(LAYERS / "model.ckpt-3")
    variables = _variables(prefix)
    step = Variable(0, name="global_step", dtype="int64")
    Saver([*variables, step]).restore(path)
    assert step.numpy() == 3
    for variable in variables:
        expected = load_variable(LAYERS, variable.name.removeprefix(prefix))
        np.testing.assert_array_equal(variable.numpy(), expected)
        assert expected.any()


def test_session_saver_takes_a_session_and_a_dict() -> None:
    kernel = Variable(np.zeros((4, 8), np.float32), name="anything")
    SessionSaver({"dense/kernel": kernel}).restore(None, str(LAYERS / "model.ckpt-3"))
    np.testing.assert_array_equal(kernel.numpy(), load_variable(LAYERS, "dense/kernel"))
    # Names in a dict are those of the file.
    with says(NotFoundError, f"Saver.restore: Key m/dense/kernel not found in checkpoint; its keys are {_NAMES}."):
        SessionSaver({"m/dense/kernel": kernel}).restore(None, str(LAYERS / "model.ckpt-3"))


def test_a_number_of_more_bits_takes_one_of_fewer_and_no_other() -> None:
    power = Variable(0.0, name="beta1_power", dtype="float64")
    Saver([power]).restore(LAYERS / "model.ckpt-3")
    assert power.numpy() == np.float64(load_variable(LAYERS, "beta1_power"))
    half = Variable(np.zeros((), np.float16), name="beta1_power")
    with says(
        ValueError,
        "Saver.restore: Dtypes float16 and float32 are incompatible: variable 'beta1_power:0' has the first, "
        "'beta1_power' in the checkpoint the second.",
    ):
        Saver([half]).restore(LAYERS / "model.ckpt-3")


def test_names_that_may_be_several_are_an_error_that_lists_them(tmp_path: Path) -> None:
    pytest.importorskip("google_crc32c")
    from agog_checkpoint.tensorflow.writer import write_checkpoint

    one = np.ones(1, np.float32)
    path = str(tmp_path / "m.ckpt")
    write_checkpoint(path, dict.fromkeys(("a/dense/kernel", "b/dense/kernel", "c/bias", "head/w"), one))

    def restore(*names: str) -> None:
        variables = [Variable(np.zeros(1, np.float32), name=name) for name in names]
        Saver(variables).restore(path)
        assert all(variable.numpy() == 1 for variable in variables)

    restore("a/dense/kernel", "model/b/dense/kernel")
    restore("a/dense/kernel", "dense/kernel")  # the other one is taken
    with says(
        NotFoundError,
        "Saver.restore: Key dense/kernel not found in checkpoint; those that end alike are a/dense/kernel, "
        "b/dense/kernel: pass a dict from names in the checkpoint to variables.",
    ):
        restore("dense/kernel")
    with says(
        NotFoundError,
        "Saver.restore: Key c/dense/kernel not found in checkpoint; those that end alike are a/dense/kernel, "
        "b/dense/kernel: pass a dict from names in the checkpoint to variables.",
    ):
        restore("c/dense/kernel")
    with says(
        NotFoundError,
        "Saver.restore: several variables would get c/bias of the checkpoint: x/c/bias, y/c/bias; pass a dict from "
        "names in the checkpoint to variables.",
    ):
        restore("x/c/bias", "y/c/bias")
    # One part alone says too little.
    names = "a/dense/kernel, b/dense/kernel, c/bias, head/w"
    with says(NotFoundError, f"Saver.restore: Key w not found in checkpoint; its keys are {names}."):
        restore("w")


def test_variables_of_objects_are_found_by_their_full_names() -> None:
    kernel, bias = Variable(np.zeros(2, np.float32), name="dense/kernel"), Variable([0.0], name="net/dense/bias")
    Saver([kernel, bias]).restore(FILES / "objects")
    assert kernel.numpy().tolist() == [1.0, 2.0]
    assert bias.numpy().tolist() == [3.0]
    names = "_CHECKPOINTABLE_OBJECT_GRAPH, c/.ATTRIBUTES/VARIABLE_VALUE, d/.ATTRIBUTES/VARIABLE_VALUE, net/dense/bias, "
    with says(NotFoundError, f"Saver.restore: Key same not found in checkpoint; its keys are {names}net/dense/kernel."):
        Saver([Variable(0, name="same")]).restore(FILES / "objects")
    keys = [f"{key}/.ATTRIBUTES/VARIABLE_VALUE" for key in "abcd"]
    assert [name for name, _ in list_variables(FILES / "objects")] == ["_CHECKPOINTABLE_OBJECT_GRAPH", *keys]


def test_variables_take_values_as_they_are_made() -> None:
    with restore_variables_on_create(str(LAYERS / "model.ckpt-3"), lambda name: name.replace("first", "dense")):
        kernel = Variable(np.zeros((4, 8), np.float32), name="first/kernel")
        np.testing.assert_array_equal(kernel.numpy(), load_variable(LAYERS, "dense/kernel"))
        with pytest.raises(NotFoundError, match="Key dense/kernel not found"):
            Variable(np.zeros((4, 8), np.float32), name="first/kernel")


def test_the_list_that_tensorflow_writes_is_read(tmp_path: Path) -> None:
    for file in LAYERS.iterdir():
        shutil.copy(file, tmp_path / file.name.replace("model", "größe"))
    name = r"gr\303\266\303\237e.ckpt-3"  # as TensorFlow escapes it
    (tmp_path / "sub").mkdir()
    (tmp_path / "checkpoint").write_text(
        f'model_checkpoint_path: "{name}"\n'
        'all_model_checkpoint_paths: "sub/model.ckpt-1"\n'
        f'all_model_checkpoint_paths: "{LAYERS}/model.ckpt-3"\n'
        f'all_model_checkpoint_paths: "{name}"\n'
        "all_model_checkpoint_timestamps: 1600000000.5\n"
        "all_model_checkpoint_timestamps: 1600000001.5\n"
        "all_model_checkpoint_timestamps: 1600000002.5\n"
        "last_preserved_timestamp: 1600000000.25\n"
    )
    path = str(tmp_path / "größe.ckpt-3")
    assert latest_checkpoint(tmp_path) == path
    state = get_checkpoint_state(tmp_path)
    assert state is not None
    assert state.model_checkpoint_path == path
    assert state.all_model_checkpoint_paths == [f"{tmp_path}/sub/model.ckpt-1", str(LAYERS / "model.ckpt-3"), path]
    assert state.last_preserved_timestamp == 1600000000.25
    assert checkpoint_exists(path)
    assert get_checkpoint_mtimes([path, tmp_path / "no"]) == [Path(f"{path}.index").stat().st_mtime]
    Path(f"{path}.index").unlink()
    with pytest.warns(CheckpointWarning, match="nor TensorFlow"):
        assert latest_checkpoint(tmp_path) is None
    assert not checkpoint_exists(path)
