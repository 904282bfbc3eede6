"""Execution callbacks, and the guard against infinities and NaNs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.table import describe
from agog_core.observers import callbacks
from agog_core.observers.callbacks import InfOrNanError, add_execution_callback, clear_execution_callbacks, seterr


@pytest.fixture(autouse=True)
def _no_callbacks_afterwards() -> Iterator[None]:
    yield
    clear_execution_callbacks()
    seterr(inf_or_nan="ignore")


def test_a_callback_sees_the_op_its_attributes_and_tensors() -> None:
    seen: list[Any] = []
    x, y = ag.constant([[1.0, 2.0]]), ag.constant([[3.0], [4.0]])
    add_execution_callback(lambda *call: seen.append(call))
    z = ag.matmul(x, y)
    clear_execution_callbacks()
    ag.matmul(x, y)
    assert len(seen) == 1
    op_type, inputs, attrs, outputs, op_name = seen[0]
    assert (op_type, op_name) == ("matmul", None)
    assert dict(zip(attrs[::2], attrs[1::2], strict=True))["transpose_a"] is False
    np.testing.assert_array_equal(inputs[0].numpy(), x.numpy())
    np.testing.assert_array_equal(inputs[1].numpy(), y.numpy())
    np.testing.assert_array_equal(outputs[0].numpy(), z.numpy())
    assert [t.dtype for t in (*inputs, *outputs)] == [ag.float32] * 3


def test_an_observed_kernel_keeps_its_name() -> None:
    x = ag.constant([[1.0]])

    def kernel_name() -> str:
        ag.reduce_sum(x)
        return describe(x._table.kernels["reduce_sum"])

    assert kernel_name().endswith(".reduce_sum")
    before = kernel_name()
    add_execution_callback(lambda *call: None)
    assert kernel_name() == before


def test_callbacks_run_in_order_and_see_no_ops_of_each_other() -> None:
    seen: list[tuple[int, str]] = []

    def first(op_type: str, inputs: list[ag.Tensor], attrs: Any, outputs: list[ag.Tensor], op_name: Any) -> None:
        seen.append((1, op_type))
        ag.exp(outputs[0])

    add_execution_callback(first)
    add_execution_callback(lambda op_type, *rest: seen.append((2, op_type)))
    ag.square(ag.constant(2.0))
    assert seen == [(1, "square"), (2, "square")]


def test_callbacks_see_gradients_updates_and_ops_without_inputs() -> None:
    seen: list[str] = []
    v = ag.Variable([1.0, 2.0])
    add_execution_callback(lambda op_type, *rest: seen.append(op_type))
    with ag.GradientTape() as tape:
        y = v * ag.zeros([2])
    v.assign_add(tape.gradient(y, v))
    assert [name for name in seen if name != "fill"] == ["multiply", "multiply", "apply_add"]
    assert "fill" in seen


def test_an_exception_of_a_callback_reaches_the_caller_and_later_calls_are_seen() -> None:
    calls = []

    def broken(*call: Any) -> None:
        calls.append(call)
        raise ZeroDivisionError

    add_execution_callback(broken)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            ag.square(ag.constant(2.0))
    assert len(calls) == 2


def test_a_tensor_that_a_callback_keeps_does_not_change() -> None:
    kept: list[ag.Tensor] = []
    v = ag.Variable([1.0, 2.0])
    add_execution_callback(lambda op, inputs, attrs, outputs, name: kept.extend(inputs))
    v.assign_add([1.0, 1.0])
    clear_execution_callbacks()
    before = kept[0].numpy().copy()
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(kept[0].numpy(), before)


def test_seterr_raises_and_names_op_line_and_inputs() -> None:
    assert seterr(inf_or_nan="raise") == {"inf_or_nan": "ignore"}
    x, y = ag.constant([1.0, 0.0]), ag.constant([0.0, 0.0])
    line = sys._getframe().f_lineno + 2
    with pytest.raises(InfOrNanError) as caught:
        ag.divide(x, y)
    error = caught.value
    assert (error.op_type, error.op_name, error.output_index, error.num_outputs) == ("realdiv", None, 0, 1)
    np.testing.assert_array_equal(error.value, [np.inf, np.nan])
    assert str(error) == (
        "Output 1 of 1 of TFE operation realdiv (name: None) contains 1 inf(s) and 1 nan(s) out of a total of 2 "
        "element(s). Tensor value: [inf nan]\n"
        f"It was called at {__file__}:{line}.\n"
        "Input 1 of 2: tf.Tensor([1. 0.], shape=(2,), dtype=float32)\n"
        "Input 2 of 2: tf.Tensor([0. 0.], shape=(2,), dtype=float32)"
    )


def test_seterr_warns_prints_and_ignores(capsys: pytest.CaptureFixture[str]) -> None:
    x = ag.constant(0.0)
    seterr(inf_or_nan="warn")
    # pytest takes away the filter that hides NumPy's own warning.
    with np.errstate(divide="ignore"), pytest.warns(RuntimeWarning, match=r"TFE operation log .* contains 1 inf"):
        ag.log(x)
    assert seterr(inf_or_nan="print") == {"inf_or_nan": "warn"}
    ag.log(x)
    assert capsys.readouterr().out.startswith("Warning: Output 1 of 1 of TFE operation log")
    assert seterr() == {"inf_or_nan": "print"}
    seterr(inf_or_nan="ignore")
    assert np.isinf(ag.log(x).numpy())
    assert capsys.readouterr().out == ""


def test_seterr_sees_variables_that_are_updated() -> None:
    v = ag.Variable([1.0])
    seterr(inf_or_nan="raise")
    with pytest.raises(InfOrNanError, match=r"TFE operation apply_add .* contains 1 inf"):
        v.assign_add([np.inf])


def test_seterr_refuses_other_actions() -> None:
    text = r"^seterr: inf_or_nan must be one of ignore, print, raise, warn or None; got 'x'\.$"
    with pytest.raises(ValueError, match=text):
        seterr(inf_or_nan="x")


def test_callbacks_for_either() -> None:
    zero, one = ag.constant(0.0), ag.constant(1.0)
    add_execution_callback(callbacks.nan_callback)
    ag.divide(one, zero)
    with pytest.raises(InfOrNanError, match="1 nan"):
        ag.divide(zero, zero)
    clear_execution_callbacks()
    add_execution_callback(callbacks.inf_callback)
    ag.divide(zero, zero)
    with pytest.raises(InfOrNanError, match="1 inf"):
        ag.divide(one, zero)
    clear_execution_callbacks()
    add_execution_callback(callbacks.inf_nan_callback)
    ag.add(ag.constant(1), ag.constant(2))
    with pytest.raises(InfOrNanError):
        ag.divide(zero, zero)
    with pytest.raises(ValueError, match=r"^inf_nan_callback: action must be one of print, raise, warn; got 'x'\.$"):
        callbacks.inf_nan_callback("add", [], (), [], None, action="x")
