"""Shadow mode: programs that go wrong when they are traced, each found with its line and what Python has read."""

from __future__ import annotations

import inspect
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import TracingError, TracingWarning
from agog_core.random import generator
from agog_core.tracing.functions.function import function
from agog_core.tracing.functions.side_effects import Watch, names_read

ADVICE = (
    "Something that Python reads - the time, a global, an attribute, a random number, an environment variable - is "
    "another than when the function was traced. Pass it as an argument, or keep it in a tf.Variable."
)
factor = 2.0
counter = 0
log: list[int] = []
settings = {"scale": 1.0}


def line(of: Callable[..., Any], text: str) -> str:
    """Where a function has a text, as errors name it."""
    lines, start = inspect.getsourcelines(of)
    (place,) = [number for number, each in enumerate(lines) if text in each]
    return f"{inspect.getsourcefile(of)}:{start + place}"


def parts(call: Callable[..., Any], *args: Any) -> str:
    """The error of a call that parts from the eager one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)
        with pytest.raises(TracingError) as caught:
            call(*args)
    return str(caught.value)


def changes(call: Callable[..., Any], *args: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args)
    assert all(each.category is TracingWarning for each in caught)
    return [str(each.message) for each in caught]


def test_a_time_stamp() -> None:
    @function(check=True)
    def stamped(x: Any) -> Any:
        return x + time.perf_counter()

    x = ag.constant(0.0, ag.float64)
    stamped(x)
    text = parts(stamped, x)
    assert text.startswith(f"{line(stamped.python_function, 'perf_counter')}: add takes the constant ")
    assert text.endswith(f" {ADVICE} (output 0 of stamped is not what the eager call gives.)")


def test_a_global(monkeypatch: pytest.MonkeyPatch) -> None:
    @function(check=True)
    def scaled(x: Any) -> Any:
        return x * factor

    scaled(ag.constant(1.0))
    assert float(scaled(ag.constant(2.0))) == 4.0
    monkeypatch.setattr(sys.modules[__name__], "factor", 3.0)
    assert parts(scaled, ag.constant(1.0)) == (
        f"{line(scaled.python_function, '* factor')}: multiply takes the constant 3.0, and took the constant 2.0 when "
        f"the function was traced. It is the value of the global 'factor'. {ADVICE} (output 0 of scaled is not what "
        "the eager call gives.)"
    )


def test_a_variable_of_the_function_around() -> None:
    power = 2.0

    @function(check=True)
    def raised(x: Any) -> Any:
        return x**power

    raised(ag.constant(3.0))
    power = 3.0
    assert "It is the value of the variable 'power' around it." in parts(raised, ag.constant(3.0))


def test_a_counter() -> None:
    @function(check=True)
    def counted(x: Any) -> Any:
        global counter
        counter += 1
        return x + float(counter)

    counted(ag.constant(1.0))
    assert "It is the value of the global 'counter'." in parts(counted, ag.constant(1.0))


def test_a_list_and_an_attribute_that_change() -> None:
    @function(check=True)
    def logged(x: Any) -> Any:
        log.append(1)
        return x * 2.0

    class Module:
        calls = 0

        @function(check=True)
        def run(self, x: Any) -> Any:
            self.calls += 1
            return x * 2.0

    rest = "which calls that run its trace do not do. Return the value, or keep it in a tf.Variable."
    logged(ag.constant(1.0))
    expected = f"{line(logged.python_function, 'append')}: the global 'log' changes while logged runs, {rest}"
    assert changes(logged, ag.constant(1.0)) == [expected]
    assert changes(logged, ag.constant(1.0)) == []  # once
    module = Module()
    module.run(ag.constant(1.0))
    where = line(Module.__dict__["run"].python_function, "self.calls")
    assert changes(module.run, ag.constant(1.0)) == [f"{where}: the attribute 'calls' changes while run runs, {rest}"]


def test_an_attribute_that_was_changed() -> None:
    class Module:
        def __init__(self) -> None:
            self.scale = 1.0

        @function(check=True)
        def run(self, x: Any) -> Any:
            return x * self.scale

    module = Module()
    module.run(ag.constant(1.0))
    module.scale = 4.0
    assert "It is the value of the attribute 'scale'." in parts(module.run, ag.constant(1.0))


def test_an_entry_of_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    @function(check=True)
    def scaled(x: Any) -> Any:
        return x * settings["scale"]

    scaled(ag.constant(1.0))
    monkeypatch.setitem(settings, "scale", 5.0)
    text = parts(scaled, ag.constant(1.0))
    assert "multiply takes the constant 5.0, and took the constant 1.0" in text


def test_a_random_number_of_python() -> None:
    @function(check=True)
    def noisy(x: Any) -> Any:
        return x + random.random()

    noisy(ag.constant(1.0))
    assert "add takes the constant " in parts(noisy, ag.constant(1.0))


def test_an_array_of_numpy() -> None:
    @function(check=True)
    def noisy(x: Any) -> Any:
        return x + np.random.rand(3).astype("float32")

    noisy(ag.ones([3]))
    assert "a constant of shape (3,) and dtype float32" in parts(noisy, ag.ones([3]))


def test_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    @function(check=True)
    def branching(x: Any) -> Any:
        return x * 2.0 if os.environ.get("TEST_FLAG") else x

    branching(ag.constant(1.0))
    monkeypatch.setenv("TEST_FLAG", "1")
    assert "multiply runs, and did not when the function was traced." in parts(branching, ag.constant(1.0))


def test_an_attribute_of_an_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings, "axis", 0)

    @function(check=True)
    def summed(x: Any) -> Any:
        return ag.reduce_sum(x, settings["axis"])

    x = ag.ones([2, 2]) * ag.constant([1.0, 2.0])
    summed(x)
    monkeypatch.setitem(settings, "axis", 1)
    assert "reduce_sum gets axes=(1,), and got (0,) when the function was traced." in parts(summed, x)


def test_another_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings, "op", ag.sin)

    @function(check=True)
    def applied(x: Any) -> Any:
        return settings["op"](x)

    applied(ag.constant(1.0))
    monkeypatch.setitem(settings, "op", ag.cos)
    assert "cos runs where sin, at " in parts(applied, ag.constant(1.0))


def test_what_is_written_to_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    v = ag.Variable(0.0, name="sum")

    @function(check=True)
    def add(x: Any) -> None:
        v.assign_add(x * factor)

    add(ag.constant(1.0))
    monkeypatch.setattr(sys.modules[__name__], "factor", 3.0)
    assert "(variable 'sum:0' of add is not what the eager call gives.)" in parts(add, ag.constant(1.0))


def test_right_functions_pass_and_do_what_they_do() -> None:
    v, seen = ag.Variable(1.0), []

    def step(x: Any) -> Any:
        v.assign_add(x)
        noise = ag.random_normal([2])
        return v * noise if x > 0.0 else v - noise

    ag.set_random_seed(3)
    before = generator().get_state()
    eager = [step(ag.constant(x)).numpy() for x in (1.0, 2.0, -1.0, 3.0, -2.0)]
    end = v.numpy()
    v.assign(1.0)
    generator().set_state(before)
    checked = function(step, check=True)
    traced = [checked(ag.constant(x)).numpy() for x in (1.0, 2.0, -1.0, 3.0, -2.0)]
    np.testing.assert_array_equal(eager, traced)
    assert v.numpy() == end
    assert seen == []


def test_the_environment_asks_for_it() -> None:
    program = """
import agog_core as ag
from agog_core.tracing.functions.function import function
scale = 1.0
f = function(lambda x: x * scale)
f(ag.constant(1.0))
scale = 2.0
try:
    f(ag.constant(1.0))
except ag.errors.TracingError as error:
    print("found")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"AGOG_CHECK": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "found\n"


def test_names_that_a_function_reads() -> None:
    assert names_read(len) == {}
    watched = Watch(test_a_counter)
    assert watched.changes == []
