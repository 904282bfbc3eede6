"""Linalg: rules of products and determinants of matrices."""

from __future__ import annotations

from typing import Any

from agog_export.writer import Operand, Writer

__all__ = ["einsum", "log_matrix_determinant", "matmul"]


def einsum(op: Writer, *inputs: Operand, equation: str) -> Any:
    return op.Einsum(*inputs, equation=equation)


def log_matrix_determinant(op: Writer, input: Operand) -> list[Any]:
    determinant = op.Det(input)
    return [op.Sign(determinant), op.Log(op.Abs(determinant))]


def matmul(op: Writer, a: Operand, b: Operand, *, transpose_a: bool, transpose_b: bool) -> Any:
    return op.MatMul(_turned(op, a) if transpose_a else a, _turned(op, b) if transpose_b else b)


def _turned(op: Writer, x: Operand) -> Operand:
    return op.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])
