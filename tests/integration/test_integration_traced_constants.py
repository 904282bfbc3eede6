"""Constants under tapes: tensors that share memory with a watched one, and that no tape watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe

COUNT = 60


def _normal(seed: int) -> Any:
    return np.random.RandomState(seed).randn(2, 3).astype("float32")


def _function(number: int, length: int, v: Any, w: Any) -> Callable[[Any], Any]:
    """A random function of a tensor and two variables, some of whose values are constants to tapes."""
    draw = np.random.RandomState(number)
    steps = [(int(draw.randint(12)), *map(int, draw.randint(1 << 20, size=2))) for _ in range(length)]

    def function(x: Any) -> Any:
        pool = [x, v.value()]
        for kind, first, second in steps:
            a, b = pool[first % len(pool)], pool[second % len(pool)]
            match kind:
                case 0 | 1:
                    made = tf.stop_gradient(a)
                case 2:
                    made = tf.identity(a)
                case 3:
                    made = tf.tanh(a)
                case 4:
                    made = v.value()
                case 5:
                    made = tf.stop_gradient(w)
                case 6:
                    made = w * a
                case 7:
                    made = tf.reshape(a, [2, 3])
                case 8:
                    w.assign(w * 0.5 + tf.stop_gradient(b))
                    made = w.value()
                case 9:
                    made = tf.cond(tf.reduce_sum(a) > 0.0, lambda a=a: tf.stop_gradient(a), lambda a=a, b=b: a * b)
                case 10:
                    made = a + b
                case _:
                    made = a * b * 0.5
            pool.append(made)
        return pool[-1], pool[-2] * pool[len(pool) // 2]

    return function


def _outcomes(number: int, length: int, which: int, wrap: Callable[[Any], Any]) -> list[Any]:
    """Values, variables, gradients and gradients of gradients of one result, or of both."""
    v, w = tfe.Variable(_normal(7)), tfe.Variable(_normal(8))
    run = wrap(_function(number, length, v, w))
    found: list[Any] = []
    for call in range(4):
        x = tf.constant(_normal(call % 3))
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=call == 2) as tape:
                tape.watch(x)
                results = run(x)
                target = [results[which]] if which < 2 else list(results)
            first = tape.gradient(target, [x, v, w])
        found += [*results, *first, v.value(), w.value()]
        found += [second for each in first if each is not None for second in outer.gradient(each, [x, v, w])]
    return [None if each is None else np.array(each) for each in found]


@pytest.mark.parametrize("length", [5, 10, 30])
@pytest.mark.parametrize("start", range(0, COUNT, 10))
def test_constants_stay_constants_in_gradients_of_gradients(start: int, length: int) -> None:
    for number in range(start, start + 10):
        for which in range(3):
            eager, traced = (_outcomes(number, length, which, wrap) for wrap in (lambda f: f, tf.function))
            assert [each is None for each in traced] == [each is None for each in eager], (number, length, which)
            for one, other in zip(traced, eager, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"function {number}, length {length}, result {which}")
