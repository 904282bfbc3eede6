"""Constants under tapes: tensors that share memory with a watched one, and that no tape watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf

COUNT = 60


def _function(number: int, length: int) -> Callable[[Any, Any], Any]:
    """A random function of two tensors, some of whose values are constants to tapes."""
    draw = np.random.RandomState(number)
    steps = [(int(draw.randint(8)), int(draw.randint(1 << 20)), int(draw.randint(1 << 20))) for _ in range(length)]

    def function(x: Any, y: Any) -> Any:
        pool = [x, y]
        for kind, first, second in steps:
            a, b = pool[first % len(pool)], pool[second % len(pool)]
            match kind:
                case 0 | 1:
                    pool.append(tf.stop_gradient(a))
                case 2:
                    pool.append(tf.identity(a))
                case 3:
                    pool.append(tf.tanh(a))
                case 4:
                    pool.append(tf.exp(a * 0.3))
                case 5:
                    pool.append(a + b)
                case _:
                    pool.append(a * b * 0.5)
        return pool[-1], pool[-2] * pool[len(pool) // 2]

    return function


def _outcomes(run: Callable[[Any, Any], Any], which: int) -> list[Any]:
    """Values, gradients and gradients of gradients of one result, or of both."""
    found: list[Any] = []
    for call in range(3):
        x, y = (tf.constant(np.random.RandomState(call + n).randn(2, 3).astype("float32")) for n in range(2))
        with tf.GradientTape(persistent=call == 2) as outer:
            outer.watch([x, y])
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                results = run(x, y)
                target = [results[which]] if which < 2 else list(results)
            first = tape.gradient(target, [x, y])
        second = [outer.gradient(each, [x, y]) for each in (first if call == 2 else first[:1]) if each is not None]
        found += [*results, *first, *(each for pair in second for each in pair)]
    return [None if each is None else np.array(each) for each in found]


@pytest.mark.parametrize("length", [6, 30], ids=["short", "long"])
@pytest.mark.parametrize("start", range(0, COUNT, 10))
def test_constants_stay_constants_in_gradients_of_gradients(start: int, length: int) -> None:
    for number in range(start, start + 10):
        function = _function(number, length)
        for which in range(3):
            eager, traced = _outcomes(function, which), _outcomes(tf.function(function), which)
            assert [each is None for each in traced] == [each is None for each in eager], (number, length, which)
            for one, other in zip(traced, eager, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"function {number}, length {length}, result {which}")
