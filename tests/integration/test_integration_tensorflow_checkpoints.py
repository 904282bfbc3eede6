"""Checkpoints of TensorFlow in programs and on the command line: the files of agog-checkpoint's tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import agog as tf
import agog.eager as tfe
from agog.__main__ import main

FILES = Path(__file__).parents[2] / "packages/agog-checkpoint/tests/bundles/files"
LAYERS = FILES / "layers"
OPTIMIZERS = {
    "Adadelta": tf.train.AdadeltaOptimizer(0.1),
    "Adagrad": tf.train.AdagradOptimizer(0.1),
    "Adam": tf.train.AdamOptimizer(0.1),
    "Ftrl": tf.train.FtrlOptimizer(0.1),
    "Momentum": tf.train.MomentumOptimizer(0.1, 0.9),
    "RMSProp": tf.train.RMSPropOptimizer(0.1),
    "CenteredRMSProp": tf.train.RMSPropOptimizer(0.1, centered=True),
}


@pytest.fixture
def values() -> dict[str, Any]:
    """The inputs and outputs of the model in the files, and its weights after one more step, as TensorFlow had them."""
    with np.load(LAYERS / "values.npz") as file:
        return dict(file)


def _step(model: Any, optimizer: Any, inputs: Any, step: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(inputs) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables, strict=True), step)


@pytest.mark.parametrize("kind", [tf.train.Saver, tfe.Saver])
def test_a_training_of_tensorflow_goes_on(values: dict[str, Any], kind: Any) -> None:
    model = tf.keras.Sequential(
        [tf.layers.Dense(8, activation=tf.nn.relu, name="dense"), tf.layers.Dense(3, name="dense_1")]
    )
    optimizer = tf.train.AdamOptimizer(0.01)
    step = tf.Variable(0, dtype=tf.int64, name="global_step")
    inputs = tf.constant(values["inputs"])
    _step(model, optimizer, inputs, step)  # makes the slots
    path = tf.train.latest_checkpoint(str(LAYERS))
    kind([*model.variables, *optimizer.variables(), step]).restore(*[None] * (kind is tf.train.Saver), path)
    assert int(step) == 3
    np.testing.assert_allclose(model(inputs).numpy(), values["outputs"], rtol=1e-6, atol=1e-6)
    _step(model, optimizer, inputs, step)
    for variable in model.variables:
        expected = values[f"after/{variable.name.split('/', 1)[1].removesuffix(':0')}"]
        np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots_have_tensorflow_s_names_and_values(name: str) -> None:
    variable = tf.Variable([1.0, 1.0], name=f"{name}/w")
    optimizer = OPTIMIZERS[name]
    optimizer.apply_gradients([(tf.constant([2.0, 2.0]), variable)])
    after = {each: each.numpy() for each in (variable, *optimizer.variables())}
    for each in after:
        each.assign(np.zeros(each.shape))
    tf.train.Saver(list(after)).restore(None, str(FILES / "slots.ckpt"))
    for each, expected in after.items():
        np.testing.assert_allclose(each.numpy(), expected, rtol=2e-5, atol=1e-14)


def test_initial_values_by_scopes(values: dict[str, Any]) -> None:
    store = tfe.EagerVariableStore()
    inputs = tf.constant(values["inputs"])

    def network() -> Any:
        with tf.variable_scope("net"):
            hidden = tf.layers.dense(inputs, 8, activation=tf.nn.relu, name="first")
            return tf.layers.dense(hidden, 3, name="second")

    with store.as_default():
        network()
        scopes = {"dense/": "net/first/", "dense_1/": "net/second/"}
        tf.train.init_from_checkpoint(str(LAYERS), scopes)
        np.testing.assert_allclose(network().numpy(), values["outputs"], rtol=1e-6, atol=1e-6)
        keys = ", ".join(sorted(tf.train.load_checkpoint(str(LAYERS)).get_variable_to_shape_map()))
        with pytest.raises(ValueError, match="is not in checkpoint") as error:
            tf.train.init_from_checkpoint(str(LAYERS), {"/": "net/"})
        assert str(error.value) == (
            f"init_from_checkpoint: tensor 'first/kernel' is not in checkpoint {str(LAYERS)!r}; its keys are {keys}."
        )


def test_agog_run_of_a_program_of_tensorflow_1(tmp_path: Path, values: dict[str, Any]) -> None:
    program = tmp_path / "old.py"
    program.write_text(
        "import sys\n"
        "import numpy as np\n"
        "import tensorflow as tf\n"
        "tf.enable_eager_execution()\n"
        "dense, dense_1 = tf.layers.Dense(8, activation=tf.nn.relu), tf.layers.Dense(3)\n"
        "x = tf.constant(np.load(sys.argv[1] + '/values.npz')['inputs'])\n"
        "dense_1(dense(x))\n"
        "path = tf.train.latest_checkpoint(sys.argv[1])\n"
        "assert tf.train.checkpoint_exists(path)\n"
        "print(tf.contrib.framework.list_variables(path)[2])\n"
        "tf.train.Saver(dense.variables + dense_1.variables).restore(None, path)\n"
        "np.save(sys.argv[2], dense_1(dense(x)).numpy())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "agog", "run", program, LAYERS, tmp_path / "y.npy"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "('dense/bias', [8])\n"
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), values["outputs"], rtol=1e-6, atol=1e-6)


def ckpt(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["ckpt", *map(str, arguments)])


def test_show_verify_ls(tmp_path: Path) -> None:
    result = ckpt("show", LAYERS)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"{LAYERS}/model.ckpt-3: 15 variables, 820 B"
    assert lines[7:11] == [
        "    kernel  float32 [4, 8] 128 B",
        "      Adam  float32 [4, 8] 128 B",
        "      Adam_1  float32 [4, 8] 128 B",
        "  dense_1",
    ]
    shown = ckpt("show", FILES / "v1.ckpt").output
    assert "  text  string [] 3 B\n  texts  string [2, 2] 318 B\n" in shown
    shutil.copytree(LAYERS, tmp_path / "run")
    shutil.copy(FILES / "v1.ckpt", tmp_path / "run")
    data = tmp_path / "run/model.ckpt-3.data-00000-of-00001"
    result = ckpt("verify", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert (
        result.output == f"{tmp_path}/run/model.ckpt-3: whole, 15 tensors\n{tmp_path}/run/v1.ckpt: whole, 17 tensors\n"
    )
    raw = bytearray(data.read_bytes())
    raw[100] ^= 4
    data.write_bytes(raw)
    result = ckpt("verify", f"{tmp_path}/run/model.ckpt-3.index")
    assert result.exit_code == 1
    assert result.output == (
        f"{tmp_path}/run/model.ckpt-3: DAMAGED\n"
        f"  TensorFlow checkpoint: the file '{data}' is damaged in tensor 'dense/bias/Adam_1': its bytes have another "
        "checksum than was written.\n"
        "Error: 1 of 1 checkpoint cannot be restored.\n"
    )
    rows = [line.split() for line in ckpt("ls", tmp_path / "run").output.splitlines()[1:]]
    size = (LAYERS / "model.ckpt-3.index").stat().st_size + len(raw)
    assert [(row[0], row[-1]) for row in rows] == [("model.ckpt-3", "newest"), ("v1.ckpt", rows[1][-1])]
    assert rows[0][2:4] == [f"{size / 1000:.3g}", "kB"]


def test_diff_of_tensorflow_s_checkpoints() -> None:
    result = ckpt("diff", FILES / "v1.ckpt", FILES / "v2_sharded.ckpt")
    assert result.exit_code == 1
    only = f"only in {FILES}/v2_sharded.ckpt"
    assert result.output == "".join(
        f"kind/{x}: {only}, {x} [3, 4]\n" for x in ("bfloat16", "uint16", "uint32", "uint64")
    )
    assert ckpt("diff", FILES / "v2.ckpt", FILES / "v2_sharded.ckpt").output == (
        "21 tensors and all other state are the same.\n"
    )


def test_convert_and_back(tmp_path: Path) -> None:
    result = ckpt("convert", LAYERS, tmp_path / "new.safetensors")
    assert (result.exit_code, result.output) == (0, f"{tmp_path}/new.safetensors: 15 tensors\n")
    result = ckpt("convert", tmp_path / "new.safetensors", tmp_path / "back.ckpt")
    assert (result.exit_code, result.output) == (0, f"{tmp_path}/back.ckpt: 15 tensors\n")
    for other in ("new", "back.ckpt"):
        assert ckpt("diff", LAYERS, tmp_path / other).output == "15 tensors and all other state are the same.\n"
    assert _data(tmp_path / "back.ckpt") == _data(LAYERS / "model.ckpt-3")
    kernel = tf.Variable(np.zeros((4, 8), np.float32), name="dense/kernel")
    tf.train.Saver([kernel]).restore(None, str(tmp_path / "new"))
    np.testing.assert_array_equal(kernel.numpy(), tf.train.load_variable(str(LAYERS), "dense/kernel"))

    result = ckpt("convert", FILES / "v2.ckpt", tmp_path / "all", "--json")
    assert json.loads(result.output) == {
        "written": f"{tmp_path}/all.safetensors",
        "tensors": 19,
        "left out": {"text": "it holds texts", "texts": "it holds texts"},
    }
    result = ckpt("convert", tmp_path / "new", tmp_path / "other.safetensors")
    assert (result.exit_code, result.output) == (
        1,
        f"Error: '{tmp_path}/new' is a checkpoint of agog already; name one of TensorFlow, as m.ckpt.\n",
    )


def _data(prefix: Path) -> bytes:
    return Path(f"{prefix}.data-00000-of-00001").read_bytes()


def test_convert_of_an_object_graph_takes_the_names_of_variables(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.layers.Dense(3), tf.layers.Dense(1)])
    optimizer = tf.train.AdamOptimizer(0.01)
    step = tf.Variable(0, dtype=tf.int64, name="global_step")
    _step(model, optimizer, tf.ones([2, 4]), step)
    position = tfe.Iterator(tf.data.Dataset.range(3))
    path = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step, batches=position).save(str(tmp_path / "c"))
    scope = model.variables[0].name.split("/")[0]
    result = ckpt("convert", path, tmp_path / "tf/model.ckpt", "--strip", f"{scope}/")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[1:] == ["  left out batches/.state: it is in no variable"]
    names = dict(tf.train.list_variables(str(tmp_path / "tf/model.ckpt")))
    layers = sorted({name.split("/")[0] for name in names if name.startswith("dense")})
    slots = [
        f"{layer}/{kind}{slot}" for layer in layers for kind in ("bias", "kernel") for slot in ("", "/Adam", "/Adam_1")
    ]
    assert list(names) == sorted([*slots, "beta1_power", "beta2_power", "global_step", "save_counter"])
    assert tf.train.load_variable(str(tmp_path / "tf/model.ckpt"), "beta1_power").dtype == np.float32
    tf.train.Saver(model.variables).restore(None, str(tmp_path / "tf/model.ckpt"))


def test_nothing_of_it_is_imported_unless_it_is_used(tmp_path: Path) -> None:
    code = (
        "import sys, agog as tf\n"
        "v = tf.Variable(1.0, name='v')\n"
        f"path = tf.train.Saver([v]).save(None, {str(tmp_path / 'm')!r})\n"
        "tf.train.Saver([v]).restore(None, tf.train.latest_checkpoint(sys.argv[1]))\n"
        "print([name for name in sys.modules if 'agog_checkpoint.tensorflow' in name or 'crc32c' in name])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "[]\n"
