"""Every differentiable op as one of two and of three results of a traced function: gradients of each, and of all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_core.dispatch.devices.lookup import default_device
from agog_testing.opinfo import OpInfo, Sample, table
from agog_testing.subject import Subject

# All samples in endurance, each with two and with three results.
_ENDURANCE = bool(os.environ.get("AGOG_ENDURANCE"))


def _differentiable() -> list[OpInfo]:
    found = [info for info in table.values() if info.differentiable and not info.op.updates]
    return [info for info in found if "float32" in info.dtypes]


def _leaves(value: Any) -> list[Any]:
    return [x for x in tf.contrib.framework.nest.flatten(value) if isinstance(x, tf.Tensor)]


def _outcomes(wrap: Callable[..., Any], info: OpInfo, sample: Sample, count: int) -> list[Any]:
    """What two calls give: the results, and the gradients of each result alone and of all."""
    subject = Subject(info=info, dtype="float32", device=default_device(), kernel=lambda: None)
    tf.set_random_seed(5)
    args, kwargs, _ = subject.arguments(sample)
    given = [x for x in _leaves([args, list(kwargs.values())]) if x.dtype.is_floating or x.dtype.is_complex]

    @wrap
    def several(*given: Any) -> Any:
        moved = iter(given)

        def own(leaf: Any) -> Any:
            is_given = isinstance(leaf, tf.Tensor) and (leaf.dtype.is_floating or leaf.dtype.is_complex)
            return next(moved) if is_given else leaf

        nest = tf.contrib.framework.nest
        positional = [nest.map_structure(own, arg) for arg in args]
        named = {name: nest.map_structure(own, arg) for name, arg in kwargs.items()}
        results = [x for x in _leaves(info.call(*positional, **named)) if x.dtype.is_floating or x.dtype.is_complex]
        sums = [tf.reduce_sum(x * x) for x in given]
        return [*results, *sums[: count - 1]]

    found = []
    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(given)
            results = several(*given)
        found.append(results)
        found += [tape.gradient(result, given) for result in results]
        found.append(tape.gradient(results, given))
    return [None if x is None else tf.convert_to_tensor(x).numpy() for x in tf.contrib.framework.nest.flatten(found)]


@pytest.mark.parametrize("info", _differentiable(), ids=lambda info: info.name)
def test_each_result_has_the_gradient_of_an_eager_call(info: OpInfo) -> None:
    samples = info.samples("float32", np.random.default_rng(0))
    for sample in samples if _ENDURANCE else islice(samples, 1):
        for count in (2, 3) if _ENDURANCE else (2 + len(info.name) % 2,):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                eager = _outcomes(lambda f: f, info, sample, count)
                traced = _outcomes(tf.function, info, sample, count)
            assert len(eager) == len(traced)
            for left, right in zip(eager, traced, strict=True):
                np.testing.assert_array_equal(left, right, err_msg=sample.name)
                assert left is None or left.tobytes() == right.tobytes() or np.isnan(left).any(), sample.name
