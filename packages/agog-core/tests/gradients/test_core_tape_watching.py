"""What a GradientTape watches: tensors and variables, its own and only its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says


def scalar(x: Any) -> float:
    assert isinstance(x, ag.Tensor)
    return float(x)


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


@pytest.mark.filterwarnings("ignore:GradientTape.gradient. a source of dtype")
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
        with says(
            TypeError,
            f"GradientTape.watch takes tensors and variables; got {shown}. Make a tensor of it first, with "
            "tf.constant.",
        ):
            tape.watch([ag.constant(1.0), value])


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "string"])
@pytest.mark.filterwarnings("ignore:GradientTape.gradient. a source of dtype")
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


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["tensor", "variable"])
@pytest.mark.parametrize(("value", "dtype"), [([1, 2], "int32"), ([True, False], "bool")])
def test_a_gradient_with_respect_to_integers_is_none_with_one_warning(make: Any, value: Any, dtype: str) -> None:
    n, x = make(value), ag.constant([1.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch([x, n])
        y = x * ag.cast(n, ag.float32)
    with pytest.warns(UserWarning, match="no gradient") as caught:
        gradients = tape.gradient(y, [x, n])
    assert [str(each.message) for each in caught] == [
        f"GradientTape.gradient: a source of dtype {dtype} has no gradient; only floats and complex "
        "numbers have one. Cast it before the computation, such as tf.cast(x, tf.float32)."
    ]
    assert caught[0].filename == __file__
    assert gradients[0].numpy().tolist() == np.float32(value).tolist()
    assert gradients[1] is None


def test_functions_of_integers_beside_floats_need_no_warning() -> None:
    found = ag.gradients_function(lambda x, n: x * ag.cast(n, ag.float32))(3.0, 2)
    assert [g if g is None else float(g) for g in found] == [2.0, None]
