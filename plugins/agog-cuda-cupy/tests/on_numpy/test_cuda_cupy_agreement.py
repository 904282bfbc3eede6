"""A training on a GPU and one on the cpu: what is promised has equal bits, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    AdamWOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    NadamOptimizer,
    Optimizer,
    RMSPropOptimizer,
)

DEVICES = ("/cpu:0", "/gpu:0", "/gpu:1")
DTYPES = ("float16", "bfloat16", "float32", "float64")
OPTIMIZERS = {
    "gradient descent": lambda: GradientDescentOptimizer(0.1),
    "momentum": lambda: MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: AdamOptimizer(0.01),
    "nadam": lambda: NadamOptimizer(0.01),
    "adamw": lambda: AdamWOptimizer(0.01, 0.01),
    "adagrad": lambda: AdagradOptimizer(0.1),
    "adadelta": lambda: AdadeltaOptimizer(0.1),
    "rmsprop": lambda: RMSPropOptimizer(0.01, momentum=0.9),
    "ftrl": lambda: FtrlOptimizer(0.1, l1_regularization_strength=0.01),
}


def bits(x: ag.Tensor | ag.Variable) -> bytes:
    """The bytes of a value."""
    return bytes(np.asarray(x.numpy()).tobytes())


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_streams_are_the_cpus(dtype: str) -> None:
    streams = []
    for device in DEVICES:
        with ag.device(device):
            ag.set_random_seed(11)
            drawn: list[Any] = []
            for size in (1, 7, 1000, 4099):
                drawn += [
                    ag.random_normal([size], dtype=dtype),
                    ag.random_uniform([size], -1.0, 1.0, dtype=dtype),
                    ag.truncated_normal([size], dtype=dtype),
                    ag.random_uniform([size], 0, 1000, dtype="int32"),
                    ag.nn.dropout(ag.ones([size], dtype), keep_prob=0.7),
                    ag.random_shuffle(ag.range(size)),
                ]
            assert all(x.device.endswith(device.upper()[1:]) for x in drawn)
            streams.append([bits(x) for x in drawn])
    assert streams[0] == streams[1] == streams[2]


def states(device: str, optimizer: Optimizer, dtype: str) -> list[list[bytes]]:
    """The bits of variables and slots after each of some steps with given gradients, on a device."""
    seed = 5
    print(f"seed {seed}")
    numbers = np.random.default_rng(seed)
    shapes = [(3, 5), (), (700,), (0, 4), (1,), (2, 3, 4)]
    seen = []
    with ag.device(device):
        variables = [ag.Variable(numbers.standard_normal(shape), dtype=dtype) for shape in shapes]
        for _ in range(6):
            gradients = [ag.cast(ag.constant(numbers.standard_normal(shape)), dtype) for shape in shapes]
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            seen.append([bits(v) for v in [*variables, *optimizer.variables()]])
    return seen


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_given_equal_gradients_variables_and_slots_are_the_cpus(name: str, dtype: str) -> None:
    expected, *found = (states(device, OPTIMIZERS[name](), dtype) for device in DEVICES)
    for each in found:
        assert each == expected


def test_some_variables_on_each_device_take_one_step() -> None:
    optimizer = AdamOptimizer(0.01)
    variables = []
    for device in (*DEVICES, *DEVICES):
        with ag.device(device):
            variables.append(ag.Variable([1.0, 2.0]))
    for _ in range(3):
        optimizer.apply_gradients((ag.constant([0.5, -1.0]), v) for v in variables)
    assert len({bits(v) for v in variables}) == 1
    assert [v.device[-5:] for v in variables] == [device.upper()[1:] for device in (*DEVICES, *DEVICES)]
