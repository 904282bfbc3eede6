"""Errors in traced functions: the error that an eager call raises, from the same op, with the same done before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.tracing.execution import hotness
from agog_core.tracing.execution.executors import executable
from agog_core.tracing.traces import concrete
from agog_testing.compilers import compilers_in_use

GOOD = np.eye(2, dtype="f4")
BAD = -GOOD
LARGE = 70_000  # elements, from which on the compiler takes elementwise ops alone


@pytest.fixture(params=["interpreted", "portable", "numpy", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What runs the traced functions: node after node, kernel after kernel, NumPy's calls, or compiled loops."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    if request.param == "portable":
        monkeypatch.setattr(concrete, "executable", lambda graph, is_portable: executable(graph, True))
    if request.param == "interpreted":
        monkeypatch.setattr(hotness, "_at_once", [])
        monkeypatch.setattr(hotness, "_TIMES", 1e9)
    with compilers_in_use() if request.param == "numpy" else nullcontext():
        yield request.param


def outcomes(make: Callable[[], tuple[Any, list[Any]]], wrap: Any, calls: list[Any]) -> list[Any]:
    """What each call gives, or its error; and the variables after it."""
    step, variables = make()
    run, found = wrap(step), []
    for call in calls:
        try:
            result: Any = [np.asarray(each).tolist() for each in run(*map(tf.constant, call))]
        except Exception as error:
            result = type(error), str(error)
        found.append((result, [variable.numpy().tolist() for variable in variables]))
    return found


def check(make: Callable[[], tuple[Any, list[Any]]], *calls: Any) -> None:
    """Each order of the calls does what eager calls do."""
    for order in (calls, calls[::-1], [each for each in calls for _ in range(2)]):
        given = [each if isinstance(each, tuple) else (each,) for each in order]
        assert outcomes(make, tf.function, given) == outcomes(make, lambda step: step, given)


def without_variables(step: Callable[..., Any]) -> Callable[[], tuple[Any, list[Any]]]:
    return lambda: (step, [])


@pytest.mark.usefixtures("way")
def test_an_op_whose_result_nobody_uses() -> None:
    def factor(x: Any) -> Any:
        tf.cholesky(x)
        return [x + 1.0]

    def pick(x: Any, n: Any) -> Any:
        tf.gather(x, n)
        return [x + 1.0]

    def divide(x: Any, n: Any) -> Any:
        n // n
        tf.mod(n, n)
        return [x + 1.0]

    check(without_variables(factor), GOOD, BAD, GOOD)
    check(without_variables(pick), (GOOD, np.int32(1)), (GOOD, np.int32(5)), (GOOD, np.int32(-1)))
    check(without_variables(divide), (GOOD, np.int32(1)), (GOOD, np.int32(0)))


@pytest.mark.usefixtures("way")
def test_the_first_error_of_several() -> None:
    def step(x: Any, n: Any) -> Any:
        tf.gather(x, n)
        tf.cholesky(x)
        tf.gather_nd(x, tf.reshape(n, [1]))
        return [x]

    calls = [(GOOD, np.int32(0)), (BAD, np.int32(0)), (GOOD, np.int32(3)), (BAD, np.int32(3))]
    check(without_variables(step), *calls)


@pytest.mark.usefixtures("way")
def test_a_function_that_catches_an_error() -> None:
    def of_a_kernel(x: Any) -> Any:
        try:
            return [tf.cholesky(x)]
        except tf.errors.InvalidArgumentError:
            return [x * 2.0]

    def by_its_text(x: Any, n: Any) -> Any:
        try:
            return [tf.gather(x, n)]
        except tf.errors.InvalidArgumentError as error:
            return [x * float("= 5" in str(error))]

    def of_an_assertion(x: Any) -> Any:
        try:
            tf.debugging.assert_non_negative(x)
        except tf.errors.InvalidArgumentError as error:
            return [x, tf.constant(str(error))]
        return [x * 2.0]

    check(without_variables(of_a_kernel), GOOD, BAD, GOOD * 3, BAD * 3)
    check(without_variables(by_its_text), (GOOD, np.int32(1)), (GOOD, np.int32(5)), (GOOD, np.int32(6)))
    check(without_variables(of_an_assertion), GOOD, BAD, BAD * 3, GOOD)


@pytest.mark.usefixtures("way")
def test_assertions() -> None:
    def asserting(x: Any) -> Any:
        tf.Assert(tf.reduce_all(x >= 0.0), ["x is", x, {"n": tf.reduce_sum(x)}])
        return [x + 1.0]

    def comparing(x: Any) -> Any:
        tf.debugging.assert_less(x, 2.0, data=[x], message="here")
        return [x + 1.0]

    def checking(x: Any) -> Any:
        tf.check_numerics(1.0 / x, "here")
        return [x + 1.0]

    check(without_variables(asserting), GOOD, BAD, GOOD, BAD * 2)
    check(without_variables(comparing), GOOD, GOOD * 5, GOOD * 6)
    check(without_variables(checking), GOOD + 1, GOOD, GOOD - 1)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("size", [3, LARGE])
def test_what_was_written_before(catches: bool, size: int) -> None:
    def make() -> tuple[Any, list[Any]]:
        v, w, long = tfe.Variable(0.0), tfe.Variable(GOOD), tfe.Variable(np.zeros(size, "f4"))

        def step(x: Any) -> Any:
            v.assign_add(1.0)
            w.assign_add(x)
            long.assign(tf.tanh(long * 0.5 + 1.0))
            try:
                y = tf.cholesky(w)
            except tf.errors.InvalidArgumentError:
                if not catches:
                    raise
                y = x * 0.0
            v.assign_add(1.0)
            long.assign_add(long)
            return [y, v.value(), tf.reduce_sum(long)]

        return step, [v, w, long]

    check(make, GOOD, BAD * 5, GOOD * 9, GOOD, BAD * 30)


@pytest.mark.usefixtures("way")
def test_assertions_about_what_was_written() -> None:
    def make() -> tuple[Any, list[Any]]:
        v, w = tfe.Variable(0.0), tfe.Variable(1.0)

        def step(x: Any) -> Any:
            v.assign_add(tf.reduce_sum(x))
            w.assign(w / v)
            tf.debugging.assert_positive(v.value(), message="here")
            tf.check_numerics(w.value(), "there")
            v.assign_add(100.0)
            return [v.value()]

        return step, [v, w]

    check(make, GOOD, BAD * 90, GOOD * 300, BAD * 800)
    check(make, GOOD * 0.0, GOOD)


@pytest.mark.usefixtures("way")
def test_updates_that_fail_and_are_caught() -> None:
    def make() -> tuple[Any, list[Any]]:
        v, w, count = tfe.Variable(np.zeros((4, 2), "f4")), tfe.Variable(np.zeros((4, 2), "f4")), tfe.Variable(0.0)

        def step(i: Any, j: Any) -> Any:
            tf.scatter_add(v, [i], [[1.0, 1.0]])
            count.assign_add(1.0)
            try:
                tf.scatter_add(w, [j], [[1.0, 1.0]])
            except tf.errors.InvalidArgumentError:
                count.assign_add(100.0)
            count.assign_add(1.0)
            return [count.value()]

        return step, [v, w, count]

    one, far = np.int32(1), np.int32(9)
    check(make, (one, one), (one, far), (one, one), (one, far))


@pytest.mark.usefixtures("way")
def test_what_was_written_before_an_update_that_fails() -> None:
    """Some of it in the variables' own memory, so that the function cannot be called again."""

    def make() -> tuple[Any, list[Any]]:
        v, w, count = tfe.Variable(np.zeros((4, 2), "f4")), tfe.Variable(np.zeros((4, 2), "f4")), tfe.Variable(0.0)
        whole, other = tfe.Variable(GOOD), tfe.Variable(GOOD)

        def step(i: Any, j: Any) -> Any:
            count.assign_add(1.0)
            whole.assign_add(tf.exp(whole) * 0.125)  # which nobody else asks for
            tf.scatter_add(v, [i], [[1.0, 1.0]])
            count.assign_add(1.0)
            tf.scatter_add(w, [j], [[1.0, 1.0]])
            count.assign_add(1.0)
            whole.assign(other)
            other.assign_add(GOOD)
            return [count.value()]

        return step, [v, w, count, whole, other]

    one, far = np.int32(1), np.int32(9)
    check(make, (one, one), (one, far), (far, one), (one, one))


@pytest.mark.usefixtures("way")
def test_what_was_written_before_an_error_in_memory_of_its_own() -> None:
    """A value in between is written in place, which is no write of a variable."""

    def make() -> tuple[Any, list[Any]]:
        v = tfe.Variable(0.0)

        def step(x: Any) -> Any:
            v.assign_add(1.0)
            v.assign_add(tf.reduce_sum(x))
            tf.check_numerics(1.0 / v, "here")
            v.assign_add(1.0)
            return [v.value()]

        return step, [v]

    check(make, GOOD, GOOD * 0.5, BAD * 3.0, BAD)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("of_python", [False, True])
def test_errors_behind_calls_of_python(catches: bool, of_python: bool) -> None:
    calls: list[float] = []

    def make() -> tuple[Any, list[Any]]:
        v, w = tfe.Variable(0.0), tfe.Variable(0.0)

        def given(x: Any) -> Any:
            calls.append(float(np.sum(x)))
            if of_python and np.sum(x) < 0:
                raise ValueError("negative")
            return np.asarray(x)

        def step(x: Any) -> Any:
            v.assign_add(1.0)
            try:
                y = tf.reshape(tf.py_func(given, [x], tf.float32), [2, 2])
                w.assign_add(1.0)
                y = tf.cholesky(y)
            except (ValueError, tf.errors.InvalidArgumentError):
                if not catches:
                    raise
                y = x * 5.0
            v.assign_add(1.0)
            return [y]

        return step, [v, w]

    for order in ([GOOD, BAD, GOOD], [BAD, GOOD, GOOD, BAD]):
        expected = outcomes(make, lambda step: step, [(each,) for each in order]), list(calls)
        calls.clear()
        assert (outcomes(make, tf.function, [(each,) for each in order]), calls) == expected
        calls.clear()


@pytest.mark.usefixtures("way")
def test_what_was_written_before_an_error_behind_a_call_of_python() -> None:
    def make() -> tuple[Any, list[Any]]:
        v, w = tfe.Variable(0.0), tfe.Variable(0.0)

        def step(x: Any) -> Any:
            v.assign_add(1.0)
            with tf.GradientTape():
                y = tf.reshape(tf.py_func(np.asarray, [x], tf.float32), [2, 2])
            w.assign_add(1.0)
            y = tf.cholesky(y)
            v.assign_add(1.0)
            return [y]

        return step, [v, w]

    check(make, GOOD, BAD, GOOD, BAD)


def test_calls_of_python_in_a_try_are_not_run_again() -> None:
    @tf.function
    def step(x: Any) -> Any:
        try:
            with tf.GradientTape():
                y = tf.py_func(np.asarray, [x], tf.float32)
        except ValueError:
            y = x
        return y

    @tf.function
    def other(x: Any) -> Any:
        with tf.GradientTape():
            y = tf.py_func(np.asarray, [x], tf.float32)
        return tf.cholesky(tf.reshape(y, [2, 2]))

    for _ in range(2):
        step(tf.constant(GOOD))
        other(tf.constant(GOOD))
    (info,) = step.traces()
    assert not info.is_kept
    assert info.reason.endswith(": Python is called, and then or in it something may fail in a try")
    (info,) = other.traces()
    assert info.is_kept


def test_a_call_in_which_an_op_has_failed_is_not_run_again() -> None:
    @tf.function
    def step(x: Any) -> Any:
        try:
            return tf.cholesky(x)
        except tf.errors.InvalidArgumentError:
            return x

    for _ in range(3):
        step(tf.constant(BAD))
    step(tf.constant(GOOD))
    (failed, kept) = step.traces()
    assert failed.reason.endswith(": an op failed, and the function caught the error")
    assert failed.reason.startswith(__file__)
    assert not failed.is_kept
    assert kept.is_kept
    assert kept.reason == "arguments of another kind: float32 (2, 2)"


def test_a_refusal_that_the_function_catches() -> None:
    @tf.function
    def step(x: Any) -> Any:
        try:
            return x * float(x)
        except Exception:
            return x

    with pytest.raises(tf.errors.TracingError, match="is read while the function is traced"):
        step(tf.constant(2.0))
