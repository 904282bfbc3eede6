"""Steps of training: how often they wait for the GPU, what they copy to it, and how many kernels they launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cupy_on_numpy import counting

import agog_core as ag
from agog_core.ops.nn.losses import sparse_softmax_cross_entropy_with_logits
from agog_layers import LSTM, BatchNormalization, Conv2D, Dense, Flatten, Layer, MaxPooling2D, ReLU, Sequential
from agog_optimizers import AdamOptimizer, LAMBOptimizer, Optimizer
from agog_optimizers.schedules import exponential_decay

LABELS = np.arange(32) % 10
BATCHES: dict[str, Any] = {
    "perceptron": np.random.default_rng(0).random((32, 20), "float32"),
    "convolutional": np.random.default_rng(0).random((32, 12, 12, 3), "float32"),
    "recurrent": np.random.default_rng(0).random((32, 20, 6), "float32"),
}


def network(name: str) -> Layer:
    """A small network; its weights are drawn from agog's seeds, the same on each device."""
    ag.set_random_seed(3)
    layers: dict[str, Callable[[], list[Layer]]] = {
        "perceptron": lambda: [Dense(64, "relu"), Dense(10)],
        "convolutional": lambda: [
            *(Conv2D(8, 3, padding="same"), BatchNormalization(), ReLU(), MaxPooling2D(2)),
            *(Flatten(), Dense(10)),
        ],
        "recurrent": lambda: [LSTM(16), Dense(10)],
    }
    return Sequential(layers[name]())


class Training:
    """A network, an optimizer, and what each part of the last step has asked of the GPU."""

    def __init__(self, name: str, optimizer: Optimizer | None = None) -> None:
        self.batch, self.network = BATCHES[name], network(name)
        self.optimizer = AdamOptimizer(0.01) if optimizer is None else optimizer
        self.launches: dict[str, int] = {}

    def step(self) -> ag.Tensor:
        """One step; gives the loss."""
        counting.launches.clear()
        x, y = ag.constant(self.batch), ag.constant(LABELS)
        with ag.GradientTape() as tape:
            logits = self.network(x, training=True)
            loss = ag.reduce_mean(sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        self._count("forward")
        variables = self.network.trainable_variables
        gradients = tape.gradient(loss, variables)
        self._count("backward")
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        self._count("update")
        return loss

    def _count(self, part: str) -> None:
        self.launches[part] = sum(counting.launches.values())
        counting.launches.clear()


# At most so many launches, forward, backward and of the optimizer.
MOST = {
    "perceptron": {"forward": 6, "backward": 9, "update": 1},
    "convolutional": {"forward": 19, "backward": 16, "update": 1},
    "recurrent": {"forward": 11, "backward": 22, "update": 1},
}


@pytest.mark.parametrize("name", MOST)
def test_a_step_waits_never_and_uploads_its_batch_alone(name: str) -> None:
    with ag.device("/gpu:0"):
        training = Training(name)
        training.step()  # weights and constants are made, and kept
        counting.reset()
        training.step()
    told = ", ".join(f"{count} {part}" for part, count in training.launches.items())
    print(f"cupy-on-numpy: launches in a step of the {name} network: {told}")
    assert counting.waits == {}
    assert sum(counting.uploads.values()) == 2
    assert all(training.launches[part] <= most for part, most in MOST[name].items()), training.launches


def test_a_step_of_lamb_waits_never() -> None:
    with ag.device("/gpu:0"):
        training = Training("perceptron", LAMBOptimizer(0.01))
        training.step()
        counting.reset()
        training.step()
    print(f"cupy-on-numpy: {training.launches['update']} launches in an update of LAMB")
    assert counting.waits == {}


def test_a_schedule_waits_never() -> None:
    with ag.device("/cpu:0"):
        step = ag.Variable(0, dtype="int64")
    with ag.device("/gpu:0"):
        training = Training("perceptron", AdamOptimizer(exponential_decay(0.01, step, 10, 0.9)))
        training.step()
        counting.reset()
        training.step()
    assert counting.waits == {}
    assert sum(counting.uploads.values()) == 2


@pytest.mark.parametrize("name", MOST)
def test_training_on_a_gpu_is_training_on_the_cpu(name: str) -> None:
    losses = {}
    for device in ("/cpu:0", "/gpu:0"):
        with ag.device(device):
            training = Training(name)
            losses[device] = [float(training.step()) for _ in range(8)]
    np.testing.assert_allclose(losses["/gpu:0"], losses["/cpu:0"], rtol=1e-4)
    assert losses["/gpu:0"][-1] < losses["/gpu:0"][0]
