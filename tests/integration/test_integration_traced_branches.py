"""`tf.cond` in traced functions: one trace that goes both ways, with the bits of eager calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.errors import TracingWarning

Made = tuple[Callable[..., Any], Sequence[Any]]

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
FLAGS = [(tf.constant(X), tf.constant(flag)) for flag in (1.0, -1.0, 2.0, -2.0, -3.0, 1.0)]

pytestmark = pytest.mark.usefixtures("way")


def outcomes(make: Callable[[], Made], wrap: Callable[..., Any], calls: Sequence[Any]) -> tuple[list[Any], Any]:
    """What calls give or raise, what they leave in variables, and where the random stream is at the end."""
    tf.set_random_seed(7)
    function, variables = make()
    function, found = wrap(function), []
    for call in calls:
        try:
            found.append([np.asarray(each) for each in nest.flatten(function(*call)) if each is not None])
        except (tf.errors.InvalidArgumentError, ValueError) as error:
            found.append([str(error)])
        found.append([variable.numpy().copy() for variable in variables])
    found.append([tf.random_uniform([3]).numpy()])
    return found, function


def same(make: Callable[[], Made], calls: Sequence[Any] = FLAGS) -> Any:
    """Call a function eagerly and traced; the traced one, if every bit is the same."""
    expected, _ = outcomes(make, lambda function: function, calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)
        found, traced = outcomes(make, tf.function, calls)
    for one, other in zip(expected, found, strict=True):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            if isinstance(left, str):
                assert left == right
            else:
                assert (left.dtype, left.shape, left.tobytes()) == (right.dtype, right.shape, right.tobytes())
    return traced


def counts(traced: Any) -> tuple[int, int]:
    """How often a function was traced, and how many traces later calls run."""
    return len(traced.traces()), sum(info.is_kept for info in traced.traces())


def test_a_condition_that_alternates_is_one_trace() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
            h = tf.tanh(x)
            return tf.cond(p > 0.0, lambda: tf.sin(h) * p, lambda: x - h) + 1.0

        return call, []

    traced = same(make)
    assert counts(traced) == (2, 1)
    assert not [node for node in traced.graph().nodes if node.effect.name == "GUARD"]
    assert [line.split()[0] for line in traced.graph().summary().splitlines()].count("cond") == 1


def test_a_function_runs_only_when_its_way_is_gone() -> None:
    ran: list[str] = []

    def yes(x: tf.Tensor) -> tf.Tensor:
        ran.append("yes")
        return x * 2.0

    def no(x: tf.Tensor) -> tf.Tensor:
        ran.append("no")
        raise ValueError("not this way")

    @tf.function
    def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        return tf.cond(p, lambda: yes(x), lambda: no(x))

    x = tf.constant(X)
    for _ in range(3):
        np.testing.assert_array_equal(call(x, tf.constant(True)), X * 2.0)
    assert ran == ["yes"]
    with pytest.raises(ValueError, match="not this way"):
        call(x, tf.constant(False))
    np.testing.assert_array_equal(call(x, tf.constant(True)), X * 2.0)
    assert ran == ["yes", "no"]


def test_each_of_many_conditions_is_traced_twice_and_not_all_ways_together() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
            for place in range(8):
                x = tf.cond(p[place] > 0.0, lambda x=x: tf.sin(x) * 1.5, lambda x=x: x - 0.25)
            return x

        return call, []

    draw = np.random.RandomState(1)
    traced = same(make, [(tf.constant(X), tf.constant(draw.randn(8).astype(np.float32))) for _ in range(60)])
    traces, kept = counts(traced)
    assert kept == 1
    assert traces <= 9


def test_case_is_one_trace() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
            pairs = [(p < -2.5, lambda: x * 2.0), (p < 0.0, lambda: tf.sin(x)), (p < 1.5, lambda: x + p)]
            return tf.case(pairs, default=lambda: tf.exp(x))

        return call, []

    traced = same(make, [*FLAGS, *FLAGS, *FLAGS])
    before = counts(traced)
    for call in FLAGS:
        traced(*call)
    assert counts(traced) == before


def test_conditions_in_functions_of_conditions() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
            def small() -> tf.Tensor:
                return tf.cond(p > -2.0, lambda: tf.tanh(x), lambda: x * p)

            return tf.cond(p > 0.0, lambda: x + p, small) * 2.0

        return call, []

    traced = same(make, [*FLAGS, *FLAGS, *FLAGS])
    before = counts(traced)
    for call in FLAGS:
        traced(*call)
    assert counts(traced) == before


def test_several_results_and_structures() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            found = tf.cond(
                p > 0.0, lambda: {"a": x + p, "b": [x * 2.0, p + 1.0]}, lambda: {"a": x * p, "b": [-x, p * 2.0]}
            )
            return found["a"] + found["b"][0], found

        return call, []

    assert counts(same(make)) == (2, 1)


def test_results_that_differ_in_kind_are_two_ways() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            a = tf.cond(p > 0.0, lambda: x, lambda: x[:2])
            b = tf.cond(p > 0.0, lambda: tf.constant(1.0), lambda: tf.constant(2))
            c = tf.cond(p > 0.0, lambda: (x * 1.0, x), lambda: [x * 1.0, x])
            d = tf.cond(p > 0.0, lambda: 2, lambda: 2.5)
            e = tf.cond(p > 0.0, lambda: x + 1.0, lambda: tf.transpose(tf.transpose(x) + 1.0))
            return a, b, c[0], c[1] * d, e

        return call, []

    assert counts(same(make))[1] == 2


def test_results_are_the_tensors_that_they_are_eagerly() -> None:
    v = tfe.Variable(1.0)

    @tf.function
    def call(x: tf.Tensor, y: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        return tf.cond(p, lambda: x, lambda: tf.cond(p, lambda: x, lambda: y))

    @tf.function
    def written(p: tf.Tensor) -> tf.Tensor:
        def write() -> tf.Tensor:
            v.assign(v + 1.0)
            return v.read_value()

        return tf.cond(p, write, lambda: v.read_value())

    x, y, yes, no = tf.constant(X), tf.constant(-X), tf.constant(True), tf.constant(False)
    for _ in range(3):
        assert call(x, y, yes) is x
        assert call(x, y, no) is y
        found = written(yes)
        assert found is v.read_value()
        assert float(found) == float(written(no))


def test_what_is_handed_on_unchanged_is_the_tensor_that_it_was() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            x, c, zero = tf.tanh(x), tf.constant([0.5, 1.0, 1.5, 2.0]), tf.zeros([2, 2])
            y = tf.cond(p > 0.0, lambda: x, lambda: tf.sin(x))
            z = tf.cond(p > -2.5, lambda: y[0], lambda: c)
            two, other = tf.cond(p > -2.5, lambda: [x + p] * 2, lambda: [x * 2.0, x * 3.0])
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([x, c, two, zero])
                loss = tf.reduce_sum(y * y) + tf.reduce_sum(z) + tf.reduce_sum(other)
                loss += tf.reduce_sum(tf.cond(p > 0.0, lambda: zero, lambda: zero + 1.0))
            # BLAS computes half of the product of a matrix with itself.
            return [tape.gradient(loss, each) for each in (x, c, two, zero)], tf.matmul(y, x, transpose_b=True)

        return call, []

    large = np.random.RandomState(3).randn(70, 70).astype(np.float32)
    same(make, [(tf.constant(large), p) for _, p in (*FLAGS, *FLAGS)])


def handed_on(x: tf.Tensor, p: tf.Tensor) -> Any:
    return tf.cond(p > 0.0, lambda: tf.sin(x), lambda: x) * 2.0


def one_after_the_other(x: tf.Tensor, p: tf.Tensor) -> Any:
    x = tf.tanh(x)
    y = tf.cond(p > 0.0, lambda: [tf.sin(x), x * p], lambda: [x, x + p])
    z = tf.cond(p > 1.5, lambda: tf.tanh(y[0]) * x, lambda: x - y[1])
    return y[0] + z + tf.cond(p > -1.5, lambda: tf.cos(z), lambda: z)


def products_with_themselves(x: tf.Tensor, p: tf.Tensor) -> Any:
    y = tf.cond(p > 0.0, lambda: tf.sin(x), lambda: x)  # BLAS computes half of the product of a matrix with itself
    return tf.matmul(y, x, transpose_b=True)


def products_in_loops(x: tf.Tensor, p: tf.Tensor) -> Any:
    y = tf.cond(p > 0.0, lambda: tf.sin(x), lambda: x)

    def body(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> Any:
        return [i + 1, tf.tanh(tf.matmul(a, b, transpose_b=True)), b * 0.5]

    return tf.while_loop(lambda i, a, b: i < 300, body, [tf.constant(0), y, x])[1]


def variables_handed_on(x: tf.Tensor, p: tf.Tensor) -> Any:
    v = KEPT[0]
    y = tf.cond(p > 0.0, lambda: v.read_value(), lambda: v * p)
    v.assign_add(tf.reduce_mean(y, 0))
    return y + tf.cond(p > 0.0, lambda: x, lambda: x * p) * v


KEPT: list[tfe.Variable] = []


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        *((handed_on, 1), (one_after_the_other, None), (products_with_themselves, 2), (products_in_loops, 2)),
        (variables_handed_on, None),
    ],
)
def test_one_function_hands_on_what_the_other_changes(call: Any, kept: int | None) -> None:
    large = np.random.RandomState(3).randn(70, 70).astype(np.float32)

    def make() -> Made:
        KEPT[:] = [tfe.Variable(large)]
        return call, KEPT

    flags = [p for _, p in (*FLAGS, *FLAGS)]
    traced = same(make, [(tf.constant(large), p) for p in flags])
    assert kept is None or counts(traced)[1] == kept


def test_traces_that_differ_in_what_python_did() -> None:
    loops: list[bool] = [True]

    @tf.function
    def call(x: tf.Tensor, p: tf.Tensor) -> Any:
        a = tf.cond(p > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        if loops[0]:
            return tf.while_loop(lambda i, a: i < 300, lambda i, a: [i + 1, a * 0.5], [tf.constant(0), a])
        return [tf.reduce_sum(a), a + 1.0]

    call(tf.constant(X), tf.constant(1.0))
    loops[0] = False
    np.testing.assert_array_equal(call(tf.constant(X), tf.constant(-1.0))[1], X - np.float32(1.0) + np.float32(1.0))
    assert counts(call) == (2, 2)


def test_constants_that_nobody_else_holds_may_go_both_ways() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            y = tf.cond(p > 0.0, lambda: tf.reduce_sum(x), lambda: tf.constant(0.0))
            z = tf.cond(p > 0.0, lambda: tf.constant([1.0, 2.0, 3.0, 4.0]), lambda: tf.zeros([4]))
            return x * y + z

        return call, []

    assert counts(same(make)) == (2, 1)


def test_branches_in_loops_that_go_another_way_later() -> None:
    ran: list[str] = []

    def make() -> Made:
        ran.clear()
        w = tf.constant(X * 2.0)

        def call(n: tf.Tensor, x: tf.Tensor, p: tf.Tensor) -> Any:
            ran.append("call")
            y = tf.sin(x)

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                a = tf.cond(p > 0.0, lambda: tf.tanh(a) + y, lambda: a * w + x)
                b = tf.random_uniform([])
                return [i + 1, tf.cond(b > p, lambda: a + tf.random_uniform([]), lambda: a - tf.random_uniform([3, 4]))]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), x])

        return call, []

    lengths = (4, 3, 0, 1, 7, 5, 9, 30, 2, 6)
    flags = (1.5, 0.5, -1.0, 0.5, -1.0, 0.5, 1.5, 0.5, -1.0, 1.5)
    traced = same(make, [(tf.constant(n), tf.constant(X), tf.constant(p)) for n, p in zip(lengths, flags, strict=True)])
    assert counts(traced)[1] == 1
    assert len(ran) <= 4


def test_branches_in_loops_that_give_other_things_later() -> None:
    def make() -> Made:
        v = tfe.Variable(1.0)

        def call(n: tf.Tensor, x: tf.Tensor, p: tf.Tensor) -> Any:
            def write() -> tf.Tensor:
                v.assign_add(p)
                return x * v

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                b = tf.cond(p > 0.0, lambda: a + 1.0, write)
                return [i + 1, b + (tf.cond(p > -1.5, lambda: 1.0, lambda: 2.0))]

            return tf.while_loop(lambda i, a: i < n, body, [0 * n, x])

        return call, [v]

    same(make, [(tf.constant(3), x, p) for x, p in (*FLAGS, *FLAGS, *FLAGS)])


def test_variables_that_functions_write_and_read() -> None:
    def make() -> Made:
        v, w, only = tfe.Variable(1.0), tfe.Variable(X[0]), tfe.Variable(2.0)

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            w.assign_add(x[1])

            def more() -> tf.Tensor:
                v.assign_add(p)
                return v * only

            def less() -> tf.Tensor:
                v.assign(v * 0.5 - p)
                return v + 1.0

            a = tf.cond(p > 0.0, more, less)
            return a * v, x * w

        return call, [v, w, only]

    assert counts(same(make)) == (2, 1)


def test_large_variables_are_not_copied_for_a_way() -> None:
    def make() -> Made:
        v = tfe.Variable(np.zeros([100, 100], np.float32))

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            tf.cond(p > 0.0, lambda: v.assign_add(tf.fill([100, 100], p)), lambda: v.assign(v * 0.5))
            return tf.reduce_sum(x)

        return call, [v]

    assert counts(same(make)) == (2, 2)


def test_one_function_writes_and_the_other_does_not() -> None:
    def make() -> Made:
        v = tfe.Variable(1.0)

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            tf.cond(p > 0.0, lambda: tf.group(v.assign_add(p)), tf.no_op)
            return x * v

        return call, [v]

    same(make)


def test_random_numbers_in_functions() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            a = tf.cond(p > 0.0, lambda: x + tf.random_uniform([3, 4]), lambda: tf.nn.dropout(x, 0.5) + p)
            b = tf.random_normal([2])
            return a, tf.cond(b[0] > 0.0, lambda: b, lambda: b * 2.0)

        return call, []

    same(make, [*FLAGS, *FLAGS])


def test_branches_of_python_and_shapes_of_values_in_functions() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            def yes() -> tf.Tensor:
                return x * 2.0 if p > 1.5 else x * 3.0

            a = tf.cond(p > 0.0, yes, lambda: x - p)
            n = tf.cast(tf.abs(p), tf.int32)
            return a, tf.cond(p > 0.0, lambda: tf.zeros([n]), lambda: tf.ones([n]))

        return call, []

    same(make, [*FLAGS, *FLAGS])


def test_loops_in_functions_and_functions_in_loops() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            n = tf.cast(tf.abs(p) * 3.0, tf.int32)

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                return [i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a), lambda: a * p)]

            def looped() -> tf.Tensor:
                return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), x])[1]

            return tf.cond(p > 0.0, looped, lambda: looped() + 1.0)

        return call, []

    assert counts(same(make, [*FLAGS, *FLAGS]))[1] <= 2


def test_errors_in_functions() -> None:
    def make() -> Made:
        v = tfe.Variable(0.0)

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            v.assign_add(1.0)
            place = tf.cast(tf.abs(p), tf.int32)
            return tf.cond(p > 0.0, lambda: tf.gather(x, place), lambda: x[0] + p)

        return call, [v]

    flags = (1.0, -1.0, 7.0, 2.0, -7.0, 8.0, 1.0)
    same(make, [(tf.constant(X), tf.constant(flag)) for flag in flags])


def test_values_that_are_read_behind_a_condition() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            scale = tf.cond(p > 0.0, lambda: tf.constant(2.0), lambda: tf.constant(3.0))
            shape = tf.cond(p > 0.0, lambda: tf.constant([4, 3]), lambda: tf.constant([2, 6]))
            return x * float(scale) if scale > 2.5 else x - scale, tf.reshape(x, shape)

        return call, []

    same(make)


def test_tensors_that_functions_leave_outside() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            left: list[tf.Tensor] = []

            def yes() -> tf.Tensor:
                left.append(x * p)
                return x + 1.0

            a = tf.cond(p > 0.0, yes, lambda: x - 1.0)
            return a, [each * 2.0 for each in left]

        return call, []

    same(make)


def test_python_that_is_called_behind_and_in_functions() -> None:
    def make() -> Made:
        v, seen = tfe.Variable(0.0), [0.0]

        def note(x: np.ndarray) -> np.ndarray:
            seen[0] += float(np.sum(x))
            return np.float32(seen[0])

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            a = tf.cond(p > 0.0, lambda: tf.sin(x), lambda: x - p)
            v.assign_add(tf.py_func(note, [a], tf.float32))
            return tf.cond(p > 1.5, lambda: tf.py_func(note, [a], tf.float32), lambda: tf.reduce_sum(a))

        return call, [v]

    same(make, [*FLAGS, *FLAGS])


def test_gradients_in_the_function_and_traced_functions_in_branches() -> None:
    def make() -> Made:
        w = tfe.Variable(X)

        @tf.function
        def inner(x: tf.Tensor) -> tf.Tensor:
            return tf.tanh(x) * w

        def call(x: tf.Tensor, p: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.cond(p > 0.0, lambda: inner(x), lambda: w * w * p))
            gradient = tape.gradient(loss, w)
            return tf.cond(p > 1.5, lambda: inner(gradient), lambda: gradient * 0.5)

        return call, [w]

    same(make, [*FLAGS, *FLAGS])


def test_gradients_of_calls_that_go_both_ways() -> None:
    def make() -> Made:
        def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
            return tf.cond(p > 0.0, lambda: tf.sin(x) * p, lambda: x * x) + x

        return call, []

    def taped(function: Callable[..., Any]) -> list[Any]:
        found = []
        for x, p in FLAGS:
            with tf.GradientTape() as tape:
                tape.watch([x, p])
                y = function(x, p)
            found += [None if g is None else g.numpy().tobytes() for g in (y, *tape.gradient(y, [x, p]))]
        return found

    function, _ = make()
    assert taped(function) == taped(tf.function(function))


def test_a_function_that_is_compared_goes_both_ways() -> None:
    @tf.function(check=True)
    def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        return tf.cond(p > 0.0, lambda: tf.sin(x) * p, lambda: x - p) * 2.0

    for x, p in FLAGS:
        call(x, p)
    assert counts(call) == (2, 1)


def test_a_difference_elsewhere_stays_a_way() -> None:
    scale = [2.0]

    @tf.function
    def call(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        return tf.cond(p > 0.0, lambda: x + 1.0, lambda: x - 1.0) * scale[0]

    x, yes, no = tf.constant(X), tf.constant(1.0), tf.constant(-1.0)
    np.testing.assert_array_equal(call(x, yes), (X + 1.0) * 2.0)
    scale[0] = 3.0  # which is read when a way is traced
    np.testing.assert_array_equal(call(x, no), (X - 1.0) * 3.0)
    np.testing.assert_array_equal(call(x, yes), (X + 1.0) * 2.0)
    assert counts(call) == (2, 2)
