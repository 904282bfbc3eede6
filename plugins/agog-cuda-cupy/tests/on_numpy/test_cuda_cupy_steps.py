"""Steps of training: how often they wait for the GPU, what they copy to it, and how many kernels they launch."""

from __future__ import annotations

import numpy as np
from cupy_on_numpy import counting

import agog_core as ag
from agog_core.ops.nn.losses import sparse_softmax_cross_entropy_with_logits
from agog_optimizers import AdamOptimizer

IMAGES, LABELS = np.random.default_rng(0).random((32, 20), "float32"), np.arange(32) % 10


class Perceptron:
    """Two layers, and Adam."""

    def __init__(self, device: str) -> None:
        numbers = np.random.default_rng(1)
        with ag.device(device):
            self.variables = [
                ag.Variable(numbers.standard_normal(shape).astype("float32") / 8)
                for shape in ((20, 64), (64,), (64, 10), (10,))
            ]
        self.optimizer = AdamOptimizer(0.01)

    def step(self) -> ag.Tensor:
        """One step; gives the loss."""
        first, first_bias, second, second_bias = self.variables
        x, y = ag.constant(IMAGES), ag.constant(LABELS)
        with ag.GradientTape() as tape:
            hidden = ag.nn.relu(ag.matmul(x, first) + first_bias)
            logits = ag.matmul(hidden, second) + second_bias
            loss = ag.reduce_mean(sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        gradients = tape.gradient(loss, self.variables)
        self.optimizer.apply_gradients(zip(gradients, self.variables, strict=True))
        return loss


def test_a_step_of_a_perceptron_waits_never_and_uploads_its_batch_alone() -> None:
    with ag.device("/gpu:0"):
        network = Perceptron("/gpu:0")
        network.step()  # constants are copied once and kept
        counting.reset()
        network.step()
    launches = sum(counting.launches.values())
    print(f"cupy-on-numpy: {launches} launches in a step of a perceptron")
    assert counting.waits == {}
    assert sum(counting.uploads.values()) == 2
    assert launches <= 90


def test_training_on_a_gpu_is_training_on_the_cpu() -> None:
    losses = {}
    for device in ("/cpu:0", "/gpu:0"):
        with ag.device(device):
            network = Perceptron(device)
            losses[device] = [float(network.step()) for _ in range(10)]
    np.testing.assert_allclose(losses["/gpu:0"], losses["/cpu:0"], rtol=1e-5)
    assert losses["/gpu:0"][-1] < losses["/gpu:0"][0]
