"""Trainings on a GPU: they are those on the CPU, to the bit where that is promised, and wait for nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from training_steps import SMALL, Training, perceptron

import agog as tf
import agog.eager as tfe

CPU, GPU = "/cpu:0", "/gpu:0"
STEPS = 10


@pytest.mark.parametrize("name", SMALL)
def test_a_training_is_that_on_the_cpu_step_by_step(name: str) -> None:
    on_cpu, on_gpu = (Training(*SMALL[name], device) for device in (CPU, GPU))
    for one, other in zip(on_cpu.network.variables, on_gpu.network.variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy(), strict=True)  # they begin with the same bits
    losses = np.array([[float(training.step()) for training in (on_cpu, on_gpu)] for _ in range(STEPS)])
    np.testing.assert_allclose(losses[:, 1], losses[:, 0], rtol=1e-4)
    assert losses[-1, 1] < losses[0, 1]
    assert "GPU" in on_gpu.network.variables[0].value().device


# It sees what waits within CuPy, which is what is asked; CuPy warns that it sees no other waits.
@pytest.mark.filterwarnings("ignore:cupyx.allow_synchronize:UserWarning")
@pytest.mark.parametrize("name", SMALL)
def test_a_step_waits_for_nothing(name: str) -> None:
    import cupyx

    training = Training(*SMALL[name], GPU)
    training.step()  # kernels are compiled, and constants copied, once
    with cupyx.allow_synchronize(False):
        loss = training.step()
    assert np.isfinite(float(loss))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adams_state_has_the_cpus_bits_given_equal_gradients(dtype: str) -> None:
    numbers = np.random.default_rng(3)
    shapes = [(20, 64), (64,), (3,), ()]
    start = [numbers.standard_normal(shape).astype(dtype) for shape in shapes]
    gradients = [[numbers.standard_normal(shape).astype(dtype) for shape in shapes] for _ in range(5)]

    def state(device: str) -> list[np.ndarray[Any, Any]]:
        with tf.device(device):
            optimizer = tf.train.AdamOptimizer(0.01)
            variables = [tf.Variable(value) for value in start]
            for step in gradients:
                optimizer.apply_gradients(zip(map(tf.constant, step), variables, strict=True))
            slots = [optimizer.get_slot(v, name) for v in variables for name in optimizer.get_slot_names()]
        return [each.numpy() for each in (*variables, *slots)]

    for one, other in zip(state(CPU), state(GPU), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


DRAWS: dict[str, Callable[[int], Any]] = {
    "uniform": lambda count: tf.random_uniform([count]),
    "normal": lambda count: tf.random_normal([count]),
    "truncated_normal": lambda count: tf.truncated_normal([count]),
    "integers": lambda count: tf.random_uniform([count], 0, 1000, tf.int32),
    "dropout": lambda count: tf.nn.dropout(tf.ones([count]), 0.5),
    "shuffle": lambda count: tf.random_shuffle(tf.range(count)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_have_the_cpus_bits(name: str, on_numpy: bool) -> None:
    count = 1 << 16 if on_numpy else 1 << 23
    drawn = []
    for device in (CPU, GPU):
        tf.set_random_seed(11)
        with tf.device(device):
            drawn.append(DRAWS[name](count).numpy())
    assert np.count_nonzero(drawn[0].view("uint8") != drawn[1].view("uint8")) == 0


def test_a_configuration_limits_the_memory_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    from agog_compat import execution

    monkeypatch.setattr(execution, "_is_enabled", False)
    total = tf.memory_stats("gpu:0").total
    assert total is not None
    tf.enable_eager_execution(tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.25)))
    try:
        assert tf.memory_stats("gpu:0").limit == total // 4
    finally:
        for index in range(tfe.num_gpus()):
            tf.set_memory_limit(None, f"gpu:{index}")


def test_batches_come_ahead_and_train_as_they_do_on_the_cpu() -> None:
    features, labels = np.random.default_rng(5).random((64, 20), "float32"), np.arange(64) % 10
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(16)

    def losses(device: str) -> list[float]:
        training = Training(perceptron, (16, 20), device)
        found = []
        for training.inputs, training.labels in dataset.apply(tf.data.experimental.prefetch_to_device(device)):
            found.append(float(training.step()))
        return found

    np.testing.assert_allclose(losses(GPU), losses(CPU), rtol=1e-4)
