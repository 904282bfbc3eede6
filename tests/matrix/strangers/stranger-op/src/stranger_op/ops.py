"""Softcap: an op with an attribute, and a vjp that is written with the operators of tensors."""

from typing import Any

from agog_core.plugin import InvalidArgumentError, Op, Tensor, call, convert_to_tensor, dtypes


def softcap(x: Any, cap: float, name: str | None = None) -> Tensor:
    """x, smoothly bent so that it stays between -cap and cap: ``cap * tanh(x / cap)``, elementwise."""
    if not cap > 0:
        raise InvalidArgumentError(f"softcap: cap must be positive; got {cap}.")
    return call(_op, convert_to_tensor(x), cap=float(cap))


_op = Op(
    "softcap",
    softcap,
    inputs=("x",),
    shape=lambda x, cap: x,
    dtypes=dtypes.FLOATING,
    vjp={"x": lambda g, out, cap: g * (1.0 - out * out * (1 / (cap * cap)))},
)
