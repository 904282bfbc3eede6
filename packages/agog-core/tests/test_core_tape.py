"""GradientTape: what it records, what it watches, and what `gradient` answers."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError

ONCE = (
    "GradientTape.gradient can only be called once on non-persistent tapes. Make the tape with persistent=True, and "
    "delete it when done."
)


def scalar(x: Any) -> float:
    assert isinstance(x, ag.Tensor)
    return float(x)


def test_the_gradient_of_a_square() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    g = tape.gradient(y, x)
    assert scalar(g) == 6.0
    assert g.dtype is ag.float32
    assert g.shape == ()


def test_gradients_sum_over_elements_and_targets() -> None:
    x = ag.constant([1.0, 2.0, 3.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, 5.0 * x
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]
    assert tape.gradient([y, z], x).numpy().tolist() == [7.0, 9.0, 11.0]
    assert tape.gradient({"a": y, "b": (z, z)}, x).numpy().tolist() == [12.0, 14.0, 16.0]


class Pair(NamedTuple):
    left: Any
    right: Any


def test_results_have_the_form_of_the_sources() -> None:
    a, b = ag.constant(2.0), ag.constant(5.0)
    v = ag.Variable(7.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([a, {"b": b}])
        y = a * b * v
    assert scalar(tape.gradient(y, a)) == 35.0
    assert [scalar(g) for g in tape.gradient(y, [a, b, v])] == [35.0, 14.0, 10.0]
    assert tuple(map(scalar, tape.gradient(y, (b, a)))) == (14.0, 35.0)
    got = tape.gradient(y, {"z": a, "y": [b, (v,)]})
    assert list(got) == ["z", "y"]
    assert (scalar(got["z"]), scalar(got["y"][0]), scalar(got["y"][1][0])) == (35.0, 14.0, 10.0)
    pair = tape.gradient(y, Pair(v, a))
    assert isinstance(pair, Pair)
    assert (scalar(pair.left), scalar(pair.right)) == (10.0, 35.0)
    assert tape.gradient(y, []) == []
    assert tape.gradient(y, {}) == {}
    assert [scalar(g) for g in tape.gradient(y, [a, a, v, v])] == [35.0, 35.0, 10.0, 10.0]
    assert tape.gradient([], [a]) == [None]


def test_intermediate_tensors_are_sources_too() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    dz_dx, dz_dy, dz_dz = tape.gradient(z, [x, y, z])
    assert (scalar(dz_dx), scalar(dz_dy), scalar(dz_dz)) == (108.0, 18.0, 1.0)


def test_a_target_that_is_a_source() -> None:
    x = ag.constant([3.0, 4.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x + x
    assert tape.gradient(x, x).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient([y, x], x).numpy().tolist() == [3.0, 3.0]
    assert tape.gradient([x, x], x).numpy().tolist() == [2.0, 2.0]


def test_a_variable_as_target_means_its_value() -> None:
    v, w = ag.Variable(3.0), ag.Variable(4.0)
    with ag.GradientTape(persistent=True) as tape:
        y = v * w
    assert scalar(tape.gradient(v, v)) == 1.0
    assert tape.gradient(v, w) is None
    assert scalar(tape.gradient([y, v], v)) == 5.0


# --- calls of gradient --------------------------------------------------------------------------------------------


def test_a_tape_that_is_not_persistent_answers_once() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(y, x)
    assert str(caught.value) == ONCE


def test_gradient_inside_the_context() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert scalar(tape.gradient(y, x)) == 6.0
        with pytest.raises(RuntimeError) as caught:
            tape.gradient(y, x)
        assert str(caught.value) == ONCE


def test_a_persistent_tape_inside_its_context_records_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as tape, caplog.at_level(logging.WARNING, "agog"):
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
        third = tape.gradient(second, x)
    assert (scalar(first), scalar(second), scalar(third)) == (27.0, 18.0, 6.0)
    assert {record.getMessage() for record in caplog.records} == {
        "Calling GradientTape.gradient on a persistent tape inside its context records the gradient's ops too."
    }
    assert scalar(tape.gradient(y, x)) == 27.0


def test_a_persistent_tape_answers_often_and_the_same() -> None:
    x = ag.constant([3.0, 4.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    for _ in range(3):
        assert tape.gradient(z, x).numpy().tolist() == [108.0, 256.0]
        assert tape.gradient(y, x).numpy().tolist() == [6.0, 8.0]


def test_output_gradients() -> None:
    x = ag.constant([1.0, 2.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, 3.0 * x
    assert tape.gradient(y, x, output_gradients=ag.constant([10.0, 100.0])).numpy().tolist() == [20.0, 400.0]
    assert tape.gradient(y, x, np.array([10, 100])).numpy().tolist() == [20.0, 400.0]
    assert tape.gradient([y, z], x, [ag.constant([10.0, 100.0]), None]).numpy().tolist() == [23.0, 403.0]
    assert tape.gradient([y, z], x, [None, ag.constant([1.0, 0.0])]).numpy().tolist() == [5.0, 4.0]
    assert tape.gradient([y, z], x, [None, None]).numpy().tolist() == [5.0, 7.0]
    assert tape.gradient({"a": y, "b": z}, x, {"a": np.array([1, 0]), "b": None}).numpy().tolist() == [5.0, 3.0]
    with pytest.raises(InvalidArgumentError) as caught:
        tape.gradient(y, x, ag.constant([1.0]))
    assert str(caught.value) == (
        "GradientTape.gradient: an output gradient has shape (1,) and dtype float32; its target has shape (2,) and "
        "dtype float32, and both must agree."
    )
    with pytest.raises(InvalidArgumentError) as caught:
        tape.gradient(y, x, ag.constant([1.0, 1.0], dtype=ag.float64))
    assert str(caught.value) == (
        "GradientTape.gradient: an output gradient has shape (2,) and dtype float64; its target has shape (2,) and "
        "dtype float32, and both must agree."
    )
    with pytest.raises(ValueError, match="output_gradients") as value_error:
        tape.gradient([y, z], x, [None])
    assert str(value_error.value) == (
        "GradientTape.gradient: 1 output_gradients for 2 targets; give one for each, or None."
    )


def test_unconnected_gradients() -> None:
    x, y, n = ag.constant([1.0, 2.0]), ag.constant([[1.0]], dtype=ag.float64), ag.constant([1, 2])
    v = ag.Variable([5.0, 6.0, 7.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * x
    assert tape.gradient(z, [y, v, n]) == [None, None, None]
    zeros = tape.gradient(z, {"y": y, "v": v, "x": x, "n": n}, unconnected_gradients="zero")
    assert (zeros["y"].numpy().tolist(), zeros["y"].dtype) == ([[0.0]], ag.float64)
    assert zeros["v"].numpy().tolist() == [0.0, 0.0, 0.0]
    assert zeros["x"].numpy().tolist() == [2.0, 4.0]
    assert (zeros["n"].numpy().tolist(), zeros["n"].dtype) == ([0, 0], ag.int32)
    assert tape.gradient(z, y, unconnected_gradients="none") is None
    with pytest.raises(ValueError, match="unconnected") as caught:
        tape.gradient(z, x, unconnected_gradients="zeros")
    assert str(caught.value) == "unconnected_gradients must be 'none' or 'zero'; got 'zeros'."


def test_wrong_sources_and_targets() -> None:
    x = ag.constant(1.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    for arguments, what, shown in [
        ((y, 3.0), "sources", "3.0 of type float"),
        ((y, [x, None]), "sources", "None of type NoneType"),
        ((2, x), "targets", "2 of type int"),
        (([y, "a"], x), "targets", "'a' of type str"),
    ]:
        with pytest.raises(TypeError) as caught:
            tape.gradient(*arguments)
        assert str(caught.value) == f"GradientTape.gradient: {what} are tensors and variables; got {shown}."


def test_a_wrong_call_leaves_the_tape_as_it_was() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        for arguments, kind in [((y, 3.0), TypeError), ((2, x), TypeError), ((y, x, [1.0, 2.0]), ValueError)]:
            with pytest.raises(kind):
                tape.gradient(*arguments)
        z = y * y
    with pytest.raises(InvalidArgumentError):
        tape.gradient(z, x, [ag.constant([1.0])])
    assert scalar(tape.gradient(z, x)) == 108.0


# --- watching -----------------------------------------------------------------------------------------------------


def test_watching_after_use_counts_for_later_ops_only() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        z = x * x * x
    assert tape.gradient(y, x) is None
    assert scalar(tape.gradient([y, z], x)) == 27.0


def test_watching_before_the_context() -> None:
    x = ag.constant(3.0)
    tape = ag.GradientTape()
    tape.watch(x)
    with tape:
        y = x * x
    assert scalar(tape.gradient(y, x)) == 6.0


def test_tensors_are_not_watched_without_being_asked() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_watching_is_local_to_a_tape() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as outer:
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        dy_dx = inner.gradient(y, x)
    assert scalar(dy_dx) == 6.0
    assert outer.gradient(dy_dx, x) is None
    assert outer.gradient(y, x) is None


def test_tapes_nest() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert scalar(first) == 27.0
    assert scalar(outer.gradient(first, x)) == 18.0


def test_an_intermediate_of_the_outer_tape_is_a_source_of_the_inner() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as outer:
        outer.watch(x)
        y = x * x
        with ag.GradientTape() as inner:
            inner.watch(y)
            z = y * y
        dz_dy = inner.gradient(z, y)
    assert scalar(dz_dy) == 18.0
    assert scalar(outer.gradient(dz_dy, x)) == 12.0


def test_variables_are_watched_when_read() -> None:
    second = ag.Variable(3.0)
    first = ag.Variable(2.0)
    frozen, counter = ag.Variable(5.0, trainable=False), ag.Variable(1)
    with ag.GradientTape() as tape:
        y = first * frozen * second
        counter.value()
    assert tape.watched_variables() == (second, first)  # in the order of construction
    grads = tape.gradient(y, [first, second, frozen, counter])
    assert [scalar(g) for g in grads[:2]] == [15.0, 10.0]
    assert grads[2:] == [None, None]
    assert tape.watched_variables() == (second, first)


def test_variables_that_are_not_trainable_are_watched_when_asked() -> None:
    frozen = ag.Variable(5.0, trainable=False)
    with ag.GradientTape() as tape:
        tape.watch(frozen)
        y = frozen * frozen
    assert tape.watched_variables() == (frozen,)
    assert scalar(tape.gradient(y, frozen)) == 10.0


def test_automatic_watching_can_be_turned_off() -> None:
    v, w = ag.Variable(2.0), ag.Variable(3.0)
    with ag.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert tape.watched_variables() == (w,)
    dv, dw = tape.gradient(y, [v, w])
    assert dv is None
    assert scalar(dw) == 2.0


def test_a_variable_that_is_watched_stays_watched_when_it_is_assigned() -> None:
    for trainable, automatic in ((True, True), (False, True), (True, False), (False, False)):
        v = ag.Variable(2.0, trainable=trainable)
        with ag.GradientTape(watch_accessed_variables=automatic) as tape:
            tape.watch(v)
            y = v * v
            v.assign(10.0)
            z = y + v * v
            v.assign_add(1.0)
            z += v * v
        assert scalar(tape.gradient(z, v)) == 4.0 + 20.0 + 22.0, (trainable, automatic)


def test_what_cannot_be_watched() -> None:
    tape = ag.GradientTape()
    for value, shown in [(3.0, "3.0 of type float"), (None, "None of type NoneType")]:
        with pytest.raises(TypeError) as caught:
            tape.watch([ag.constant(1.0), value])
        assert str(caught.value) == (
            f"GradientTape.watch takes tensors and variables; got {shown}. Make a tensor of it first, with tf.constant."
        )


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "string"])
def test_what_has_no_gradient_is_let_pass(dtype: str) -> None:
    n = ag.constant("a") if dtype == "string" else ag.cast(1, dtype)
    v = ag.Variable(n)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([n, v])
        m = ag.identity(n)
        v.value()
    assert tape.gradient(m, n) is None
    assert tape.gradient(n, n) is None
    assert tape.gradient(m, v) is None
    assert tape.watched_variables() == ()


def test_integers_between_cut_the_chain() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.cast(ag.cast(x, ag.int32), ag.float32) * 2.0
    assert tape.gradient(y, x) is None


def test_constants_made_of_values_cut_the_chain() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = ag.constant(x.numpy()) * 2.0
        z = ag.stop_gradient(x) * x
    assert tape.gradient(y, x) is None
    assert scalar(tape.gradient(z, x)) == 3.0


def test_assignments_are_not_differentiated() -> None:
    v, x = ag.Variable(1.0), ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = v * 2.0
    dx, dv = tape.gradient(y, [x, v])
    assert dx is None
    assert scalar(dv) == 2.0


def test_small_constants_are_told_apart() -> None:
    one, other = ag.constant(1.0), ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(one)
        y = one * 3.0 + other * 5.0 + 1.0
    d_one, d_other = tape.gradient(y, [one, other])
    assert scalar(d_one) == 3.0
    assert d_other is None


def test_the_ones_that_gradients_start_with_are_told_apart() -> None:
    x, y = ag.constant(1.0), ag.constant(1.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b = x + 0.0, y + 0.0
    first, second = tape.gradient(a, x), tape.gradient(b, y)
    with ag.GradientTape() as tape:
        tape.watch(first)
        z = first * first * second
    d_first, d_second = tape.gradient(z, [first, second])
    assert scalar(d_first) == 2.0
    assert d_second is None


# --- contexts -----------------------------------------------------------------------------------------------------


def test_entering_twice() -> None:
    with ag.GradientTape() as tape:
        with pytest.raises(ValueError, match="already") as caught:
            tape.__enter__()
        assert str(caught.value) == "Tape is already recording."


def test_entering_again_continues() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    w = y * 100.0
    with tape:
        z = y * y
    assert scalar(tape.gradient([z, w], x)) == 108.0


def test_stop_recording() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * y
            inside = tape.gradient(y, x)
        w = y * y
    assert scalar(inside) == 6.0
    assert tape.gradient(z, x) is None
    assert scalar(tape.gradient(w, x)) == 108.0
    with pytest.raises(RuntimeError) as caught, tape.stop_recording():
        pass
    assert str(caught.value) == "Trying to stop recording a tape which is not recording."


def test_stop_recording_ends_with_an_error_inside() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = x * x
    assert scalar(tape.gradient(y, x)) == 6.0


def test_stop_recording_stops_one_tape_only() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as outer, ag.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        with outer.stop_recording():
            y = x * x
    assert scalar(inner.gradient(y, x)) == 6.0
    assert outer.gradient(y, x) is None


def test_reset_forgets_everything_and_goes_on() -> None:
    x, v, w = ag.constant(3.0), ag.Variable(2.0), ag.Variable(5.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v
        tape.reset()
        assert tape.watched_variables() == ()
        before = y * x
        tape.watch(x)
        after = x * w * y
    assert tape.gradient(y, x) is None
    assert tape.gradient(before, x) is None
    assert tape.gradient(after, v) is None
    assert scalar(tape.gradient(after, x)) == 90.0
    assert tape.watched_variables() == (w,)


def test_reset_makes_a_used_tape_new() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        tape.gradient(x * x, x)
        with tape:
            tape.reset()
            tape.watch(x)
            y = x * x
    assert scalar(tape.gradient(y, x)) == 6.0


def test_an_error_inside_leaves_no_tape_recording() -> None:
    from agog_core.recording import active, stack

    with pytest.raises(KeyError), ag.GradientTape(), ag.GradientTape():
        raise KeyError
    assert active == []
    assert stack.get() == ()


def test_values_do_not_change_under_a_persistent_tape() -> None:
    v = ag.Variable(np.full(1000, 3.0))
    with ag.GradientTape(persistent=True) as tape:
        y = v * v
    for _ in range(3):
        assert (tape.gradient(y, v).numpy() == 6.0).all()
        v.assign_add(np.ones(1000))
        v.assign_sub(np.full(1000, 2.0))
        v.assign(np.zeros(1000))
    assert (y.numpy() == 9.0).all()
