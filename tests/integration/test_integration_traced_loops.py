"""Loops of traced functions: one node, whose length is free, with the bits of eager calls."""

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
from agog_core.tracing.graphs.graph import Effect

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
Made = tuple[Callable[..., Any], Sequence[Any]]

X = np.random.RandomState(0).randn(4, 4).astype(np.float32)
SEED = 7
LENGTHS = [3, 0, 1, 2, 5, 7, 0, 50]

pytestmark = pytest.mark.usefixtures("way")


def numbers(*lengths: int) -> list[tuple[tf.Tensor]]:
    return [(tf.constant(n),) for n in lengths]


def outcomes(make: Callable[[Wrap], Made], wrap: Wrap, calls: Sequence[Any]) -> tuple[list[Any], Any]:
    """What calls give or raise, what they leave in variables, and where the random stream is at the end."""
    tf.set_random_seed(SEED)
    function, variables = make(wrap)
    found: list[Any] = []
    for call in calls:
        try:
            found.append([np.asarray(each) for each in nest.flatten(function(*call))])
        except tf.errors.InvalidArgumentError as error:
            found.append([str(error)])
        found.append([variable.numpy().copy() for variable in variables])
    found.append([tf.random_uniform([3]).numpy()])
    return found, function


def same(make: Callable[[Wrap], Made], calls: Sequence[Any]) -> Any:
    """Call a function eagerly and traced; the traced one, if every bit is the same."""
    expected, _ = outcomes(make, lambda function: function, calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)  # of loops that are recorded as they ran
        found, traced = outcomes(make, tf.function, calls)
    for one, other in zip(expected, found, strict=True):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            if isinstance(left, str):
                assert left == right
                continue
            assert (left.dtype, left.shape) == (right.dtype, right.shape)
            assert left.tobytes() == right.tobytes()
    return traced


def loops(traced: Any) -> int:
    return sum(node.effect is Effect.LOOP for node in traced.graph().nodes)


def test_any_length_takes_one_trace() -> None:
    traced = tf.function(
        lambda n: tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, 0.5 * a + 1.0], [tf.constant(0), tf.ones([3])])
    )
    for n in [2, *range(51)]:
        i, a = traced(tf.constant(n))
        expected = np.ones(3, np.float32)
        for _ in range(n):
            expected = np.float32(0.5) * expected + np.float32(1.0)
        assert int(i) == n
        np.testing.assert_array_equal(a.numpy(), expected)
    assert len(traced.traces()) == 1
    assert loops(traced) == 1


def test_products_and_functions_of_captured_tensors() -> None:
    def make(wrap: Wrap) -> Made:
        x = tf.constant(X)

        def call(n: tf.Tensor) -> Any:
            y = x + 1.0
            return tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, tf.tanh(a @ y) + a], [tf.constant(0), x])

        return wrap(call), []

    assert len(same(make, numbers(*LENGTHS)).traces()) == 1


def test_forms_that_no_iteration_gives_are_a_way_of_their_own() -> None:
    """Without iterations a loop returns the list that it was given; with some, the tuple that its body returns."""

    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 1.5), [tf.constant(0), tf.constant(2.0)])

        return wrap(call), []

    traced = same(make, numbers(*LENGTHS))
    assert len(traced.traces()) == 2
    assert (type(traced(tf.constant(0))), type(traced(tf.constant(4)))) == (list, tuple)


def test_random_numbers_come_in_the_order_of_the_program() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            a = tf.random_normal([2])
            _, b = tf.while_loop(
                lambda i, b: i < n, lambda i, b: [i + 1, b + tf.random_uniform([2])], [tf.constant(0), a]
            )
            c = tf.random_normal([2])
            _, d = tf.while_loop(
                lambda i, d: i < n,
                lambda i, d: [i + 2, d * tf.random_uniform([2]) + tf.random_normal([2])],
                [tf.constant(0), c],
            )
            return b, c, d, tf.random_normal([2])

        return wrap(call), []

    traced = same(make, numbers(*LENGTHS))
    assert (len(traced.traces()), loops(traced)) == (1, 2)


def test_loops_in_loops() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor, m: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                _, b = tf.while_loop(
                    lambda j, b: j < m + i,
                    lambda j, b: [j + 1, b * 1.01 + tf.cast(i, tf.float32) + tf.random_uniform([])],
                    [tf.constant(0), a],
                )
                return [i + 1, b + a * tf.random_uniform([])]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant(1.5)])

        return wrap(call), []

    calls = [(tf.constant(n), tf.constant(m)) for n in (2, 0, 3, 1) for m in (1, 0, 4)]
    assert len(same(make, calls).traces()) == 1


def test_variables_that_bodies_read_and_write() -> None:
    def make(wrap: Wrap) -> Made:
        v, w = tfe.Variable([1.0, 2.0]), tfe.Variable(0)

        def call(n: tf.Tensor) -> Any:
            before = v + 0.0
            v.assign_add([1.0, 1.0])

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                v.assign(v * 0.5 + a)
                w.assign_add(1)
                return [i + 1, a + v + before]

            _, a = tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant([1.0, 1.0])])
            v.assign_add(a)
            return a, v + 1.0, w + 0

        return wrap(call), [v, w]

    assert len(same(make, numbers(*LENGTHS)).traces()) == 1


def test_conditions_that_read_variables_which_the_function_has_changed() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(3.0)

        def call(n: tf.Tensor) -> Any:
            def loop(start: Any) -> Any:
                return tf.while_loop(
                    lambda i, a: i < tf.cast(v, tf.int32) + n, lambda i, a: [i + 1, a * v], [tf.constant(0), start]
                )

            _, a = loop(tf.constant(1.0))
            v.assign_add(1.0)
            return loop(a)

        return wrap(call), [v]

    assert len(same(make, numbers(1, 0, 2)).traces()) == 1


def test_gradients_inside_of_bodies() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable([1.0, 2.0])

        def call(n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                with tf.GradientTape() as tape:
                    tape.watch(a)
                    loss = tf.reduce_sum(tf.sin(a * w))
                return [i + 1, a - 0.1 * tape.gradient(loss, a)]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant([2.0, 0.5])])

        return wrap(call), [w]

    assert len(same(make, numbers(*LENGTHS)).traces()) == 1


def test_gradients_through_loops() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable([1.0, 2.0])

        def call(n: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                _, a = tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, tf.sin(a * w)], [tf.constant(0), w * 2.0])
            return tape.gradient(a, w)

        return wrap(call), [w]

    same(make, numbers(3, 0, 1, 2, 3))


def test_an_error_in_the_middle_leaves_what_an_eager_one_leaves() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(0.0)

        def call(n: tf.Tensor) -> Any:
            v.assign_add(1.0)

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                v.assign_add(1.0)
                a += tf.random_uniform([])
                return [i + 1, a + tf.gather(tf.constant([1.0, 2.0, 3.0]), i)]

            found = tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant(2.0)])
            v.assign_add(10.0)
            return found

        return wrap(call), [v]

    same(make, numbers(1, 3, 0, 5, 2, 1, 5))


def test_an_error_names_the_line_of_the_op(way: str) -> None:
    if way == "portable":
        pytest.skip("errors of this device come when values are read")

    @tf.function
    def call(n: tf.Tensor, x: tf.Tensor) -> Any:
        return tf.while_loop(
            lambda i, a: i < n,
            lambda i, a: [i + 1, a + tf.gather(x, i)],
            [tf.constant(0), tf.constant(0.0)],
        )

    x = tf.constant([1.0, 2.0])
    assert float(call(tf.constant(2), x)[1]) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call(tf.constant(3), x)
    line = f"{__file__}:{call.python_function.__code__.co_firstlineno + 4}"
    assert any(line in note for note in caught.value.__notes__)


def test_a_branch_in_a_body_that_goes_another_way_is_an_eager_call() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(0.0)

        def call(n: tf.Tensor, m: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                v.assign_add(1.0)
                tf.assert_less(i, m)
                return [i + 1, a + tf.random_uniform([])]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.random_uniform([])])

        return wrap(call), [v]

    calls = [(tf.constant(n), tf.constant(m)) for n, m in ((1, 5), (3, 5), (4, 2), (2, 2), (5, 1), (3, 3))]
    assert len(same(make, calls).traces()) == 1


def test_a_branch_in_a_body_is_warned_of_once() -> None:
    @tf.function
    def call(n: tf.Tensor, x: tf.Tensor) -> Any:
        def body(i: tf.Tensor, a: tf.Tensor) -> Any:
            if a > 10.0:
                a = a / 3.0
            return [i + 1, a * 2.0]

        return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), x])

    assert float(call(tf.constant(2), tf.constant(1.0))[1]) == 4.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert float(call(tf.constant(2), tf.constant(6.0))[1]) == 8.0
        assert float(call(tf.constant(2), tf.constant(12.0))[1]) == 16.0
    line = f"{__file__}:{call.python_function.__code__.co_firstlineno + 3}"
    assert [str(each.message) for each in caught] == [
        f"{line}: a branch inside of a loop goes another way than when the function was traced; such calls run op by "
        "op, as without tf.function. Write tf.cond or tf.where, or leave tf.function out."
    ]


def test_first_values_of_another_shape() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            start = [tf.constant(0), tf.cast(n, tf.float32)]
            return tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a + tf.constant([1.0, 2.0])], start)

        return wrap(call), []

    assert len(same(make, numbers(*LENGTHS)).traces()) == 2


def test_first_values_that_lie_column_by_column() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor, x: tf.Tensor) -> Any:
            y = tf.transpose(x)
            return tf.while_loop(
                lambda i, a, b: i < n, lambda i, a, b: [i + 1, tf.sinh(a) * 0.5, y], [tf.constant(0), y, x]
            )

        return wrap(call), []

    same(make, [(tf.constant(n), tf.constant(X)) for n in (3, 0, 1, 2, 3)])


def test_results_share_no_memory_with_variables() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable([1.0, 2.0])

        def call(n: tf.Tensor) -> Any:
            start = [tf.constant(0), v.value(), 2 * v]
            found = tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: [i + 1, b, v.value()], start)
            v.assign_add([1.0, 1.0])
            return found

        return wrap(call), [v]

    same(make, numbers(*LENGTHS))


def test_a_limit_of_iterations() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            return tf.while_loop(
                lambda i, a: i < n,
                lambda i, a: [i + 1, a + tf.random_uniform([])],
                [tf.constant(0), tf.constant(2.0)],
                maximum_iterations=3,
            )

        return wrap(call), []

    assert len(same(make, numbers(2, 5, 3, 0, 10)).traces()) == 1


def test_a_long_loop_of_known_length_is_one_node() -> None:
    def make(wrap: Wrap) -> Made:
        def call(x: tf.Tensor) -> Any:
            i, a = tf.while_loop(
                lambda i, a: i < 300, lambda i, a: [i + 1, a * 1.001 + tf.cast(i, tf.float32)], [tf.constant(0), x]
            )
            return a * float(i)

        return wrap(call), []

    traced = same(make, [(tf.constant(1.0),), (tf.constant(2.0),)])
    assert loops(traced) == 1
    assert len(traced.graph().nodes) < 10


def test_loops_in_which_python_looks_at_values_are_recorded_as_they_ran() -> None:
    def make(wrap: Wrap) -> Made:
        x = tf.constant(X)

        def call(n: tf.Tensor) -> Any:
            return tf.while_loop(
                lambda i, a: i < n, lambda i, a: [i + 1, a + x[int(i) % 4] * n_of(i)], [tf.constant(0), tf.ones([4])]
            )

        def n_of(i: tf.Tensor) -> float:
            return 2.0 if i == 1 else 3.0

        return wrap(call), []

    traced = same(make, numbers(3, 0, 1, 2, 5))
    assert loops(traced) == 0
    assert len(traced.traces()) == 5


def test_arrays_of_tensors_that_bodies_write() -> None:
    def make(wrap: Wrap) -> Made:
        def call(y: tf.Tensor) -> Any:
            array = tf.TensorArray(tf.float32, 4)

            def body(i: tf.Tensor, s: tf.Tensor) -> Any:
                array.write(i, y[int(i)] * s)
                return [i + 1, s + 1.0]

            _, s = tf.while_loop(lambda i, s: i < 4, body, [tf.constant(0), tf.reduce_sum(y)])
            return array.stack(), s

        return wrap(call), []

    assert len(same(make, [(tf.constant(X),), (tf.constant(X + 1),)]).traces()) == 1


def test_how_often_a_loop_ran_may_be_read() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            i, a = tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * 1.5], [tf.constant(0), tf.constant(2.0)])
            return a * float(i)

        return wrap(call), []

    assert len(same(make, numbers(3, 0, 1, 3, 0)).traces()) == 3


def test_python_that_differs_from_iteration_to_iteration_is_recorded_as_it_ran() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            count = [0]

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                count[0] += 1
                return [i + 1, a * count[0]]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant(2.0)])

        return wrap(call), []

    assert loops(same(make, numbers(3, 0, 2, 5))) == 0


@pytest.mark.parametrize("is_result", [False, True])
def test_tensors_that_bodies_keep_are_what_they_were(is_result: bool) -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            kept = [tf.constant(0.0)]

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                kept[0] = a * 2.0 + kept[0]
                return [i + 1, kept[0] if is_result else a + kept[0]]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant(2.0)]), kept[0]

        return wrap(call), []

    assert loops(same(make, numbers(1, 3, 0, 2, 1, 5))) == 0


def test_shapes_that_grow_are_recorded_as_they_ran() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            start = [tf.constant(0), tf.constant([2.0, 3.0])]
            return tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, tf.concat([a, a], 0)], start)

        return wrap(call), []

    assert loops(same(make, numbers(3, 0, 1, 2))) == 0


def test_structures_of_loop_variables() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            def body(state: Any) -> Any:
                return [{"i": state["i"] + 1, "pair": (state["pair"][1], state["pair"][0] * 2.0)}]

            start = {"i": tf.constant(0), "pair": (tf.constant(1.0), tf.constant(3.0))}
            return tf.while_loop(lambda state: state["i"] < n, body, [start])

        return wrap(call), []

    assert len(same(make, numbers(*LENGTHS)).traces()) == 1


def test_a_function_that_is_compared_with_eager_calls() -> None:
    @tf.function(check=True)
    def call(n: tf.Tensor) -> Any:
        return tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * 1.5], [tf.constant(0), tf.constant(2.0)])

    for n in (2, 0, 5):
        assert float(call(tf.constant(n))[1]) == 2.0 * 1.5**n


def test_branches_that_bodies_share_with_what_is_behind_them() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor, x: tf.Tensor) -> Any:
            positive = x > 0.0

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                return [i + 1, a + 1.0 if positive else a - 1.0]

            _, a = tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), x])
            return a * 2.0 if positive else a * 3.0

        return wrap(call), []

    calls = [(tf.constant(n), tf.constant(x)) for n, x in ((2, 1.0), (0, -1.0), (0, 1.0), (3, -1.0), (1, 2.0))]
    same(make, calls)


def test_cond_in_bodies_is_a_node_that_knows_both_functions() -> None:
    def make(wrap: Wrap) -> Made:
        w = tf.constant(X)

        def call(n: tf.Tensor, x: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                b = tf.tanh(a @ w)
                a = tf.cond(tf.reduce_sum(b) > 0.0, lambda: b - x, lambda: a * 0.5 + x)
                return [i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a, lambda: b + tf.cast(i, tf.float32))]

            return tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), x])

        return wrap(call), []

    x = tf.constant(X)
    traced = same(
        make, [(tf.constant(n), tf.constant(X * scale)) for n in (6, 0, 1, 2, 9, 30) for scale in (1.0, -1.0)]
    )
    assert (len(traced.traces()), loops(traced)) == (1, 1)
    assert traced.graph(tf.constant(1), x) is traced.traces()[0].graph


def test_cond_in_bodies_with_random_numbers_and_variables() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(1.0)

        def call(n: tf.Tensor) -> Any:
            def more() -> Any:
                v.assign(v * 1.5)
                return v + tf.random_uniform([])

            def less() -> Any:
                v.assign(v - tf.random_uniform([]))
                return v * 2.0

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                return [i + 1, a + tf.cond(tf.random_uniform([]) > 0.5, more, less) * tf.random_uniform([])]

            found = tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.constant(0.0)])
            return found, tf.random_uniform([])

        return wrap(call), [v]

    assert len(same(make, numbers(20, 0, 1, 2, 5, 30)).traces()) == 1


@pytest.mark.parametrize("is_changed", [False, True])
def test_cond_in_bodies_that_goes_a_way_that_is_not_known(is_changed: bool) -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(0.0)

        def call(n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                if is_changed:
                    v.assign_add(tf.random_uniform([]))
                return [i + 1, tf.cond(i < 3, lambda: a + 1.0, lambda: a * 2.0)]

            if is_changed:
                v.assign_add(1.0)
            found = tf.while_loop(lambda i, a: i < n, body, [0 * n, v + 1.0])
            v.assign_add(1.0)
            return found

        return wrap(call), [v]

    traced = same(make, numbers(2, 3, 5, 0, 4, 1))
    # Behind a write no call may begin anew, so that such loops are recorded as they ran.
    assert (len(traced.traces()) == 1) is not is_changed


def test_cond_in_bodies_that_gives_other_things_is_recorded_as_it_ran() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                b = tf.cond(i < 2, lambda: a + 1.0, lambda: tf.stack([a, a])[0] * 2.0)
                c = tf.cond(i < 1, lambda: 1, lambda: 2.5)
                d = tf.cond(i < 1, lambda: (a, b), lambda: [b, a])
                return [i + 1, d[0] * c]

            return tf.while_loop(lambda i, a: i < n, body, [0 * n, tf.constant(1.0)])

        return wrap(call), []

    same(make, numbers(3, 0, 1, 2, 4))


def test_numbers_drawn_behind_a_loop_are_put_back_where_the_call_goes_another_way() -> None:
    def make(wrap: Wrap) -> Made:
        def call(n: tf.Tensor) -> Any:
            _, a = tf.while_loop(
                lambda i, a: i < n, lambda i, a: [i + 1, a + tf.random_uniform([])], [tf.constant(0), tf.constant(0.0)]
            )
            b = tf.random_uniform([])
            return a + b if b > 0.5 else a - tf.random_uniform([])

        return wrap(call), []

    same(make, numbers(*[n % 4 for n in range(12)]))


def test_what_the_first_iteration_writes_is_kept_where_it_differs_from_the_others() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(1.0)

        def call(n: tf.Tensor) -> Any:
            def write() -> Any:
                v.assign(v * 2.0 + tf.cast(n, tf.float32))
                return v + 0.0

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                return [i + 1, tf.fill([2], tf.cond(i < 1, write, lambda: tf.reduce_sum(a)))]

            return tf.while_loop(lambda i, a: i < n, body, [0 * n, tf.constant(0.0)])

        return wrap(call), [v]

    same(make, numbers(3, 0, 1, 2, 4))


def test_what_the_first_iteration_alone_writes_is_read_behind_the_loop() -> None:
    def make(wrap: Wrap) -> Made:
        v = tfe.Variable(1.0)

        def call(n: tf.Tensor) -> Any:
            def write() -> Any:
                v.assign(v * 2.0 + tf.cast(n, tf.float32))
                return tf.zeros([])

            def body(i: tf.Tensor, a: tf.Tensor) -> Any:
                return [i + 1, tf.fill([2], tf.cond(i < 1, write, lambda: tf.reduce_sum(a)))]

            found = tf.while_loop(lambda i, a: i < n, body, [0 * n, tf.constant(0.0)])
            return found, v + 0.0

        return wrap(call), [v]

    same(make, numbers(3, 2, 4, 3, 0, 1, 5))


@pytest.mark.parametrize("kind", ["handed on", "swapped", "rotated", "of outside", "twice", "a constant"])
def test_tapes_behind_loops_know_the_tensors_that_these_were_given(kind: str) -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(X)

        def call(n: tf.Tensor, x: tf.Tensor) -> Any:
            y, c = tf.sin(x), tf.constant(X)

            def body(i: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> Any:
                made = tf.tanh(b) * 0.5
                return [
                    i + 1,
                    *{
                        "handed on": [a, made],
                        "swapped": [b, made],
                        "rotated": [b, a],
                        "of outside": [y, made],
                        "twice": [made, made],
                        "a constant": [c, made],
                    }[kind],
                ]

            _, a, b = tf.while_loop(lambda i, a, b: i < n, body, [tf.constant(0), x, w.read_value()])
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([x, y, c, a])
                loss = tf.reduce_sum(a * a + b) + tf.reduce_sum(w * w)
            return [tape.gradient(loss, each) for each in (x, y, c, a, w)]

        return wrap(call), []

    lengths = (5, 0, 1, 2, 3, 9, 4, 0, 1)
    traced = same(make, [(tf.constant(n), tf.constant(X)) for n in lengths])
    if kind == "handed on":
        assert len(traced.traces()) == 2


def test_a_function_that_is_compared_may_go_another_way_in_a_body() -> None:
    @tf.function(check=True)
    def call(n: tf.Tensor, x: tf.Tensor) -> Any:
        return tf.while_loop(
            lambda i, a: i < n, lambda i, a: [i + 1, a * 2.0 if a < 10.0 else a / 5.0], [tf.constant(0), x]
        )

    assert float(call(tf.constant(2), tf.constant(1.0))[1]) == 4.0
    with pytest.warns(TracingWarning, match="goes another way"):
        assert float(call(tf.constant(2), tf.constant(5.0))[1]) == 2.0
