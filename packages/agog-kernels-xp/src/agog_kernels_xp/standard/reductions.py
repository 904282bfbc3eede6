"""Reductions: sums, extrema, scans and products, as NumPy has them."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.standard.array import Array


class Reductions:
    """The functions of NumPy's face that combine the elements of arrays."""

    xp: Any

    def sum(self, x: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
        """Sum; that of bools counts them."""
        return self._reduced("sum", self._countable(x, dtype), axis, keepdims)

    def prod(self, x: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
        return self._reduced("prod", self._countable(x, dtype), axis, keepdims)

    def max(self, x: Array, axis: Any = None, dtype: None = None, keepdims: bool = False) -> Array:
        return self._reduced("max", x, axis, keepdims)

    def min(self, x: Array, axis: Any = None, dtype: None = None, keepdims: bool = False) -> Array:
        return self._reduced("min", x, axis, keepdims)

    def all(self, x: Array, axis: Any = None, dtype: None = None, keepdims: bool = False) -> Array:
        return self._reduced("all", x, axis, keepdims)

    def any(self, x: Array, axis: Any = None, dtype: None = None, keepdims: bool = False) -> Array:
        return self._reduced("any", x, axis, keepdims)

    def argmax(self, x: Array, axis: int | None = None) -> Array:
        """Position of the first maximum."""
        return Array(self, self.xp.argmax(self._countable(x, None).native, axis=axis))

    def argmin(self, x: Array, axis: int | None = None) -> Array:
        """Position of the first minimum."""
        return Array(self, self.xp.argmin(self._countable(x, None).native, axis=axis))

    def cumsum(self, x: Array, axis: int, dtype: Any = None) -> Array:
        return Array(self, self.xp.cumulative_sum(self._countable(x, dtype).native, axis=axis))

    def cumprod(self, x: Array, axis: int, dtype: Any = None) -> Array:
        return Array(self, self.xp.cumulative_prod(self._countable(x, dtype).native, axis=axis))

    def vdot(self, x: Array, y: Array) -> Any:
        """Sum of the products, of the first array's conjugate."""
        return (x.conj() * y).sum()

    def tril(self, x: Array) -> Array:
        return Array(self, self.xp.tril(x.native))

    def diagonal(self, x: Array, axis1: int, axis2: int) -> Array:
        return Array(self, self.xp.linalg.diagonal(x.native))

    def _countable(self, x: Array, dtype: Any) -> Array:
        return x.astype(dtype or "int64") if dtype is not None or x.dtype.kind == "b" else x

    def _reduced(self, name: str, x: Array, axis: Any, keepdims: bool) -> Array:
        typed = {"dtype": x.native.dtype} if name in ("sum", "prod") else {}
        return Array(self, getattr(self.xp, name)(x.native, axis=axis, keepdims=keepdims, **typed))
