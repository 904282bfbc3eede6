"""Programs: traced functions as data do what the functions do, for sizes and ways that nobody has recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import agog_core as tf
from agog_core.errors import InvalidArgumentError, TracingError
from agog_core.tracing.programs.interpreter import Interpreter
from agog_core.tracing.programs.recording import Kept, program
from agog_core.tracing.programs.validation import UnknownPartError, check
from agog_testing import says

Spec = tf.TensorSpec
ROWS = [Spec([None, 3])]
WEIGHTS = tf.Variable(np.arange(6, dtype="f").reshape(3, 2) / 7)


def restored(function: Callable[..., Any], specs: Sequence[Any]) -> Callable[..., Any]:
    """The function of data that went through JSON."""
    kept = Kept()
    data = json.loads(json.dumps(program(lambda args, kwargs: function(*args), tuple(specs), {}, kept)))
    check(data, kept.arrays.keys(), len(kept.variables))
    run: Callable[..., Any] = tf.function(Interpreter(data, kept.arrays, list(kept.variables), "f"))
    return run


def rows(count: int, low: float = -1.0, high: float = 1.0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(count).uniform(low, high, (count, 3)).astype("f")


def branching(x: Any) -> Any:
    if tf.reduce_sum(x) > 0:
        return x * 2.0 if tf.reduce_max(x) > 0.9 else x * 3.0
    return x - 1.0


def counted(x: Any) -> Any:
    chosen = tf.boolean_mask(x, x > 0)
    return tf.reduce_mean(chosen) * tf.cast(tf.shape(chosen)[0], tf.float32), tf.reshape(chosen, [-1, 1])


def gradients(x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, WEIGHTS) ** 2)
    return tape.gradient(loss, [WEIGHTS])


def scanned(x: Any) -> Any:
    sums = tf.scan(lambda total, row: total * 0.5 + row, x, initializer=tf.zeros([3]))
    return sums, tf.foldr(lambda total, row: total - row * total, x), tf.map_fn(lambda row: row * row[0], x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "structures": lambda x: {"a": x * 2.0, "b": [tf.reduce_sum(x), None], "c": (x, (x + 1.0,))},
    "shapes": lambda x: tf.reshape(tf.matmul(x, WEIGHTS), [-1]) + tf.zeros([x.shape[0] * 2]),
    "sizes as numbers": lambda x: tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32),
    "ranges": lambda x: tf.gather(x, tf.range(tf.shape(x)[0])[::-1]),
    "branches of Python": branching,
    "cond": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x - 1.0),
    "case": lambda x: tf.case(
        [(tf.reduce_sum(x) > 1, lambda: x), (tf.reduce_sum(x) > 0, lambda: -x)], default=lambda: x * 0.0
    ),
    "values decide sizes": counted,
    "gradients": gradients,
    "rows": scanned,
    "stacks": lambda x: tf.stack([x[0], x[1], x[0]]),
    "concat": lambda x: tf.concat([x, tf.ones_like(x), x], 0),
    "split": lambda x: tf.split(x, 3, axis=1)[1],
    "texts": lambda x: tf.string_join([tf.as_string(tf.cast(x * 9, tf.int32)), "!"]),
    "order": lambda x: tf.sort(tf.reshape(x, [-1]))[:2],
    "one hot": lambda x: tf.one_hot(tf.argmax(x, 1), 3, on_value=2.0),
    "complex": lambda x: tf.abs(tf.complex(x, x * 2.0)) + np.float32(1.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_data_do_what_the_function_does_for_any_size(name: str) -> None:
    function = FUNCTIONS[name]
    run = restored(function, ROWS)
    for x in (
        rows(7),
        rows(2, 0.5),
        rows(9, 0.1, 0.8),
        rows(4, -1.0, -0.1) if name != "values decide sizes" else rows(3),
    ):
        for _ in range(2):  # the call that is traced, and its trace
            want, have = function(tf.constant(x)), run(tf.constant(x))
            assert _form(have) == _form(want)
            for a, b in zip(_leaves(want), _leaves(have), strict=True):
                np.testing.assert_array_equal(a, b)


def _leaves(value: Any) -> list[Any]:
    from agog_core import nest

    return [leaf.numpy() for leaf in nest.flatten(value) if leaf is not None]


def _form(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _form(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [isinstance(value, list), *map(_form, value)]
    return None if value is None else value.dtype.name


def test_loops_run_as_often_as_the_values_say() -> None:
    def powers(count: Any, x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < count, lambda i, y: (i + 1, y * 1.5 + x), [tf.constant(0), x])

    run = restored(powers, [Spec([], tf.int32), *ROWS])
    for count in (0, 1, 9):
        want, have = powers(tf.constant(count), tf.constant(rows(4))), run(tf.constant(count), tf.constant(rows(4)))
        np.testing.assert_array_equal(want[1].numpy(), have[1].numpy())
        assert int(have[0]) == count


def test_variables_are_read_and_written_in_order() -> None:
    total = tf.Variable(1.0)

    def step(x: Any) -> Any:
        tf.cond(x > 3.0, lambda: total.assign(0.0).value(), lambda: total.assign_sub(0.5).value())
        total.assign_add(x)
        doubled = total * 2.0
        total.assign(doubled + 1.0)
        return doubled, total.value()

    run = restored(step, [Spec([])])
    start = float(total)
    want = [tuple(map(float, step(tf.constant(x)))) for x in (1.0, 4.0, 2.5)]
    total.assign(start)
    assert [tuple(map(float, run(tf.constant(x)))) for x in (1.0, 4.0, 2.5)] == want


def test_recording_writes_no_variable_and_draws_nothing() -> None:
    counter = tf.Variable(0)
    tf.set_random_seed(3)
    first = tf.random_normal([2]).numpy()
    tf.set_random_seed(3)
    restored(lambda x: (counter.assign_add(1), tf.random_normal([2]) + x), [Spec([])])
    assert int(counter) == 0
    np.testing.assert_array_equal(tf.random_normal([2]).numpy(), first)


def test_sizes_of_several_arguments_are_told_apart() -> None:
    def both(x: Any, y: Any) -> Any:
        return tf.reshape(tf.matmul(x, y, transpose_b=True), [-1]), tf.zeros([x.shape[0] + y.shape[0]]), y[::-1]

    run = restored(both, [*ROWS, *ROWS])
    for first, second in ((3, 3), (2, 7), (9, 1)):
        x, y = tf.constant(rows(first)), tf.constant(rows(second))
        for want, have in zip(both(x, y), run(x, y), strict=True):
            np.testing.assert_array_equal(want.numpy(), have.numpy())
    with pytest.raises(InvalidArgumentError, match="some sizes are equal"):
        restored(lambda x, y: x + y, [*ROWS, *ROWS])(tf.constant(rows(2)), tf.constant(rows(3)))


def test_random_numbers_go_on_as_in_the_function() -> None:
    def noisy(x: Any) -> Any:
        return tf.nn.dropout(x, rate=0.5, seed=1), tf.random_uniform(tf.shape(x)), tf.random_normal([3], seed=2)

    run = restored(noisy, ROWS)
    found = []
    for function in (noisy, run):
        tf.set_random_seed(5)
        found.append([_leaves(function(tf.ones([count, 3]))) for count in (2, 7, 7)])
    for want, have in zip(*found, strict=True):
        for a, b in zip(want, have, strict=True):
            np.testing.assert_array_equal(a, b)


def test_gradients_flow_through() -> None:
    run = restored(lambda x: tf.reduce_sum(tf.tanh(tf.matmul(x, WEIGHTS))), ROWS)
    x = tf.constant(rows(5))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x)
    of_x, of_weights = tape.gradient(y, [x, WEIGHTS])
    slope = 1 - np.tanh(rows(5).astype("d") @ WEIGHTS.numpy().astype("d")) ** 2
    np.testing.assert_allclose(of_x.numpy(), slope @ WEIGHTS.numpy().T.astype("d"), rtol=1e-5)
    np.testing.assert_allclose(of_weights.numpy(), rows(5).T.astype("d") @ slope, rtol=1e-5, atol=1e-6)


def test_gradients_of_what_was_broadcast_have_its_shape() -> None:
    scale = tf.Variable(2.0)
    run = restored(lambda x: tf.where(x > 0, x * scale, scale - x) / tf.reduce_max(x), ROWS)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(run(tf.constant(rows(5))))
    gradient = tape.gradient(y, scale)
    assert gradient.shape == ()
    x = rows(5).astype("d")
    np.testing.assert_allclose(gradient.numpy(), np.where(x > 0, x, 1).sum() / x.max(), rtol=1e-5)


def _line(function: Callable[..., Any]) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno}"


def test_what_data_cannot_say_names_its_line() -> None:
    function = lambda x: tf.py_func(lambda y: y, [x], tf.float32)  # noqa: E731  # one line
    with says(
        TracingError,
        f"{_line(function)}: the function cannot be kept as data: it calls a function of Python at each run, as "
        "tf.py_function and tf.print do.",
    ):
        restored(function, ROWS)
    function = lambda x: x * float(np.sum(x.numpy()))  # noqa: E731  # one line
    with says(
        TracingError,
        f"{_line(function)}: the function cannot be kept as data: it reads the value of a tensor, as by .numpy().",
    ):
        restored(function, ROWS)


def test_what_is_something_else_for_each_size_is_refused() -> None:
    function = lambda x: x * float(len(str(x.shape[0])) + x.shape[0] // 2)  # noqa: E731  # one line
    with pytest.raises(TracingError, match="the function does something else for each size"):
        restored(function, ROWS)
    halves = lambda x: x[: x.shape[0] // 2]  # noqa: E731  # one line
    with pytest.raises(TracingError, match="are no polynomial of those of the arguments"):
        restored(halves, ROWS)


def test_unknown_parts_are_named() -> None:
    kept = Kept()
    data = program(lambda args, kwargs: args[0] + 1.0, (Spec([]),), {}, kept)
    step = next(each for each in data["block"]["steps"] if each["do"] == "op")
    step["name"] = "telepathy"
    with says(UnknownPartError, "there is no op 'telepathy'; a plugin or a later version of agog may have it"):
        check(data, kept.arrays.keys(), 0)
    step["do"] = "dream"
    with says(UnknownPartError, "a step does 'dream', which this version of agog does not know"):
        check(data, kept.arrays.keys(), 0)
