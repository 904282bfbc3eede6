"""GradientTape: what it records, what it watches, and what `gradient` answers."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

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
    with says(RuntimeError, ONCE):
        tape.gradient(y, x)


def test_gradient_inside_the_context() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert scalar(tape.gradient(y, x)) == 6.0
        with says(RuntimeError, ONCE):
            tape.gradient(y, x)


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
    with says(
        InvalidArgumentError,
        "GradientTape.gradient: an output gradient has shape (1,) and dtype float32; its target has shape (2,) and "
        "dtype float32, and both must agree.",
    ):
        tape.gradient(y, x, ag.constant([1.0]))
    with says(
        InvalidArgumentError,
        "GradientTape.gradient: an output gradient has shape (2,) and dtype float64; its target has shape (2,) and "
        "dtype float32, and both must agree.",
    ):
        tape.gradient(y, x, ag.constant([1.0, 1.0], dtype=ag.float64))
    with says(ValueError, "GradientTape.gradient: 1 output_gradients for 2 targets; give one for each, or None."):
        tape.gradient([y, z], x, [None])


@pytest.mark.filterwarnings("ignore:GradientTape.gradient. a source of dtype")
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
    with says(ValueError, "unconnected_gradients must be 'none' or 'zero'; got 'zeros'."):
        tape.gradient(z, x, unconnected_gradients="zeros")


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
        with says(TypeError, f"GradientTape.gradient: {what} are tensors and variables; got {shown}."):
            tape.gradient(*arguments)


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
