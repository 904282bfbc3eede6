"""When a GradientTape records: entering, stopping, resetting, and errors inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import recording
from agog_testing import says


def scalar(x: Any) -> float:
    assert isinstance(x, ag.Tensor)
    return float(x)


def test_entering_twice() -> None:
    with ag.GradientTape() as tape, says(ValueError, "Tape is already recording."):
        tape.__enter__()


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
    with says(RuntimeError, "Trying to stop recording a tape which is not recording."), tape.stop_recording():
        pass


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
    with pytest.raises(KeyError), ag.GradientTape(), ag.GradientTape():
        raise KeyError
    assert recording.active == []
    assert recording.stack.get() == ()


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
