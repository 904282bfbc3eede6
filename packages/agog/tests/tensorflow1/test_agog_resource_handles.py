"""Ops on handles of variables, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog.commands.tensorflow1.internals import resource_handles as handles
from agog_core.errors import InvalidArgumentError, NotFoundError
from agog_testing import says


def made(value: Any = ((6,), (8,)), dtype: str = "int32") -> handles.ResourceHandle:
    handle = handles.var_handle_op(dtype, np.shape(value), shared_name="rows")
    handles.assign_variable_op(handle, value)
    return handle


def test_a_handle_from_its_first_value_to_its_end() -> None:
    handle = handles.var_handle_op("float64", [2], name="pair")
    assert repr(handle) == "<ResourceHandle 'pair' shape=(2,) dtype=float64, numpy=<unprintable>>"
    assert not handles.var_is_initialized_op(handle)
    handles.assign_variable_op(handle, [1, 2])
    handles.assign_add_variable_op(handle, [3.0, 4.0])
    handles.assign_sub_variable_op(handle, [1.0, 1.0])
    assert handles.read_variable_op(handle, ag.float64).numpy().tolist() == [3.0, 5.0]
    assert handles.resource_gather(handle, [1], "float64").numpy().tolist() == [5.0]
    handles.assign_variable_op(handle, np.array([7.0, 8.0]))
    assert handles.var_is_initialized_op(handle)
    assert handles.read_variable_op(handle, "float64").numpy().tolist() == [7.0, 8.0]
    handles.destroy_resource_op(handle, ignore_lookup_error=False)
    handles.destroy_resource_op(handle)
    assert not handles.var_is_initialized_op(handle)


def test_a_variable_is_its_own_handle() -> None:
    v = ag.Variable(1.0)
    handles.assign_variable_op(v, 3.0)
    handles.assign_add_variable_op(v, 2.0)
    assert handles.read_variable_op(v, "float32").numpy() == v.numpy() == 5.0
    assert handles.var_is_initialized_op(v)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("add", lambda old, new: old + new),
        ("sub", lambda old, new: old - new),
        ("mul", lambda old, new: old * new),
        ("div", lambda old, new: old // new),
        ("min", min),
        ("max", max),
        ("update", lambda old, new: new),
    ],
)
def test_rows_change(name: str, change: Callable[[int, int], int]) -> None:
    scatter = getattr(handles, f"resource_scatter_{name}")
    assert scatter.__name__ == f"resource_scatter_{name}"
    for update in ([[2]], 2):
        handle = made()
        scatter(handle, [1], update)
        assert handles.read_variable_op(handle, "int32").numpy().tolist() == [[6], [change(8, 2)]]


def test_strings() -> None:
    handle = made([["a"]], "string")
    handles.resource_scatter_update(handle, [0], "b")
    assert handles.read_variable_op(handle, ag.string).numpy().tolist() == [[b"b"]]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: handles.read_variable_op(made(), "float32"),
            InvalidArgumentError,
            "read_variable_op: Trying to read variable with wrong dtype. Expected float got int32.",
        ),
        (
            lambda: handles.assign_variable_op(made(), ag.constant([[1.0], [2.0]])),
            InvalidArgumentError,
            "assign_variable_op: Trying to assign variable with wrong dtype. Expected int32 got float.",
        ),
        (
            lambda: handles.read_variable_op(handles.var_handle_op("int32", [], name="new"), "int32"),
            NotFoundError,
            "read_variable_op: Resource 'new' does not exist; assign_variable_op makes it.",
        ),
        (
            lambda: handles.resource_scatter_add(3, [0], [1]),  # type: ignore[arg-type]
            TypeError,
            "resource_scatter_add: resource must be a handle of var_handle_op, or a variable; got 3 of type int.",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        call()
