"""Callbacks: functions called after every op, and the guard against infinities and NaN."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.dtypes import as_dtype
from agog_core.recording import source_line
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap

__all__ = [
    "InfOrNanError",
    "add_execution_callback",
    "clear_execution_callbacks",
    "inf_callback",
    "inf_nan_callback",
    "nan_callback",
    "seterr",
]

Callback = Callable[[str, list[Tensor], tuple[Any, ...], list[Tensor], str | None], Any]

_ACTIONS = ("ignore", "print", "raise", "warn")
# The execution callbacks: `add_execution_callback` and `clear_execution_callbacks` write it.
_callbacks: list[Callback] = []
# What `seterr` chose.
_action = "ignore"


class InfOrNanError(Exception):
    """An op's output holds an infinity or a NaN.

    Args:
        op_type: the op's name.
        op_name: the name that the program gave the call; None, as ops are not named here.
        output_index: which output.
        num_outputs: how many outputs the op has.
        value: the output, a `numpy.ndarray`.
        inputs: the op's inputs.
        line: the line of the program that called the op, such as ``"train.py:12"``.
    """

    def __init__(
        self,
        op_type: str,
        op_name: str | None,
        output_index: int,
        num_outputs: int,
        value: Any,
        inputs: list[Tensor] | None = None,
        line: str | None = None,
    ) -> None:
        self.op_type = op_type
        self.op_name = op_name
        self.output_index = output_index
        self.num_outputs = num_outputs
        self.value = np.asarray(value)
        self.inputs = inputs or []
        self.line = line
        super().__init__(self._text())

    def _text(self) -> str:
        infinite, nan = np.count_nonzero(np.isinf(self.value)), np.count_nonzero(np.isnan(self.value))
        found = " and ".join(f"{count} {what}(s)" for count, what in ((infinite, "inf"), (nan, "nan")) if count)
        text = (
            f"Output {self.output_index + 1} of {self.num_outputs} of TFE operation {self.op_type} "
            f"(name: {self.op_name}) contains {found} out of a total of {self.value.size} element(s). "
            f"Tensor value: {self.value}"
        )
        where = [f"It was called at {self.line}."] if self.line else []
        shown = [f"Input {n + 1} of {len(self.inputs)}: {x!s}" for n, x in enumerate(self.inputs)]
        return "\n".join([text, *where, *shown])


def add_execution_callback(callback: Callback) -> None:
    """Call a function after each op, in all threads.

    Args:
        callback: takes ``(op_type, inputs, attrs, outputs, op_name)``: the op's name, its input tensors, its attributes
            as a tuple of alternating names and values, its output tensors, and None. Callbacks are called in the order
            in which they were added; the ops that a callback calls are not seen by any.

    >>> import agog_core as ag
    >>> seen = []
    >>> add_execution_callback(lambda op_type, inputs, attrs, outputs, op_name: seen.append(op_type))
    >>> _ = ag.constant(1.0) + ag.constant(2.0)
    >>> clear_execution_callbacks()
    >>> seen
    ['add']
    """
    if not _callbacks:
        observe(_run_callbacks)
    _callbacks.append(callback)


def clear_execution_callbacks() -> None:
    """Call no execution callbacks any more; `seterr` stays as it is."""
    _callbacks.clear()
    unobserve(_run_callbacks)


def _run_callbacks(call: KernelCall) -> None:
    attributes = tuple([part for item in call.attributes.items() for part in item])
    inputs, outputs = _tensors(call, call.arrays), _tensors(call, call.results)
    for callback in tuple(_callbacks):
        callback(call.op.name, inputs, attributes, outputs, None)


def _tensors(call: KernelCall, arrays: tuple[Any, ...]) -> list[Tensor]:
    device = call.table.device
    adopted: list[Any] = [x if type(x) is device.array_type else call.table.adopt(call.op.name, x) for x in arrays]
    return [wrap(x, device.table(as_dtype(x.dtype)), intern_shape(tuple(x.shape))) for x in adopted]


def inf_nan_callback(
    op_type: str,
    inputs: list[Tensor],
    attrs: tuple[Any, ...],
    outputs: list[Tensor],
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: str = "raise",
) -> None:
    """Look for infinities and NaNs in the outputs of an op; an execution callback.

    Args:
        op_type: the op's name.
        inputs: its inputs.
        attrs: its attributes.
        outputs: its outputs.
        op_name: the name of the call.
        check_inf: whether to look for infinities.
        check_nan: whether to look for NaNs.
        action: ``"raise"``, ``"warn"`` or ``"print"``.

    Raises:
        InfOrNanError: there is one, and the action is ``"raise"``.
        ValueError: the action is something else.
    """
    if action not in _ACTIONS[1:]:
        raise ValueError(f"inf_nan_callback: action must be one of {', '.join(_ACTIONS[1:])}; got {action!r}.")
    for index, output in enumerate(outputs):
        if not output.dtype.is_differentiable:
            continue
        value = np.asarray(output.numpy())
        if not ((check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value, inputs, source_line())
        if action == "raise":
            raise error
        if action == "warn":
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        else:
            print(f"Warning: {error}")


def inf_callback(
    op_type: str,
    inputs: list[Tensor],
    attrs: tuple[Any, ...],
    outputs: list[Tensor],
    op_name: str | None,
    action: str = "raise",
) -> None:
    """Look for infinities in the outputs of an op; an execution callback.

    Args:
        op_type: the op's name.
        inputs: its inputs.
        attrs: its attributes.
        outputs: its outputs.
        op_name: the name of the call.
        action: as for `inf_nan_callback`.

    Raises:
        InfOrNanError: there is one, and the action is ``"raise"``.
    """
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(
    op_type: str,
    inputs: list[Tensor],
    attrs: tuple[Any, ...],
    outputs: list[Tensor],
    op_name: str | None,
    action: str = "raise",
) -> None:
    """Look for NaNs in the outputs of an op; an execution callback.

    Args:
        op_type: the op's name.
        inputs: its inputs.
        attrs: its attributes.
        outputs: its outputs.
        op_name: the name of the call.
        action: as for `inf_nan_callback`.

    Raises:
        InfOrNanError: there is one, and the action is ``"raise"``.
    """
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def seterr(inf_or_nan: str | None = None) -> dict[str, str]:
    """Choose what happens when an op's output holds an infinity or a NaN.

    Args:
        inf_or_nan: ``"ignore"``, ``"print"``, ``"raise"`` (an `InfOrNanError` that names the op, the line and the
            inputs) or ``"warn"``; None to leave it as it is.

    Returns:
        The choice before, as ``{"inf_or_nan": ...}``.

    Raises:
        ValueError: the choice is something else.

    >>> seterr(inf_or_nan="raise")
    {'inf_or_nan': 'ignore'}
    >>> seterr(inf_or_nan="ignore")
    {'inf_or_nan': 'raise'}
    """
    global _action
    if inf_or_nan not in (None, *_ACTIONS):
        raise ValueError(f"seterr: inf_or_nan must be one of {', '.join(_ACTIONS)} or None; got {inf_or_nan!r}.")
    before = {"inf_or_nan": _action}
    if inf_or_nan is not None:
        _action = inf_or_nan
        unobserve(_check)
        if inf_or_nan != "ignore":
            observe(_check)
    return before


def _check(call: KernelCall) -> None:
    inputs, outputs = _tensors(call, call.arrays), _tensors(call, call.results or call.arrays[: len(call.op.updates)])
    inf_nan_callback(call.op.name, inputs, (), outputs, None, action=_action)
