"""Functions that would be traced again and again run eagerly, which is said once; results are eager ones."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError, TracingWarning
from agog_core.tracing.functions.function import function


@contextmanager
def warned(*texts: str) -> Iterator[None]:
    """A block that warns of so much, and nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(each.message) for each in caught] == list(texts)
    assert all(each.category is TracingWarning and each.filename == __file__ for each in caught)


def line(of: Callable[..., Any], text: str) -> str:
    lines, start = inspect.getsourcelines(of)
    (place,) = [number for number, each in enumerate(lines) if text in each]
    return f"{inspect.getsourcefile(of)}:{start + place}"


class Counted:
    """A function whose Python is counted."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls, self._function, self.__name__ = 0, function, "counted"

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self._function(*args)


NUMBERS = (
    "counted was called for more than 8 kinds of arguments that differ in Python numbers alone; a trace of each takes "
    "as long as some calls without tf.function, and memory. It runs eagerly for another number until that has come "
    "three times. Where a number changes from call to call, pass it as a tensor, such as tf.constant(n)."
)
SHAPES = (
    "counted was called for more than 8 kinds of arguments that differ in shapes alone; a trace of each takes as long "
    "as some calls without tf.function, and memory. It runs eagerly for another shape until that has come three times. "
    "Give it few shapes: batch(size, drop_remainder=True), padded sequences."
)
BOTH = (
    "counted was called for more than 8 kinds of arguments that differ in shapes and Python numbers alone; a trace of "
    "each takes as long as some calls without tf.function, and memory. It runs eagerly for others until they have come "
    "three times. Pass numbers as tensors, such as tf.constant(n), and give it few shapes."
)


@pytest.mark.parametrize("is_taped", [False, True])
def test_another_number_at_each_call(is_taped: bool) -> None:
    def value(f: Any, x: ag.Tensor, n: Any) -> Any:
        if not is_taped:
            return f(x, n).numpy()
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, x).numpy() * x.numpy()

    count = Counted(lambda x, n: x * n)
    f, x = function(count), ag.constant(3.0)
    with warned():
        for n in range(8):
            assert value(f, x, float(n)) == 3.0 * n
    with warned(NUMBERS):
        for n in range(8, 300):
            assert value(f, x, float(n)) == 3.0 * n
    assert len(f.traces()) == 3
    assert count.calls == 300
    assert value(f, x, 2.0) == 6.0  # perhaps without a look at it
    calls = count.calls
    for _ in range(100):
        assert value(f, x, 2.0) == 6.0
    assert count.calls < calls + 70
    calls = count.calls
    for _ in range(10):
        assert value(f, x, 2.0) == 6.0
    assert count.calls == calls


def test_what_comes_three_times_is_traced() -> None:
    count = Counted(lambda x, n: x * n)
    f, x = function(count), ag.constant(3.0)
    with warned(NUMBERS):
        for _ in range(12):
            for n in range(12):
                assert float(f(x, n)) == 3.0 * n
        calls = count.calls
        for n in range(12):
            assert float(f(x, n)) == 3.0 * n
    assert count.calls == calls
    assert len(f.traces()) == 12
    assert count.calls > 3 + 9 * 3  # and some without a look


def test_another_shape_at_each_call() -> None:
    count = Counted(lambda x: ag.reduce_sum(x * 2.0))
    f = function(count)
    with warned(SHAPES):
        for n in range(1, 200):
            assert float(f(ag.ones([n, 2]))) == 4.0 * n
    assert len(f.traces()) == 3
    calls = count.calls
    for n in range(1, 4):  # which are known
        f(ag.ones([n, 2]))
    for _ in range(200):
        f(ag.ones([300, 2]))
    assert count.calls < calls + 100


def test_both_differ() -> None:
    f = function(Counted(lambda x, n: ag.reduce_sum(x) * n))
    with warned(BOTH):
        for n in range(1, 30):
            assert float(f(ag.ones([n]), n)) == n * n


def test_other_dtypes_and_ranks_are_counted_apart() -> None:
    f = function(Counted(lambda x: x + x))
    with warned():
        for n in range(1, 9):
            for shape in ([n], [n, 1], [1, 1, n]):
                for dtype in (ag.float32, ag.float64, ag.int32):
                    assert f(ag.ones(shape, dtype)).shape.as_list() == shape
    assert len(f.traces()) == 27


def test_a_memory_for_each_object() -> None:
    class Scaled:
        def __init__(self, by: float) -> None:
            self.by = by

        @function
        def __call__(self, x: Any) -> Any:
            return x * self.by

    with warned():
        for by in range(20):
            assert float(Scaled(by)(ag.constant(2.0))) == 2.0 * by


def test_too_many_ways() -> None:
    def count(x: ag.Tensor) -> ag.Tensor:
        n = 0.0
        while n < 100 and x > n:
            n += 1.0
        return x * n

    f = function(count)
    loop = (
        f"{line(count, 'while n')}: a loop has another length than before, and each length is traced by itself, 32 at "
        "most. tf.while_loop on tensors whose shapes stay is one trace for all lengths, where no tape is open."
    )
    with warned(loop):
        for n in range(32):
            for _ in range(100):
                assert float(f(ag.constant(float(n)))) == n * n
                assert float(f(ag.constant(0.0))) == 0.0  # which runs no other trace in vain
    text = (
        f"{line(count, 'while n')}: count has gone 32 ways through its branches; from here on it runs eagerly for such "
        "arguments. Use tf.where or tf.while_loop, or leave tf.function out."
    )
    with warned(text):
        for n in (50, 31, 3, 60, 2):
            assert float(f(ag.constant(float(n)))) == n * n
    assert f(ag.constant([2.0])).numpy().tolist() == [4.0]  # of another kind
    assert len(f.traces()) == 33


def test_another_way_at_each_call() -> None:
    def times(x: ag.Tensor) -> ag.Tensor:
        n = 0.0
        while x > n:
            n += 1.0
        return x * n

    count = Counted(times)
    f = function(count)
    text = (
        f"{line(times, 'while x')}: counted goes another way through its branches at nearly each call; from here on it "
        "runs eagerly for such arguments. Use tf.where or tf.while_loop, or leave tf.function out."
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(600):
            number = n * 7 % 60
            assert float(f(ag.constant(float(number)))) == number * number
    assert str(caught[-1].message) == text
    assert len(f.traces()) < 16
    calls = count.calls
    assert float(f(ag.constant(7.0))) == 49.0
    assert count.calls == calls + 1


def test_two_ways_by_turns_are_traced() -> None:
    count = Counted(lambda x: x * 2.0 if x > 0.0 else x - 1.0)
    f = function(count)
    with warned():
        for n in range(200):
            value = float(n % 3 - 1)
            assert float(f(ag.constant(value))) == (value * 2.0 if value > 0.0 else value - 1.0)
    assert count.calls == 2


@pytest.mark.parametrize("is_taped", [False, True])
def test_a_trace_that_always_fails(is_taped: bool) -> None:
    """The eager call in its place catches the error."""

    def function_of(x: ag.Tensor, at: ag.Tensor) -> ag.Tensor:
        try:
            return ag.gather(x, at) * 2.0
        except InvalidArgumentError:
            return x[0] * 3.0

    def value(f: Any, x: ag.Tensor, at: ag.Tensor) -> float:
        if not is_taped:
            return float(f(x, at))
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = f(x, at)
        return float(ag.reduce_sum(tape.gradient(y, x) * x))

    count = Counted(function_of)
    f, x = function(count), ag.constant([1.0, 2.0])
    assert value(f, x, ag.constant(1)) == 4.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(20):
            assert value(f, x, ag.constant(5)) == 3.0
    (text,) = [str(each.message) for each in caught]
    assert text.startswith(
        "counted runs eagerly for such arguments from here on: 8 times its trace has failed where the function itself "
        "does not, at last with InvalidArgumentError("
    )
    assert text.endswith(
        "Where the function catches that error, let it ask before, by tf.where or tf.cond; or leave tf.function out."
    )
    assert count.calls == 21
    assert value(f, x, ag.constant(0)) == 2.0
    assert count.calls == 22


def test_errors_of_the_function_itself_are_none_of_its_trace() -> None:
    f, x = function(lambda x, at: ag.gather(x, at)), ag.constant([1.0, 2.0])
    f(x, ag.constant(0))
    with warned():
        for _ in range(20):
            with pytest.raises(InvalidArgumentError):
                f(x, ag.constant(7))
    np.testing.assert_array_equal(f(x, ag.constant(1)), 2.0)
