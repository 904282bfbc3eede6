"""Policies for copies, fallbacks to another device, and what observers see of them, on a device beside the CPU."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call_several, update
from agog_core.dispatch.op import registry
from agog_core.dispatch.plugins.registration import register_plugin, unregister_plugin
from agog_core.errors import FallbackWarning, InvalidArgumentError, MissingKernelError
from agog_core.observers.callbacks import add_execution_callback, clear_execution_callbacks
from agog_core.ops.signal.real_fourier import rfft
from agog_core.plugin import Kernel, Op, hookimpl
from agog_core.tensors.placement import (
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT_FOR_INT32,
    DEVICE_PLACEMENT_WARN,
    set_device_policy,
)
from agog_testing import says

FAKE = "/job:localhost/replica:0/task:0/device:FAKE:0"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture(autouse=True)
def _silent_afterwards() -> Iterator[None]:
    with ag.device(None):
        yield
    set_device_policy(None)


def on_fake(value: Any) -> ag.Tensor:
    with ag.device("fake:0"):
        return ag.constant(value)


def test_silent_is_the_default() -> None:
    assert (on_fake([1.0]) + ag.constant([2.0])).device == FAKE


def test_explicit_raises() -> None:
    set_device_policy(DEVICE_PLACEMENT_EXPLICIT)
    x = on_fake([1.0])
    with says(
        InvalidArgumentError,
        f"Tensors on conflicting devices: cannot compute add as input #1 was expected to be on {FAKE} but is actually "
        f"on {CPU} (operation running on {FAKE}). Copy it with .gpu() or .cpu(), or let it be copied silently, with "
        "tfe.set_device_policy(tfe.DEVICE_PLACEMENT_SILENT).",
    ):
        ag.add(x, ag.constant([2.0]))
    with pytest.raises(InvalidArgumentError, match="cannot compute matmul as input #0"):
        ag.matmul(ag.constant([[1.0]]), on_fake([[1.0]]))
    assert (x + x).device == FAKE
    assert (x * 2.0).device == FAKE


def test_silent_for_int32() -> None:
    set_device_policy(DEVICE_PLACEMENT_SILENT_FOR_INT32)
    assert (on_fake([1]) + ag.constant([2])).device == FAKE
    with pytest.raises(InvalidArgumentError, match="conflicting devices"):
        ag.add(on_fake([1.0]), ag.constant([2.0]))


def test_warn_names_the_line(caplog: pytest.LogCaptureFixture) -> None:
    set_device_policy(DEVICE_PLACEMENT_WARN)
    x, y = on_fake([1.0]), ag.constant([2.0])
    with caplog.at_level(logging.WARNING, "agog"):
        line = sys._getframe().f_lineno + 1
        ag.add(x, y)
    assert caplog.messages == [
        f"{__file__}:{line}: before add, input #1 of dtype float32 and shape (1,) is copied from {CPU} to {FAKE}; "
        "copies slow a model down."
    ]


def test_unknown_policy() -> None:
    with says(
        ValueError,
        "device_policy must be one of tfe.DEVICE_PLACEMENT_EXPLICIT, _WARN, _SILENT, _SILENT_FOR_INT32 or None; got "
        "'loud'.",
    ):
        set_device_policy("loud")


@pytest.fixture
def cpu_only_ops() -> Iterator[Any]:
    """Two ops that only the CPU has kernels for: a sum and difference, and a step that updates a variable."""

    def both(x: Any, y: Any) -> tuple[ag.Tensor, ...]:
        raise NotImplementedError

    pair = Op("test_fake_both", both, inputs=["x", "y"], shape=lambda x, y: [x, x], vjp={})
    step = Op("test_fake_step", both, inputs=["variable", "delta"], shape=lambda v, d: v, updates=["variable"])

    def subtract_in_place(variable: Any, delta: Any) -> None:
        variable -= delta

    plugin = SimpleNamespace(
        agog_ops=hookimpl(lambda: [pair, step]),
        agog_kernels=hookimpl(
            lambda: [
                Kernel(op="test_fake_both", device="cpu", fn=lambda x, y: (x + y, x - y)),
                Kernel(op="test_fake_step", device="cpu", fn=subtract_in_place),
            ]
        ),
    )
    register_plugin(plugin, "test-fake-cpu-only")
    yield SimpleNamespace(pair=pair, step=step)
    unregister_plugin("test-fake-cpu-only")


def test_fallback_runs_elsewhere_and_warns_once(cpu_only_ops: Any) -> None:
    x, y = on_fake([3.0, 4.0]), on_fake([1.0, 1.0])
    with pytest.raises(MissingKernelError):
        call_several(cpu_only_ops.pair, x, y)
    with ag.fallback("cpu"):
        with pytest.warns(FallbackWarning) as warned:
            total, difference = call_several(cpu_only_ops.pair, x, y)
        assert [str(w.message) for w in warned] == [
            "test_fake_both: no kernel on device 'fake' for dtype float32; it runs on 'cpu', and its inputs and "
            "results are copied."
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call_several(cpu_only_ops.pair, x, y)
    assert (total.device, difference.device) == (FAKE, FAKE)
    np.testing.assert_array_equal(total.numpy(), [4.0, 5.0])
    np.testing.assert_array_equal(difference.numpy(), [2.0, 3.0])
    with pytest.raises(MissingKernelError):
        call_several(cpu_only_ops.pair, x, y)


def test_fallback_of_an_update(cpu_only_ops: Any) -> None:
    with ag.device("fake:0"):
        v = ag.Variable([3.0, 4.0])
        before = v.value()
        with ag.fallback("cpu"), pytest.warns(FallbackWarning):
            update(cpu_only_ops.step, [v], [ag.constant([1.0, 1.0])])
    assert v.device == FAKE
    np.testing.assert_array_equal(v.numpy(), [2.0, 3.0])
    np.testing.assert_array_equal(before.numpy(), [3.0, 4.0])


def test_fallback_where_nothing_is(cpu_only_ops: Any) -> None:
    x = ag.constant([1.0])
    nowhere = Op("test_fake_nowhere", cpu_only_ops.pair.function, inputs=["x"], shape=lambda x: [x])
    try:
        with ag.fallback("cpu"):
            with pytest.raises(MissingKernelError, match="No kernel is registered for op 'test_fake_nowhere'"):
                call_several(nowhere, x)
            with pytest.raises(MissingKernelError, match="fallback: device 'cpu' has none either"):
                call_several(nowhere, on_fake([1.0]))
    finally:
        del registry["test_fake_nowhere"]


def test_profile_sees_hidden_copies() -> None:
    x, y = on_fake([1.0, 2.0]), ag.constant([2.0, 3.0])
    with ag.profile() as seen:
        ag.add(x, y)
    assert seen.copies == 1
    (copy,) = [row for row in seen.ops if row.op == "copy"]
    assert (copy.kernel, copy.count, copy.bytes) == ("cpu:0 to fake:0", 1, 8)
    (addition,) = [row for row in seen.ops if row.op == "add"]
    assert (addition.device, addition.plugin, addition.bytes) == ("fake", "fake", 8)


def test_callbacks_get_tensors_of_the_device() -> None:
    seen: list[ag.Tensor] = []
    x = on_fake([1.0, 2.0])
    add_execution_callback(lambda op, inputs, attrs, outputs, name: seen.extend([*inputs, *outputs]))
    try:
        ag.exp(x)
    finally:
        clear_execution_callbacks()
    assert [t.device for t in seen] == [FAKE, FAKE]
    np.testing.assert_allclose(seen[1].numpy(), np.exp([1.0, 2.0]), rtol=1e-6)


def test_dtype_that_an_op_has_not_is_refused_by_name() -> None:
    with (
        ag.device("fake:0"),
        says(
            ag.errors.InvalidArgumentError,
            "rfft: dtype int32 is not supported; use one of float32, float64. Cast with tf.cast.",
        ),
    ):
        rfft(ag.constant([1, 2, 3]))
