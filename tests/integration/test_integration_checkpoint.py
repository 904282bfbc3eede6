"""Checkpoints of models, optimizers and iterators: a training that is resumed is the one that was never stopped."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import agog as tf
import agog.eager as tfe
from agog_core.checkpointable import listeners
from agog_layers.metrics import Mean


class Classifier(tf.keras.Model):
    """Layers in an attribute and in a list; they are built by the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.first = tf.layers.Dense(8, activation=tf.nn.relu)
        self.blocks = [tf.layers.Dense(8, activation=tf.nn.tanh), tf.layers.Dense(4, activation=tf.nn.relu)]
        self.last = tf.layers.Dense(3)

    def call(self, x: Any) -> Any:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def sequential() -> Any:
    return tf.keras.Sequential([tf.layers.Dense(8, activation=tf.nn.relu), tf.layers.Flatten(), tf.layers.Dense(3)])


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: tf.train.AdamOptimizer(0.05),
    "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
    "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.05),
}


class Training:
    """A training whose whole state is in one checkpoint."""

    def __init__(self, model: Callable[[], Any], optimizer: str, seed: int) -> None:
        tf.set_random_seed(seed)
        numbers = np.random.default_rng(0)
        x = numbers.standard_normal((40, 5)).astype(np.float32)
        y = numbers.integers(0, 3, 40)
        self.model = model()
        self.optimizer = OPTIMIZERS[optimizer]()
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.examples = tfe.Iterator(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(40, seed=7).repeat().batch(6))
        self.checkpoint = tf.train.Checkpoint(
            model=self.model, optimizer=self.optimizer, step=self.step, examples=self.examples
        )

    def train(self, steps: int) -> list[float]:
        losses = []
        for _ in range(steps):
            x, y = next(self.examples)
            with tf.GradientTape() as tape:
                loss = tf.losses.sparse_softmax_cross_entropy(y, self.model(x))
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True), self.step)
            losses.append(float(loss))
        return losses

    def bits(self, folder: Path) -> dict[str, bytes]:
        path = self.checkpoint.write(folder / "bits")
        return {key: value.tobytes() for key, value in load_file(path + ".safetensors").items()}


@pytest.mark.parametrize("model", [Classifier, sequential])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_resumed_training_is_the_one_that_was_never_stopped(
    tmp_path: Path, model: Callable[[], Any], optimizer: str
) -> None:
    whole = Training(model, optimizer, seed=1)
    before = whole.train(5)
    path = whole.checkpoint.save(tmp_path / "ckpt")
    losses = whole.train(7)
    resumed = Training(model, optimizer, seed=2)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    status = resumed.checkpoint.restore(path)
    # The layers, the slots and the powers of Adam's betas are made by the first step.
    assert resumed.train(7) == losses
    assert losses != before
    status.assert_consumed()
    assert int(resumed.step) == 12
    whole_bits, resumed_bits = whole.bits(tmp_path), resumed.bits(tmp_path)
    assert resumed_bits == whole_bits
    slots = {"adam": 2, "momentum": 1, "gradient descent": 0}[optimizer]
    variables = len(whole.model.variables)
    assert sum("/.slot/" in key for key in whole_bits) == slots * variables
    assert listeners == []


def test_a_training_that_has_begun_is_set_back(tmp_path: Path) -> None:
    training = Training(Classifier, "adam", seed=1)
    training.train(5)
    path = training.checkpoint.save(tmp_path / "ckpt")
    losses = training.train(3)
    training.checkpoint.restore(path).assert_consumed()
    assert training.train(3) == losses


def test_keys_are_the_attributes_names(tmp_path: Path) -> None:
    training = Training(Classifier, "adam", seed=1)
    training.train(1)
    layers = ["first", "blocks/0", "blocks/1", "last"]
    weights = [f"model/{layer}/{weight}" for layer in layers for weight in ("kernel", "bias")]
    slots = [f"optimizer/.slot/{slot}/{weight}" for slot in ("m", "v") for weight in weights]
    assert sorted(training.bits(tmp_path)) == sorted(
        ["step", "optimizer/beta1_power", "optimizer/beta2_power", *weights, *slots]
    )


def test_slots_of_another_model_are_left_out(tmp_path: Path) -> None:
    optimizer, models = tf.train.MomentumOptimizer(0.1, 0.9), [sequential(), sequential()]
    for model in models:
        optimizer.minimize(lambda model=model: tf.reduce_mean(model(np.ones((2, 5), np.float32))))
    path = tf.train.Checkpoint(model=models[0], optimizer=optimizer).write(tmp_path / "a")
    keys = load_file(path + ".safetensors").keys()
    assert len(keys) == 8
    assert sum(key.startswith("optimizer/.slot/momentum/model/") for key in keys) == 4


def test_the_model_of_a_training_is_restored_alone(tmp_path: Path) -> None:
    training = Training(Classifier, "adam", seed=1)
    training.train(3)
    path = training.checkpoint.save(tmp_path / "ckpt")
    x = np.ones((2, 5), np.float32)
    model = Classifier()
    tf.train.Checkpoint(model=model).restore(path)
    gc.collect()
    with pytest.warns(UserWarning, match="no object of the program has asked for.*optimizer/beta1_power"):
        y = model(x)
    np.testing.assert_array_equal(y.numpy(), training.model(x).numpy())


def test_a_model_of_other_sizes_is_refused(tmp_path: Path) -> None:
    x = np.ones((2, 5), np.float32)
    saved, built = tf.layers.Dense(3), tf.layers.Dense(4)
    saved(x)
    path = tf.train.Checkpoint(model=saved).write(tmp_path / "a")
    before = built(x).numpy()
    message = r"'model/kernel': Shapes \(5, 4\) and \(5, 3\) are incompatible"
    with pytest.raises(ValueError, match=message):
        tf.train.Checkpoint(model=built).restore(path)
    np.testing.assert_array_equal(built(x).numpy(), before)
    checkpoint = tf.train.Checkpoint(model=tf.layers.Dense(4))
    status = checkpoint.restore(path)
    with pytest.raises(ValueError, match=message):
        checkpoint.model(x)
    with pytest.raises(AssertionError, match="without an object"):
        status.assert_consumed()


def test_metrics_are_restored_when_they_are_built(tmp_path: Path) -> None:
    mean = Mean()
    mean([1.0, 2.0, 6.0])
    path = tf.train.Checkpoint(mean=mean).write(tmp_path / "a")
    other = Mean()
    status = tf.train.Checkpoint(mean=other).restore(path)
    other([11.0])
    status.assert_consumed()
    assert float(other.result()) == 5.0


def test_a_network_tracks_its_layers(tmp_path: Path) -> None:
    class Net(tfe.Network):
        def __init__(self) -> None:
            super().__init__()
            self.dense = self.track_layer(tf.layers.Dense(3))

        def call(self, x: Any) -> Any:
            return self.dense(x)

    x = np.ones((2, 5), np.float32)
    net, other = Net(), Net()
    y = net(x)
    path = tf.train.Checkpoint(net=net).write(tmp_path / "a")
    status = tf.train.Checkpoint(net=other).restore(path)
    np.testing.assert_array_equal(other(x).numpy(), y.numpy())
    status.assert_consumed()


def test_a_training_that_is_killed_is_resumed_in_another_process(tmp_path: Path) -> None:
    program = f"""
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("training", {__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules["training"] = module
spec.loader.exec_module(module)
from pathlib import Path
folder = Path({str(tmp_path)!r})
training = module.Training(module.Classifier, "adam", seed=int(sys.argv[1]))
last = module.tf.train.latest_checkpoint(str(folder))
if last:
    training.checkpoint.restore(last)
while int(training.step) < 6:
    training.train(1)
    training.checkpoint.save(folder / "ckpt")
    if int(training.step) == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
"""
    for seed, killed_at in ((1, 2), (2, 3), (3, 0)):
        result = subprocess.run([sys.executable, "-c", program, str(seed), str(killed_at)], check=False)
        assert result.returncode == (-9 if killed_at else 0)
    whole = Training(Classifier, "adam", seed=1)
    whole.train(6)
    resumed = Training(Classifier, "adam", seed=4)
    status = resumed.checkpoint.restore(tmp_path / "ckpt-6")
    assert resumed.train(1) == whole.train(1)
    status.assert_consumed()
