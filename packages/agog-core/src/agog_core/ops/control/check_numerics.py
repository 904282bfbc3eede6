"""Check numerics: raises unless all numbers are finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from agog_core import dtypes
from agog_core.calls.call import call_several
from agog_core.dispatch.op import define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.control.assertions import demand
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["check_numerics", "verify_tensor_all_finite"]

_IN_GRADIENT = " (in the gradient)"


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Raise unless all numbers of a tensor are finite; its gradient is checked too.

    Args:
        tensor: a tensor of floats.
        message: what the error begins with.

    Returns:
        The tensor's value.

    Raises:
        InvalidArgumentError: a number is NaN or infinite, or the dtype has none of those.

    >>> print(check_numerics([1.0, 2.0], "the loss"))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(tensor)
    dtype, shape = x.dtype, x._shape
    result, counts = call_several(_check_numerics, x, message=message)

    def refuse(hosts: Sequence[Any], data: Any) -> NoReturn:
        nans, infinities = hosts[0].tolist()
        raise InvalidArgumentError(
            f"{message}: check_numerics: the tensor of dtype {dtype.name} and shape {shape} has {nans} NaN and "
            f"{infinities} infinite elements; tfe.seterr(inf_or_nan='raise') finds the op that makes them."
        )

    demand(_are_zero, [counts], [], refuse, None)
    return result


def _are_zero(counts: Any) -> bool:
    return not counts.any()


def _check_numerics_vjp(g: list[Any], message: str) -> Tensor:
    return check_numerics(g[0], message if message.endswith(_IN_GRADIENT) else message + _IN_GRADIENT)


_check_numerics = define(
    check_numerics,
    shape=lambda tensor, message: [tensor, (2,)],
    dtype=lambda dtype, message: [dtype, dtypes.int64],
    dtypes=FLOATING,
    vjp={"tensor": _check_numerics_vjp},
    views=True,
)


def verify_tensor_all_finite(t: TensorLike, msg: str, name: str | None = None) -> Tensor:
    """Raise unless all numbers of a tensor are finite; its gradient is checked too. See `check_numerics`.

    >>> print(verify_tensor_all_finite([1.0, 2.0], "the loss"))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return check_numerics(t, msg)
