"""Checks of matrices, and parts of matrices for gradients."""

from __future__ import annotations

from collections.abc import Callable

from agog_core import dtypes
from agog_core.errors import InvalidArgumentError
from agog_core.ops.linalg.diagonal import matrix_band_part
from agog_core.shapes import Shape
from agog_core.tensors.tensor import Tensor

SOLVABLE = frozenset({dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128})
"""The dtypes for which matrices are factorized and systems solved."""


def check_matrices(op: str, name: str, shape: Shape) -> None:
    """Raise where an input is no matrix, nor a batch of them."""
    if len(shape) < 2:
        raise InvalidArgumentError(f"{op}: {name} must be a matrix or a batch of them; got shape {shape}.")


def check_square(op: str, name: str, shape: Shape) -> None:
    """Raise where an input is no square matrix, nor a batch of them."""
    check_matrices(op, name, shape)
    if shape[-1] != shape[-2]:
        raise InvalidArgumentError(f"{op}: {name} must be a square matrix or a batch of them; got shape {shape}.")


def square(op: str, name: str, *, dropped: int = 0) -> Callable[[Shape], Shape]:
    """A shape rule of square matrices: the output has their shape, without so many of the last axes."""

    def shape(given: Shape) -> Shape:
        check_square(op, name, given)
        return given[: len(given) - dropped]

    return shape


def diagonal_only(x: Tensor) -> Tensor:
    """The matrices, with zeros off the diagonal."""
    return matrix_band_part(x, 0, 0)


def off_diagonal(x: Tensor) -> Tensor:
    """The matrices, with zeros on the diagonal."""
    return x - diagonal_only(x)


def lower_half(x: Tensor) -> Tensor:
    """The lower triangles, with half of the diagonal: together with its adjoint a matrix that is its own adjoint."""
    return matrix_band_part(x, -1, 0) - diagonal_only(x) * 0.5
