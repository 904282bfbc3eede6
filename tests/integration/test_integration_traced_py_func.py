"""Python that traced functions call: no lock is held meanwhile, and it sees and changes what eager code lets it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.errors import TracingWarning
from agog_core.random import generator
from agog_testing.compilers import compilers_in_use

PATIENCE = 20  # seconds, after which something is stuck


@pytest.fixture(params=["numpy", "compiled", "portable"], autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """What runs the traced functions."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    with (
        compilers_in_use() if request.param == "numpy" else nullcontext(),
        tf.device("fake:0") if request.param == "portable" else nullcontext(),
    ):
        yield request.param


def ends(work: Callable[[], Any]) -> bool:
    """Whether some work ends in a thread of its own, where it is waited for."""
    done = threading.Event()

    def begin() -> None:
        work()
        done.set()

    threading.Thread(target=begin, daemon=True).start()
    return done.wait(PATIENCE)


def both(make: Callable[[], tuple[Callable[..., Any], Callable[[], Any]]], *calls: Any) -> list[list[Any]]:
    """What calls give, and what is left behind each, eagerly and traced."""
    found = []
    for wrap in (lambda f: f, tf.function):
        function, state = make()
        function = wrap(function)
        found.append([(np.array(function(x)).tolist(), state()) for x in calls])
    return found


def test_python_may_wait_for_a_thread_that_writes_a_variable() -> None:
    v, other = tfe.Variable(0.0), tfe.Variable(0.0)

    def wait(x: Any) -> Any:
        assert ends(lambda: other.assign_add(1.0))
        assert ends(lambda: v.assign_add(10.0))
        return x

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        y = tf.py_func(wait, [x], tf.float32)
        v.assign_add(y)
        return y

    for _ in range(3):
        step(tf.constant(1.0))
    assert (float(v), float(other)) == (36.0, 3.0)


def test_python_may_wait_for_a_thread_that_waits_for_a_write() -> None:
    v = tfe.Variable(0.0)
    seen: list[float] = []

    def wait(x: Any) -> Any:
        assert ends(lambda: seen.append(float(v)))
        return x

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return tf.py_func(wait, [x], tf.float32)

    for _ in range(3):
        step(tf.constant(1.0))
    assert seen == [1.0, 2.0, 3.0]


def test_python_may_take_a_lock_that_another_thread_has_while_it_runs_a_traced_function() -> None:
    v, lock, has_lock, wants_lock = tfe.Variable(0.0), threading.Lock(), threading.Event(), threading.Event()

    def locked(x: Any) -> Any:
        wants_lock.set()
        with lock:
            return x

    @tf.function
    def one(x: Any) -> Any:
        v.assign_add(x)
        y = tf.py_func(locked, [x], tf.float32)
        v.assign_add(y)
        return y

    @tf.function
    def two(x: Any) -> Any:
        v.assign_add(x)
        return x

    one(tf.constant(0.0))
    two(tf.constant(0.0))
    wants_lock.clear()

    def other() -> None:
        with lock:
            has_lock.set()
            assert wants_lock.wait(PATIENCE)
            two(tf.constant(10.0))

    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    assert has_lock.wait(PATIENCE)
    assert ends(lambda: one(tf.constant(1.0)))
    thread.join(PATIENCE)
    assert float(v) == 12.0


def test_a_learning_rate_may_wait_for_a_thread_that_writes_a_variable() -> None:
    v, other = tfe.Variable([1.0, 2.0]), tfe.Variable(0.0)
    waits = [False]

    def rate() -> float:
        if waits[0]:
            assert ends(lambda: other.assign_add(1.0))
        return 0.5

    optimizer = tf.train.GradientDescentOptimizer(rate)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    losses = []
    for n in range(4):
        waits[0] = n > 0
        losses.append(float(step()))
    assert losses == [5.0, 0.0, 0.0, 0.0]
    assert float(other) == 3.0


def test_updates_of_four_threads_lose_nothing_around_python() -> None:
    v, w = tfe.Variable(np.zeros(50, "f4")), tfe.Variable(np.zeros(50, "f4"))

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        y = tf.py_func(lambda x: x * 2, [x], tf.float32)
        v.assign_add(y)
        tf.py_func(lambda x: None, [y], [])
        w.assign(w + x)
        return y

    start = threading.Barrier(4)

    def work() -> None:
        start.wait(PATIENCE)
        for _ in range(25):
            step(tf.ones([50]))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert set(v.numpy().flat) == {300.0}
    assert set(w.numpy().flat) == {100.0}


def test_first_calls_beside_a_thread_that_writes_lose_nothing() -> None:
    v, stop = tfe.Variable(0.0), threading.Event()
    added = [0]

    def write() -> None:
        while not stop.is_set():
            v.assign_add(1.0)
            added[0] += 1

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    calls: list[int] = []

    def step(x: Any) -> Any:
        v.assign_add(1.0)
        y = tf.py_func(lambda x: calls.append(1) or x, [x], tf.float32)
        v.assign_add(1.0)
        return y

    for _ in range(20):
        tf.function(step)(tf.constant(1.0))
    stop.set()
    thread.join(PATIENCE)
    assert len(calls) == 20
    assert float(v) == added[0] + 40.0


def reads() -> Any:
    v, seen = tfe.Variable([1.0, 2.0]), []

    def function(x: Any) -> Any:
        v.assign_add(x * [1.0, 1.0])
        tf.py_func(lambda: seen.append(v.numpy().tolist()), [], [])
        v.assign(v * 2.0)
        y = tf.py_func(lambda x: x + v.numpy(), [x], tf.float32)
        v.assign_add(y)
        return y + v

    return function, lambda: (v.numpy().tolist(), list(seen))


def writes() -> Any:
    v, w = tfe.Variable(1.0), tfe.Variable(2.0)

    def function(x: Any) -> Any:
        before = v * 2.0 + w
        v.assign_add(1.0)
        tf.py_func(lambda x: [v.assign(v * x)][:0], [x], [])
        y = v + before
        tf.py_func(lambda x: [w.assign_add(x)][:0], [x], [])
        v.assign(v + w)
        return y * w + before

    return function, lambda: (float(v), float(w))


def draws() -> Any:
    tf.set_random_seed(3)
    v = tfe.Variable(0.0)

    def function(x: Any) -> Any:
        a = tf.random_uniform([])
        b = tf.py_func(lambda: tf.random_uniform([]).numpy(), [], tf.float32)
        c = tf.random_uniform([])
        v.assign_add(tf.random_normal([]))
        tf.py_func(lambda: [v.assign(tf.random_normal([]))][:0], [], [])
        return tf.stack([a, b, c, tf.random_uniform([]), v, x])

    return function, lambda: float(v)


def rates() -> Any:
    v, count = tfe.Variable([1.0, 2.0]), tfe.Variable(0, trainable=False)
    optimizer = tf.train.AdamOptimizer(lambda: 0.1 / (1.0 + float(count)))

    def function(x: Any) -> Any:
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v * x)
                loss += 0.0 * tf.py_func(lambda x: x.sum(), [v], tf.float32)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            count.assign_add(1)
        return loss

    return function, lambda: (v.numpy().tolist(), int(count))


def branches() -> Any:
    v, calls = tfe.Variable(1.0), []

    def function(x: Any) -> Any:
        y = tf.py_func(lambda x: x * 2, [x], tf.float32)
        if y > 3.0:
            v.assign_add(y)
        else:
            v.assign(-y)
        tf.py_func(lambda: calls.append(float(v)), [], [])
        return v + y

    return function, lambda: (float(v), list(calls))


def asks() -> Any:
    """Each call of Python happens once and in its order, also where a branch goes another way than before."""
    v, calls = tfe.Variable(1.0), []

    def noted(name: str, x: Any) -> Any:
        calls.append((name, float(x)))
        return x * 2

    def function(x: Any) -> Any:
        tf.py_func(lambda x: [noted("a", x)][:0], [x], [])
        y = tf.py_func(lambda x: noted("b", x), [x], tf.float32)
        if y > 3.0:
            y = tf.py_func(lambda x: noted("c", x), [y], tf.float32)
        z = tf.py_func(lambda x: noted("d", x), [y], tf.float32)
        if z > 10.0:
            v.assign_add(z)
        tf.py_func(lambda x: [noted("e", x)][:0], [v], [])
        return z

    return function, lambda: (float(v), list(calls))


def uses() -> Any:
    """Many uses of a variable on both sides of a call: gradients add up in one order."""
    w = tfe.Variable(np.random.default_rng(3).normal(size=7).astype("f4"))

    def function(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(w) * 0.1) + tf.reduce_sum(w * w / 3.0)
            tf.py_func(lambda: None, [], [])
            loss += tf.reduce_sum(tf.sin(w) * 0.7) + tf.reduce_sum(tf.tanh(w * x)) + tf.reduce_sum(1.0 / w)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return gradient

    return function, lambda: w.numpy().tolist()


@pytest.mark.parametrize("make", [reads, writes, draws, rates, branches, asks, uses])
def test_python_sees_and_changes_what_eager_code_lets_it(make: Any) -> None:
    inputs = [tf.constant(x) for x in (1.0, 2.0, 2.0, 0.5, 4.0)]
    eager, traced = both(make, *inputs)
    assert traced == eager


@pytest.mark.parametrize("make", [reads, writes, draws, branches, asks, uses])
def test_python_does_so_under_tapes(make: Any) -> None:
    def under(function: Any, variables: list[Any]) -> Any:
        def call(x: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
                loss = tf.reduce_sum(y * y)
            found = tape.gradient(loss, [x, *tape.watched_variables()])
            return [y.numpy().tolist(), *[None if g is None else np.array(g).tolist() for g in found]]

        return call

    found = []
    for wrap in (lambda f: f, tf.function):
        function, state = make()
        call = under(wrap(function), [])
        found.append([(call(tf.constant(x)), state()) for x in (1.0, 2.0, 2.0, 0.5, 4.0)])
    assert found[1] == found[0]


def test_first_calls_that_wait_for_each_other_end() -> None:
    """The Python of a first call waits for another thread that calls the function for the first time too."""
    v, others = tfe.Variable(1.0), [True]

    def function(x: Any) -> Any:
        if others and others.pop():
            assert ends(lambda: traced(tf.constant([1.0, 2.0])))
            assert ends(lambda: traced(tf.constant(3.0)))
        return x * v

    traced = tf.function(function)
    assert ends(lambda: traced(tf.constant(2.0)))
    assert [np.array(traced(tf.constant(x))).tolist() for x in (2.0, [1.0, 4.0], 3.0)] == [2.0, [1.0, 4.0], 3.0]


def test_first_calls_of_two_functions_that_wait_for_each_other_end() -> None:
    v = tfe.Variable(1.0)
    begun = [threading.Event(), threading.Event()]
    waits = [True, True]

    def make(number: int) -> Any:
        def function(x: Any) -> Any:
            v.assign_add(x)
            if waits[number]:
                waits[number] = False
                begun[number].set()
                assert begun[1 - number].wait(PATIENCE)
                traced[1 - number](x)
            return x * 2.0

        return tf.function(function)

    traced = [make(0), make(1)]
    done = [threading.Event(), threading.Event()]

    def work(number: int) -> None:
        traced[number](tf.constant(1.0))
        done[number].set()

    for number in range(2):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    assert all(event.wait(PATIENCE) for event in done)
    assert float(v) == 5.0


def test_a_branch_on_what_python_returned_behind_a_write_runs_eagerly() -> None:
    v = tfe.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return x if tf.py_func(lambda: np.float32(v), [], tf.float32) > 3.0 else -x

    with pytest.warns(TracingWarning, match="Branch first"):
        found = [(float(step(tf.constant(1.0))), float(v)) for _ in range(4)]
    assert found == [(-1.0, 2.0), (-1.0, 3.0), (1.0, 4.0), (1.0, 5.0)]


def test_what_python_raises_leaves_what_eager_code_leaves() -> None:
    v = tfe.Variable(0.0)

    def fails(x: Any) -> Any:
        if x > 2.0:
            raise ZeroDivisionError("this is no day")
        return x

    def step(x: Any) -> Any:
        v.assign_add(x)
        y = tf.py_func(fails, [x], tf.float32)
        v.assign_add(100.0)
        return y

    traced = tf.function(step)
    for function in (step, traced, traced):
        v.assign(0.0)
        function(tf.constant(1.0))
        with pytest.raises(ZeroDivisionError, match="this is no day"):
            function(tf.constant(3.0))
        assert float(v) == 104.0


def test_what_fails_behind_python_leaves_the_random_stream_of_eager_code() -> None:
    """Numbers that the program draws behind what fails are not drawn, and those before it are, used or not."""

    def step(x: Any, low: Any, high: Any) -> Any:
        y = tf.py_func(lambda a: a * 2, [x], tf.float32)
        tf.random_uniform([])  # which nobody uses
        first = tf.gather(y, low)
        tf.random_uniform([2])
        return first + tf.gather(y, high) + tf.nn.dropout(first, 0.5)

    def counters(function: Callable[..., Any]) -> list[Any]:
        tf.set_random_seed(5)
        x, inside, outside = tf.constant([1.0, 2.0, 3.0, 4.0]), [0, 1, 2], [0, 1, 9]
        found: list[Any] = []
        for low, high in [(inside, inside), (inside, outside), (outside, inside), (inside, inside)]:
            try:
                found.append(function(x, tf.constant(low), tf.constant(high)).numpy().tobytes())
            except tf.errors.InvalidArgumentError:
                found.append("refused")
            found.append(repr(generator().get_state()["counters"]))
        return found

    assert counters(tf.function(step)) == counters(step)


def test_an_interrupt_in_python_leaves_variables_as_before_or_after() -> None:
    v, w = tfe.Variable(0.0), tfe.Variable(0.0)
    interrupts = [False]

    def ctrl_c(x: Any) -> Any:
        if interrupts[0]:
            raise KeyboardInterrupt
        return x

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        w.assign_add(x)
        y = tf.py_func(ctrl_c, [x], tf.float32)
        v.assign_add(y)
        return y

    def interrupted(x: float) -> None:
        interrupts[0] = True
        with pytest.raises(KeyboardInterrupt):
            step(tf.constant(x))
        interrupts[0] = False

    interrupted(1.0)
    assert (float(v), float(w)) == (0.0, 0.0)
    step(tf.constant(1.0))
    step(tf.constant(1.0))
    interrupted(1.0)
    assert float(v) == 4.0
    assert float(w) in (2.0, 3.0)


def test_a_variable_that_python_makes_at_each_call_is_its_own() -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.py_func(lambda x: tfe.Variable(x).numpy() + 1, [x], tf.float32)

    assert [float(step(tf.constant(x))) for x in (1.0, 2.0, 3.0)] == [2.0, 3.0, 4.0]
    assert len(step.traces()) == 1
