"""Restores of TensorFlow's checkpoints: later objects, what does not match, and what is left out."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from networks import MODELS, inputs_of

import agog as tf
from agog_checkpoint.warning import CheckpointWarning

FILES = Path(__file__).parent / "files"
SEQUENTIAL = FILES / "keras2-sequential-adam"
NESTED = FILES / "keras2-nested-weights"


@pytest.fixture(autouse=True)
def _no_restore_waits_on() -> Iterator[None]:
    yield
    gc.collect()


def expected(name: str, key: str = "before") -> Any:
    with np.load(FILES / f"{name}.npz") as file:
        return file[key]


def made(name: str, built: bool = True) -> tuple[Any, Any]:
    network = name.split("-")[1]
    model, x = MODELS[network][0](tf.keras), tf.constant(inputs_of(network))
    if built:
        model(x, training=False)
    return model, x


def step(model: Any, optimizer: Any, x: Any) -> None:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=False) - 1.0) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(list(zip(gradients, model.trainable_variables, strict=True)))


@pytest.mark.parametrize(
    "name", ["keras2-sequential-adam", "keras3-lstm-sgd", "keras2-subclassed-sgd", "keras3-with_input-amsgrad"]
)
def test_variables_and_slots_that_come_later_are_restored(name: str) -> None:
    model, x = made(name, built=False)
    optimizer = {
        "adam": lambda: tf.keras.optimizers.Adam(0.01),
        "amsgrad": lambda: tf.keras.optimizers.Adam(0.01, amsgrad=True),
        "sgd": lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9),
    }[name.split("-")[2]]()
    checkpoint = tf.train.Checkpoint(model=model)
    status = checkpoint.restore(FILES / name)
    checkpoint.optimizer = optimizer
    checkpoint.step = tf.Variable(0, dtype=tf.int64)
    np.testing.assert_allclose(model(x, training=False), expected(name), rtol=1e-6, atol=1e-6)
    step(model, optimizer, x)
    np.testing.assert_allclose(model(x, training=False), expected(name, "after"), rtol=1e-6, atol=1e-6)
    assert (int(checkpoint.step), int(optimizer.iterations)) == (3, 4)
    status.expect_partial()


def test_hyperparameters_are_those_of_the_checkpoint() -> None:
    model, _ = made("keras2-sequential-adam")
    optimizer = tf.keras.optimizers.Adam(0.5)
    tf.train.Checkpoint(model=model, optimizer=optimizer).restore(SEQUENTIAL).expect_partial()
    assert optimizer.learning_rate == 0.01
    rate = tf.Variable(0.5)
    tf.train.Checkpoint(optimizer=tf.keras.optimizers.Adam(rate)).restore(SEQUENTIAL).expect_partial()
    assert rate.numpy() == np.float32(0.01)


def test_one_message_lists_what_does_not_match_on_both_sides() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(4,))])
    checkpoint = tf.train.Checkpoint(model=model, other=tf.Variable(1.0))
    status = checkpoint.restore(SEQUENTIAL)
    with pytest.raises(AssertionError) as error:
        status.assert_consumed()
    lines = str(error.value).splitlines()
    assert lines[0] == f"assert_consumed: checkpoint {str(SEQUENTIAL)!r} and the program's objects do not match."
    assert lines[1].startswith("  values in the file without an object (13): optimizer/.state, step, ")
    assert "model/layer_with_weights-1/kernel" in lines[1]
    assert lines[2] == "  objects without a value in the file (1): other"
    with pytest.raises(AssertionError, match=r"objects without a value in the file \(1\): other"):
        status.assert_existing_objects_matched()


def test_another_shape_is_an_error_and_nothing_changes() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(5,)), tf.keras.layers.Dense(3)])
    before = [variable.numpy() for variable in model.variables]
    with pytest.raises(ValueError, match="Shapes") as error:
        tf.train.Checkpoint(model=model).restore(SEQUENTIAL)
    assert str(error.value) == (
        f"Checkpoint {str(SEQUENTIAL)!r} does not fit the program's objects; nothing was changed.\n  "
        "'model/layer_with_weights-0/kernel': Shapes (5, 4) and (4, 4) are incompatible: variable "
        f"{model.variables[0].name!r} has the first, the checkpoint the second"
    )
    assert all((one == other.numpy()).all() for one, other in zip(before, model.variables, strict=True))


@pytest.mark.parametrize("name", ["keras2-sequential-adam", "keras3-with_input-amsgrad"])
def test_parts_are_chosen_by_the_paths_of_the_program(name: str) -> None:
    model, _ = made(name)
    path = FILES / name
    before = [variable.numpy() for variable in model.variables]
    only = tf.train.Checkpoint(model=model).restore(path, only="model/layers/2/kernel")
    only.expect_partial()
    changed = [(one != other.numpy()).any() for one, other in zip(before, model.variables, strict=True)]
    assert changed == [False, False, True, False]


def test_parts_are_moved_from_the_paths_of_the_file() -> None:
    layer = tf.keras.layers.Dense(3)
    layer(tf.zeros([1, 4]))
    moved = tf.train.Checkpoint(head=layer).restore(SEQUENTIAL, mapping={"head": "model/layer_with_weights-1"})
    moved.expect_partial().assert_existing_objects_matched()
    kernel = tf.train.load_variable(SEQUENTIAL, "model/layer_with_weights-1/kernel/.ATTRIBUTES/VARIABLE_VALUE")
    assert (layer.kernel.numpy() == kernel).all()


def test_what_is_no_number_is_named_and_left_out() -> None:
    step_ = tf.Variable(0)
    with pytest.warns(CheckpointWarning) as warned:
        status = tf.train.Checkpoint(step=step_).restore(FILES / "state")
    assert [str(each.message) for each in warned] == [
        f"Checkpoint {str(FILES / 'state')!r} has what agog cannot take over, and leaves out: "
        "'iterator/.ATTRIBUTES/ITERATOR', 'table/.ATTRIBUTES/table', 'text/.ATTRIBUTES/VARIABLE_VALUE'."
    ]
    assert Path(warned[0].filename).name == Path(__file__).name
    status.assert_consumed()
    assert int(step_) == 5


@pytest.mark.parametrize("scope", ["", "net/"])
def test_a_checkpoint_by_names_gives_variables_and_slots_their_values(scope: str) -> None:
    kernel = tf.Variable(tf.zeros([2, 2]), name=f"{scope}dense/kernel")
    counter = tf.Variable(0, dtype=tf.int64, name="global_step")
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.apply_gradients([(tf.zeros([2, 2]), kernel)])
    checkpoint = tf.train.Checkpoint(kernel=kernel, optimizer=optimizer, counter=counter)
    checkpoint.restore(FILES / "by_names").assert_consumed()
    # The first step of Adam moves each number by the learning rate.
    np.testing.assert_allclose(kernel, [[0.9, 1.9], [2.9, 3.9]], rtol=1e-6)
    np.testing.assert_allclose(optimizer.get_slot(kernel, "m"), [[0.2, 0.4], [0.6, 0.8]], rtol=1e-6)
    assert int(counter) == 1
    status = tf.train.Checkpoint(other=tf.Variable(1.0)).restore(FILES / "by_names").expect_partial()
    with pytest.raises(AssertionError, match=r"objects without a value in the file \(1\): other"):
        status.assert_existing_objects_matched()


def test_load_weights_by_name_is_refused() -> None:
    model, _ = made("keras2-nested-weights")
    with pytest.raises(NotImplementedError) as error:
        model.load_weights(NESTED, by_name=True)
    assert str(error.value) == (
        f"load_weights: {str(NESTED)!r} is a checkpoint of TensorFlow, which has layers by their places in the model, "
        "so that by_name must be False; got by_name=True. A file that TensorFlow writes as HDF5 has their names."
    )


@pytest.mark.parametrize("name", ["keras2-sequential-adam", "keras3-lstm-sgd"])
def test_load_weights_reads_the_checkpoint_of_a_group_before_the_model_is_built(name: str) -> None:
    model, x = made(name, built=False)
    model.load_weights(FILES / name).expect_partial()
    np.testing.assert_allclose(model(x, training=False), expected(name), rtol=1e-6, atol=1e-6)


def test_a_manager_takes_over_the_folder_of_tensorflow(tmp_path: Path) -> None:
    for file in FILES.glob("keras2-sequential-adam.*"):
        shutil.copy(file, tmp_path / f"ckpt-7{file.suffix}")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-7"\nall_model_checkpoint_paths: "ckpt-7"\n')
    model, x = made("keras2-sequential-adam")
    optimizer = tf.keras.optimizers.Adam(0.01)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0, dtype=tf.int64))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-7")
    np.testing.assert_allclose(model(x, training=False), expected("keras2-sequential-adam"), rtol=1e-6, atol=1e-6)
    manager.save()
    assert (tmp_path / "ckpt-7.index").exists()
