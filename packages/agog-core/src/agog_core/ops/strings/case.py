"""Case: strings in lower and upper case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented_like
from agog_core.dtypes import string
from agog_core.tensors.convert import computed, convert_to_tensor
from agog_core.tensors.host_functions import host_function
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["lower", "upper"]


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in lower case, elementwise.

    Args:
        input: a tensor of strings.
        encoding: ``"utf-8"`` for all letters; empty for those of ASCII, where other bytes stay.

    Returns:
        A tensor of strings of the same shape.

    Raises:
        ValueError: the encoding is another one.

    >>> print(lower(["CamelCase"]))
    tf.Tensor([b'camelcase'], shape=(1,), dtype=string)
    """
    return _each("lower", input, encoding)


@documented_like(lower)
def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Strings in upper case, elementwise.

    >>> print(upper("straße", encoding="utf-8").numpy().decode())
    STRASSE
    """
    return _each("upper", input, encoding)


def _each(function: str, strings: TensorLike, encoding: str) -> Tensor:
    if encoding not in ("", "utf-8"):
        raise ValueError(f"{function}: encoding must be '' or 'utf-8'; got {encoding!r}.")
    x = convert_to_tensor(strings, string)
    return computed(_changed(is_upper=function == "upper", encoding=encoding), [x], [x.dtype], may_fail=True)[0]


@host_function("strings.case")
def _changed(is_upper: bool, encoding: str) -> Callable[..., Any]:
    of_bytes, of_text = (bytes.upper, str.upper) if is_upper else (bytes.lower, str.lower)

    def made(host: Any) -> list[Any]:
        flat = np.asarray(host, object).reshape(-1)
        texts = [of_text(each.decode("utf-8")).encode() if encoding else of_bytes(each) for each in flat]
        return [np.array([*texts, None], object)[:-1].reshape(host.shape)]

    return made
