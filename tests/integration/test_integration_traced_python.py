"""Users' programs give the same bits in `tf.function` as without: loops, conditions, exceptions, data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog as tf

X = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
W = np.random.default_rng(1).normal(size=(3, 2)).astype("f4")

# Makes a traced function of one, or leaves it as it is.
Wrap = Callable[[Any], Any]
PROGRAMS: list[Callable[[Wrap], Any]] = []


def program(run: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    PROGRAMS.append(run)
    return run


def given(scale: float = 1.0) -> Any:
    return tf.constant(X * np.float32(scale))


# Python inside


@program
def loops_of_python(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        steps = 0
        while tf.reduce_sum(x) < 10.0:
            x, steps = x * 2.0, steps + 1
        for number in range(5):
            if tf.reduce_sum(x) > 40.0:
                break
            if number == 1:
                continue
            x = x * 2.0
        return x, steps

    f = wrap(call)
    return [f(tf.constant([1.0, float(k)])) for k in (1, 3, 0, 1, 9)]


@program
def conditions_of_python(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        if tf.equal(tf.reduce_sum(x), 0.0):
            return tf.zeros([2])
        if (tf.reduce_sum(x) > 0 and tf.reduce_max(x) < 5.0) or not tf.reduce_any(x > 0):
            return x * 2.0
        return x if x[0] > x[1] else max(x[0], x[1]) - x

    f = wrap(call)
    return [f(tf.constant(x)) for x in ([1.0, 2.0], [0.0, 0.0], [9.0, 2.0], [1.0, 8.0], [-1.0, -2.0], [1.0, 2.0])]


@program
def loops_of_ops(wrap: Wrap) -> Any:
    def call(n: Any) -> Any:
        i, total = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), [0, 0.0])
        small = tf.cond(total > 5.0, lambda: total * 2.0, lambda: total - 1.0)
        return i, total, small, tf.case([(total > 9.0, lambda: total)], default=lambda: -total), tf.range(n)

    f = wrap(call)
    return [f(tf.constant(n)) for n in (3, 5, 3, 7)]


@program
def higher_functions(wrap: Wrap) -> Any:
    f = wrap(
        lambda x: (
            tf.map_fn(lambda row: row * 2.0 + tf.reduce_sum(row), x),
            tf.scan(lambda total, row: total * 0.5 + row, x),
            tf.foldl(lambda total, row: total + row, x),
            [row * float(number) for number, row in enumerate(x)],
        )
    )
    return [f(given()), f(given(2))]


@program
def recursion(wrap: Wrap) -> Any:
    by_number = wrap(lambda x, n: x if n == 0 else by_number(x * 2.0, n - 1) + 1.0)
    by_value = wrap(lambda x: x if tf.reduce_sum(x) > 100.0 else by_value(x * 3.0))
    return [by_number(given(), n) for n in (3, 3, 2)] + [by_value(tf.constant(x)) for x in (1.0, 2.0, 50.0, 200.0, 1.0)]


@program
def generators_and_inner_functions(wrap: Wrap) -> Any:
    def multiples(x: Any) -> Iterator[Any]:
        for number in range(3):
            yield x * float(number)

    def call(x: Any) -> Any:
        inner = wrap(lambda y: y * x)
        out = [inner(each) for each in multiples(x)]
        return out, tf.stack(out), tf.add_n(out)

    f = wrap(call)
    return [f(given(k)) for k in (1, 2, 3)]


@program
def functions_made_in_a_loop(wrap: Wrap) -> Any:
    functions = [wrap(lambda x, k=k: x * float(k)) for k in range(3)]
    return [f(given()) for f in functions for _ in range(2)]


@program
def exceptions_caught(wrap: Wrap) -> Any:
    def call(x: Any, at: Any) -> Any:
        try:
            y = tf.matmul(x, x)
        except tf.errors.InvalidArgumentError:
            y = x * 2.0
        try:
            return y, tf.gather(x, at)
        except tf.errors.InvalidArgumentError:
            return y, tf.zeros([1, 3])

    f = wrap(call)
    return [f(given(), tf.constant([at])) for at in (0, 1, 9, 0, 9)] + [f(tf.ones([3, 3]), tf.constant([1]))]


@program
def errors_leave_what_was_written(wrap: Wrap) -> Any:
    v, w = tf.Variable(0.0), tf.Variable(0.0)

    def by_kernel(x: Any, at: Any) -> Any:
        v.assign_add(1.0)
        noise = tf.random_normal([1])
        y = tf.gather(x, at)
        w.assign_add(10.0)
        return y + noise

    def by_assertion(x: Any, at: Any) -> Any:
        v.assign_add(1.0)
        tf.assert_less(at, 3)
        w.assign_add(10.0)
        return x

    found: list[Any] = []
    for f in (wrap(by_kernel), wrap(by_assertion)):
        for at in (9, 0, 1, 9, 2, 9, 0):  # the first call fails too
            try:
                found.append(f(tf.constant([1.0, 2.0, 3.0]), tf.constant([at])))
            except tf.errors.InvalidArgumentError as error:
                found.append(str(error))
            found += [v.numpy(), w.numpy(), tf.random_normal([1])]
    return found


@program
def assertions_and_printing(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        assert tf.reduce_all(x > -100.0)
        assert len(x.shape) == 2
        print("traced", end="")
        repr(x.shape)
        return x * 2.0

    f = wrap(call)
    return [f(given()), f(given(2))]


@program
def numpy_inside(wrap: Wrap) -> Any:
    held = np.arange(3, dtype="f4")
    f = wrap(lambda x: (x * np.sqrt(held) + np.float32(2), tf.py_func(np.cumsum, [x], tf.float32)))
    return [f(given()), f(given(2))]


@program
def async_calls(wrap: Wrap) -> Any:
    f = wrap(lambda x: tf.reduce_sum(x * 2.0))

    async def one(k: int) -> Any:
        await asyncio.sleep(0)
        return f(given(k))

    async def all_of_them() -> Any:
        return await asyncio.gather(*[one(k) for k in range(4)])

    return asyncio.run(all_of_them())


# Data


@program
def datasets(wrap: Wrap) -> Any:
    slices, total = tf.data.Dataset.from_tensor_slices(X), tf.Variable(0.0)
    add, double = wrap(lambda batch: total.assign_add(tf.reduce_sum(batch))), wrap(lambda row: row * total)
    found = [add(batch) is None or total.numpy() for batch in slices.batch(3)]

    def summed(start: Any) -> Any:
        for batch in slices.batch(2):
            start = start + tf.reduce_sum(batch)
        return start

    f = wrap(summed)
    return [*found, f(tf.constant(1.0)), f(tf.constant(2.0)), list(slices.map(double)), total]


@program
def ops_whose_shapes_depend_on_values(wrap: Wrap) -> Any:
    f = wrap(lambda x: (tf.boolean_mask(x, x > 0), tf.where(x > 1), tf.unique(tf.reshape(x, [-1]))[0]))
    return [f(tf.constant(each)) for each in ([[1, 2], [2, -1]], [[3, 3], [3, 3]], [[1, 2], [2, -1]])]


@program
def ops_of_many_kinds(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        product = tf.einsum("ij,kj->ik", x, x)
        return (
            *(product, tf.matrix_inverse(product + tf.eye(4)), tf.norm(x), tf.cumsum(x, 1), tf.argmax(x, 0)),
            *(
                tf.nn.top_k(x, 2),
                tf.string_join([tf.as_string(tf.shape(x)), "!"]),
                tf.complex(x, -x) * tf.complex(x, x),
            ),
        )

    f = wrap(call)
    return [f(given()), f(given(-1))]


@program
def extreme_numbers(wrap: Wrap) -> Any:
    f = wrap(
        lambda x: (tf.where(tf.is_nan(x), tf.zeros_like(x), x), tf.is_inf(x / 0.0), tf.maximum(x, 0.0), tf.sign(x))
    )
    return [f(tf.constant(x)) for x in ([0.0, 1.0, -0.0], [float("nan"), float("inf"), -2.0])]


@program
def small_dtypes(wrap: Wrap) -> Any:
    f = wrap(lambda x: tf.nn.softmax(x * 2 + 1))
    return [tf.cast(f(tf.cast(given(), kind)), tf.float32) for kind in (tf.float16, tf.bfloat16) for _ in range(2)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_are_equal(run: Callable[[Wrap], Any], assert_same_bits: Callable[..., None]) -> None:
    assert_same_bits(run)
