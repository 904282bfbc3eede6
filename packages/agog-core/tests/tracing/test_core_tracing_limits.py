"""What a function may not do while it is traced: errors and warnings name the line, and nothing is written."""

from __future__ import annotations

import gc
import inspect
import os
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError, TracingError, TracingWarning
from agog_core.random import generator, initializing
from agog_core.tracing.functions.eager_mode import functions_run_eagerly, run_functions_eagerly
from agog_core.tracing.functions.function import function
from agog_testing import says

ADVICE = "or leave tf.function out, or call tf.config.run_functions_eagerly(True)."
READ = (
    "is read while the function is traced, so that later calls would go on with this call's. Compute with the tensor "
    f"itself, by ops; {ADVICE}"
)


def line(of: Callable[..., Any], text: str) -> str:
    """Where a function has a text, as errors name it."""
    lines, start = inspect.getsourcelines(of)
    (place,) = [number for number, each in enumerate(lines) if text in each]
    return f"{inspect.getsourcefile(of)}:{start + place}"


def fails(text: str, call: Callable[..., Any], *args: Any) -> None:
    with says(TracingError, text):
        call(*args)


def test_reading_a_value() -> None:
    def by_float(x: ag.Tensor) -> ag.Tensor:
        return x * float(x)

    def by_numpy(x: ag.Tensor) -> ag.Tensor:
        return x * x.numpy()

    of = "the value of a tensor of shape () and dtype float32"
    fails(f"{line(by_float, 'float(x)')}: {of} {READ}", function(by_float), ag.constant(2.0))
    of = "the value of a tensor of shape (2,) and dtype float32"
    fails(f"{line(by_numpy, 'x.numpy()')}: {of} {READ}", function(by_numpy), ag.constant([2.0, 3.0]))


def test_reading_a_variable() -> None:
    v = ag.Variable(1.0)

    def step() -> ag.Tensor:
        v.assign_add(1.0)
        return v * float(v)

    fails(
        f"{line(step, 'float(v)')}: the value of a tensor of shape () and dtype float32 {READ}",
        function(step),
    )
    assert float(v) == 1.0  # as before the call


def test_constants_may_be_read() -> None:
    c = ag.constant([1.0, 2.0])
    f = function(lambda x: x * float(ag.reduce_sum(c)) + ag.zeros([2]).numpy()[0])
    assert f(ag.constant(2.0)).numpy() == 6.0


def test_tensors_can_be_shown() -> None:
    shown = []
    function(lambda x: shown.append(str(x * 2.0)) or x)(ag.constant(2.0))
    assert shown == ["tf.Tensor(4.0, shape=(), dtype=float32)"]


def counting(total: ag.Variable, calls: list[str]) -> Callable[[ag.Tensor], ag.Tensor]:
    def step(x: ag.Tensor) -> ag.Tensor:
        calls.append("step")
        total.assign_add(x)
        if total > 3.0:
            total.assign(0.0)
            return x * 10.0
        return -x

    return step


CHANGED = (
    "a branch depends on a variable that the function has changed before; step runs eagerly for such arguments from "
    "here on. Branch first, or on what the variable will be, such as v + 1; or leave tf.function out."
)


def test_a_branch_on_a_variable_that_has_changed_runs_eagerly() -> None:
    total, calls = ag.Variable(1.0), list[str]()
    step = counting(total, calls)
    f = function(step)
    with pytest.warns(TracingWarning) as caught:
        found = [(float(f(ag.constant(1.0))), float(total)) for _ in range(5)]
    assert [str(each.message) for each in caught] == [f"{line(step, 'if total > 3.0')}: {CHANGED}"]
    assert found == [(-1.0, 2.0), (-1.0, 3.0), (10.0, 0.0), (-1.0, 1.0), (-1.0, 2.0)]
    assert calls == ["step"] * 5  # each call is one


def test_a_branch_on_a_variable_that_has_changed_under_a_tape() -> None:
    total = ag.Variable(2.0)
    step = function(counting(total, []))

    def gradient() -> tuple[float, float, float]:
        x = ag.constant(1.0)
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = step(x) * x
        return float(y), float(tape.gradient(y, x)), float(total)

    with pytest.warns(TracingWarning, match="a branch depends on a variable"):
        found = [gradient() for _ in range(4)]
    assert found == [(-1.0, -2.0, 3.0), (10.0, 20.0, 0.0), (-1.0, -2.0, 1.0), (-1.0, -2.0, 2.0)]


def test_a_loop_that_asks_a_variable_that_it_changes() -> None:
    v = ag.Variable(0.0)

    def count(x: ag.Tensor) -> ag.Tensor:
        while v < 3.0:
            v.assign_add(x)
        return v * 2.0

    f = function(count)

    def counted(start: float) -> tuple[float, float]:
        v.assign(start)
        return float(f(ag.constant(1.0))), float(v)

    with pytest.warns(TracingWarning, match="a branch depends on a variable"):
        found = [counted(start) for start in (0.0, 1.5, 7.0, 2.0)]
    assert found == [(6.0, 3.0), (7.0, 3.5), (14.0, 7.0), (6.0, 3.0)]


def test_a_function_whose_ops_fail_each_time_is_given_up() -> None:
    calls = []

    def root(x: ag.Tensor) -> ag.Tensor:
        calls.append("root")
        try:
            return ag.cholesky(x)
        except ag.errors.InvalidArgumentError:
            return x

    f, x = function(root), ag.constant([[-1.0]])
    with pytest.warns(TracingWarning) as caught:
        assert all(f(x).numpy() == -1.0 for _ in range(10))
    reason = f"{line(root, 'ag.cholesky')}: an op failed, and the function caught the error"
    assert [str(each.message) for each in caught] == [
        "root runs eagerly for such arguments from here on: 8 of its calls could not be traced, the last because of "
        f"{reason}. Let it ask before, by tf.where or tf.cond; or leave tf.function out."
    ]
    assert len(calls) == 10


def test_a_branch_beside_a_write() -> None:
    def make() -> Any:
        v, w = ag.Variable(1.0), ag.Variable(0.0)

        def step(x: ag.Tensor) -> Any:
            v.assign_add(x)
            w.assign(x * 2.0)
            if w > 3.0:  # what was assigned is a value like any other
                v.assign_add(10.0)
            return v.value()

        return step

    eager, traced = make(), function(make())
    for value in (1.0, 2.0, 1.0, 3.0, 5.0):
        assert float(eager(ag.constant(value))) == float(traced(ag.constant(value)))
    assert len(traced.traces()) == 2


def test_variables_of_each_call() -> None:
    def step(x: ag.Tensor) -> ag.Tensor:
        v = ag.Variable(2.0)
        return x * v

    f = function(step)
    assert float(f(ag.constant(3.0))) == 6.0
    fails(
        f"{line(step, 'ag.Variable(2.0)')}: a variable is created each time that the function is traced; only its "
        "first call may create some. Create it outside, or once, and keep it.",
        f,
        ag.constant(3.0),
    )


def test_variables_of_each_call_whose_initial_values_are_drawn() -> None:
    def step(x: ag.Tensor) -> ag.Tensor:
        with initializing():
            return x * ag.Variable(lambda: ag.random_uniform([]))

    f = function(step)
    f(ag.constant(3.0))
    with pytest.raises(ag.errors.TracingError, match="a variable is created each time"):
        f(ag.constant(3.0))


def test_variables_of_an_init_scope_are_made_by_the_first_call_alone() -> None:
    made: list[ag.Variable] = []

    def step(x: ag.Tensor) -> ag.Tensor:
        with ag.init_scope():
            made.append(ag.Variable(2.0))
            assert float(made[-1] + 1.0) == 3.0  # values can be read there
        return made[-1].assign_add(x)

    f = function(step)
    assert [float(f(ag.constant(3.0))) for _ in range(3)] == [5.0, 8.0, 11.0]
    assert len(made) == 1


def test_loops_over_ranges_of_other_lengths_are_warned_of() -> None:
    def total(n: ag.Tensor) -> ag.Tensor:
        found = ag.constant(0)
        for i in ag.range(n):
            found += i
        return found

    f = function(total)
    assert int(f(ag.constant(3))) == 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [int(f(ag.constant(n))) for n in (5, 2)] == [10, 1]
    assert [str(each.message) for each in caught] == [
        f"{line(total, 'for i')}: a loop has another length than before, and each length is traced by itself, 32 at "
        "most. tf.while_loop on tensors whose shapes stay is one trace for all lengths, where no tape is open."
    ]


def test_branches_are_not_taken_for_loops() -> None:
    def halved(x: ag.Tensor) -> ag.Tensor:
        if x > 1.0:
            x = x / 2.0
        return x if ag.reduce_sum(x) > 3.0 else x * 2.0

    f = function(halved)
    assert [float(f(ag.constant(x))) for x in (0.5, 2.0, 10.0, 0.5)] == [1.0, 2.0, 5.0, 1.0]


def test_keys_tell_types_and_signs() -> None:
    calls: list[Any] = []
    f = function(lambda n: calls.append(n) or ag.constant(0.0))
    for n in (1, 1.0, True, 0.0, -0.0, "1", None, (1,), [1], 1, -0.0):
        f(n)
    assert [repr(n) for n in calls] == ["1", "1.0", "True", "0.0", "-0.0", "'1'", "None", "(1,)", "[1]"]


def test_escaping_tensors() -> None:
    kept: list[ag.Tensor] = []

    def step(x: ag.Tensor) -> ag.Tensor:
        y = x * 2.0
        kept.append(y)
        return y + 1.0

    f = function(step)
    with pytest.warns(TracingWarning) as warned:
        f(ag.constant(2.0))
    assert [str(each.message) for each in warned] == [
        f"{line(step, 'x * 2.0')}: a tensor is still in use after the function that was traced: something outside, "
        "such as a list or an attribute, has kept it. It keeps the value of this call, and later calls do not renew "
        "it. Return it instead."
    ]
    f(ag.constant(5.0))
    (y,) = kept
    assert float(y) == 4.0
    assert float(y + ag.constant(1.0)) == 5.0
    assert y._table is ag.constant(1.0)._table


def test_nothing_is_kept_alive() -> None:
    arrays = []

    def step(x: ag.Tensor) -> ag.Tensor:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.exp(x) * x
            arrays.append(weakref.ref(y))
        return tape.gradient(y, x)

    f = function(step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(ag.ones([3]))
    assert arrays[0]() is None


def test_errors_of_a_first_call_take_nothing_back_but_limits_do() -> None:
    v = ag.Variable(1.0)

    def step(x: ag.Tensor) -> ag.Tensor:
        v.assign_add(1.0)
        ag.random_normal([2])
        return x * float(x)

    ag.set_random_seed(1)
    before = generator().get_state()
    with pytest.raises(TracingError):
        function(step)(ag.constant(1.0))
    assert generator().get_state() == before
    assert float(v) == 1.0


def test_errors_in_a_run_name_op_and_line() -> None:
    def look(x: ag.Tensor, at: ag.Tensor) -> ag.Tensor:
        return ag.gather(x, at) * 2.0

    with ag.device("/cpu:0"):  # where kernels look at values at once
        f, x = function(look), ag.constant([1.0, 2.0])
        assert f(x, ag.constant([0])).numpy().tolist() == [2.0]
        with pytest.raises(InvalidArgumentError) as traced:
            f(x, ag.constant([7]))
        with pytest.raises(InvalidArgumentError) as eager:
            look(x, ag.constant([7]))
    assert str(traced.value) == str(eager.value)
    *notes, last = traced.value.__notes__
    assert notes == eager.value.__notes__
    assert last == f"at {line(look, 'ag.gather')}, in a traced function"


def test_methods_do_not_keep_their_object_alive() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.v = ag.Variable(scale)
            self.calls = 0

        @function
        def call(self, x: Any) -> ag.Tensor:
            self.calls += 1
            return self.v * x

    model, other = Model(2.0), Model(5.0)
    x = ag.constant(3.0)
    assert [float(model.call(x)), float(other.call(x)), float(model.call(x)), float(other.call(x))] == [6, 15, 6, 15]
    assert (model.calls, other.calls) == (1, 1)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert float(other.call(x)) == 15.0


def test_functions_inside_of_functions() -> None:
    calls: list[str] = []

    @function
    def inner(x: ag.Tensor) -> ag.Tensor:
        calls.append("inner")
        return x * 2.0

    @function
    def outer(x: ag.Tensor) -> ag.Tensor:
        calls.append("outer")
        return inner(x) + inner(x + 1.0)

    assert [float(outer(ag.constant(n))) for n in (1.0, 2.0)] == [6.0, 10.0]
    assert calls == ["outer", "inner", "inner"]


def test_structures_and_arrays() -> None:
    calls: list[int] = []

    @function
    def swap(pair: Any, options: Any = None) -> Any:
        calls.append(1)
        return {"b": pair[0] * 2.0, "a": [pair[1], None, ag.constant(1.0)]}

    for n in (1.0, 2.0):
        found = swap((np.array(n, "f4"), ag.constant([n])), options={"k": "v"})
        assert found["b"].numpy() == 2 * n
        assert found["a"][0].numpy().tolist() == [n]
        assert found["a"][1] is None
    assert calls == [1]
    swap((np.array(1.0, "f4"), ag.constant([1.0])), options={"k": "w"})
    assert calls == [1, 1]


def test_sparse_arguments_and_results() -> None:
    f = function(lambda rows, sparse: (rows, sparse, ag.convert_to_tensor(rows)))
    for n in (1.0, 2.0):
        rows = ag.IndexedSlices([[n]], [1], (3, 1))
        sparse = ag.SparseTensor([[0, 1]], [n], [2, 2])
        a, b, c = f(rows, sparse)
        assert a.values.numpy().tolist() == [[n]]
        assert b.values.numpy().tolist() == [n]
        assert c.numpy().tolist() == [[0.0], [n], [0.0]]


def test_signatures_with_open_sizes() -> None:
    calls: list[int] = []

    @function(input_signature=[ag.TensorSpec([None, 2], ag.float32)])
    def mean(x: ag.Tensor) -> ag.Tensor:
        calls.append(1)
        return ag.reduce_sum(x) / float(x.shape[0])

    for size in (1, 2, 3, 2, 1, 3):
        assert float(mean(np.ones((size, 2), "f4"))) == 2.0
    assert len(calls) == 3


def test_shapes_that_depend_on_values() -> None:
    f = function(lambda x: ag.boolean_mask(x, x > 0.0) * 2.0)
    for values in ([1.0, -1.0, 2.0], [-1.0, 4.0, 2.0], [1.0, -1.0, -2.0], [3.0, 4.0, -1.0]):
        expected = [2 * v for v in values if v > 0]
        assert f(ag.constant(values)).numpy().tolist() == expected
    assert len(f.traces()) == 2


def test_draws_before_a_branch_that_goes_another_way_are_taken_back() -> None:
    def step(x: ag.Tensor) -> ag.Tensor:
        noise = ag.random_normal([3])
        return x + noise if ag.reduce_sum(x) > 0.0 else x - noise * ag.random_uniform([3])

    values = [1.0, -1.0, 2.0, -3.0, 4.0]
    ag.set_random_seed(5)
    eager = [step(ag.constant([v] * 3)).numpy() for v in values]
    state = generator().get_state()
    ag.set_random_seed(5)
    traced = function(step)
    np.testing.assert_array_equal([traced(ag.constant([v] * 3)).numpy() for v in values], eager)
    assert generator().get_state() == state


def test_functions_run_eagerly() -> None:
    calls: list[int] = []
    f = function(lambda x: calls.append(1) or x * float(x))
    run_functions_eagerly(True)
    try:
        assert functions_run_eagerly()
        assert [float(f(ag.constant(3.0))), float(f(ag.constant(4.0)))] == [9.0, 16.0]
    finally:
        run_functions_eagerly(False)
    assert not functions_run_eagerly()
    assert calls == [1, 1]


def test_traces_and_graphs_can_be_looked_at() -> None:
    def halve(x: ag.Tensor) -> ag.Tensor:
        return x / 2.0 if ag.reduce_sum(x) > 1.0 else x

    f = function(halve)
    with pytest.raises(
        ValueError, match=r"^function: halve has no trace for these arguments; call it with them first\.$"
    ):
        f.graph(ag.constant(1.0))
    f(ag.constant([3.0]))
    f(ag.constant([0.0]))
    f(ag.constant([3.0, 4.0]))
    assert [trace.reason for trace in f.traces()] == [
        "the first call: float32 (1,)",
        f"{line(halve, 'x / 2.0')}: a branch goes another way",
        "arguments of another kind: float32 (2,)",
    ]
    assert [node.op and node.op.name for node in f.graph(ag.constant([9.0])).nodes] == [
        *("reduce_sum", "greater", None, "realdiv"),
    ]
    assert f.graph().inputs[0].shape == (2,)


def test_printing_happens_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    f = function(lambda x: ag.print("x is", x) or x)
    f(ag.constant(1.0))
    f(ag.constant(2.0))
    assert capsys.readouterr().err == "x is 1\nx is 2\n"


def test_assertions_hold_at_each_call() -> None:
    def checked(x: ag.Tensor) -> ag.Tensor:
        ag.assert_positive(x)
        return x * 2.0

    f = function(checked)
    assert f(ag.constant([1.0])).numpy() == 2.0
    with pytest.raises(InvalidArgumentError) as traced:
        f(ag.constant([-1.0]))
    with pytest.raises(InvalidArgumentError) as eager:
        checked(ag.constant([-1.0]))
    assert str(traced.value) == str(eager.value)
    assert f(ag.constant([4.0])).numpy() == 8.0


def test_python_functions_run_at_each_call() -> None:
    seen: list[float] = []

    def note(x: Any) -> Any:
        seen.append(float(x))
        return np.float32(x * 3)

    f = function(lambda x: ag.py_func(note, [x], ag.float32) + 1.0)
    assert [float(f(ag.constant(n))) for n in (1.0, 2.0)] == [4.0, 7.0]
    assert seen == [1.0, 2.0]


def test_an_environment_variable_turns_tracing_off() -> None:
    program = (
        "import agog_core as ag\n"
        "from agog_core.tracing.functions.function import function\n"
        "calls = []\n"
        "f = function(lambda x: calls.append(1) or x * float(x))\n"
        "print(float(f(ag.constant(3.0))), float(f(ag.constant(4.0))), len(calls))\n"
    )
    environment = {**os.environ, "AGOG_EAGER": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("9.0 16.0 2\n", "")


def test_variables_that_a_function_has_made_go_with_it() -> None:
    def make() -> weakref.ref[ag.Variable]:
        made: list[ag.Variable] = []

        def step(x: ag.Tensor) -> ag.Tensor:
            if not made:
                made.append(ag.Variable(2.0))
            return x * made[0] + 1.0

        assert float(function(step)(ag.constant(3.0))) == 7.0
        return weakref.ref(made[0])

    gc.disable()
    try:
        assert make()() is None
    finally:
        gc.enable()
