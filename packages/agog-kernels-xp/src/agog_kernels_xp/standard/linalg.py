"""Linalg: factorizations and solvers, as NumPy's ``linalg`` has them, and sums of products by an equation."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.standard.array import Array


class Linalg:
    """NumPy's ``linalg`` of a library with the standard's extension of that name."""

    def __init__(self, face: Any) -> None:
        self.face = face

    def _called(self, name: str, *arrays: Array, **options: Any) -> Any:
        result = getattr(self.face.xp.linalg, name)(*[x.native for x in arrays], **options)
        if isinstance(result, tuple):
            return tuple([Array(self.face, each) for each in result])
        return Array(self.face, result)

    def cholesky(self, x: Array) -> Any:
        return self._called("cholesky", x)

    def det(self, x: Array) -> Any:
        return self._called("det", x)

    def eig(self, x: Array) -> Any:
        return self._called("eig", x)

    def eigh(self, x: Array) -> Any:
        """Those of a self-adjoint matrix."""
        return self._called("eigh", x)

    def eigvals(self, x: Array) -> Any:
        return self._called("eigvals", x)

    def eigvalsh(self, x: Array) -> Any:
        """Those of a self-adjoint matrix."""
        return self._called("eigvalsh", x)

    def inv(self, x: Array) -> Any:
        return self._called("inv", x)

    def pinv(self, x: Array, rtol: float) -> Any:
        return self._called("pinv", x, rtol=rtol)

    def qr(self, x: Array, mode: str) -> Any:
        """Orthonormal columns and upper triangular factor."""
        return self._called("qr", x, mode=mode)

    def slogdet(self, x: Array) -> Any:
        """Sign and logarithm of the determinant."""
        return self._called("slogdet", x)

    def solve(self, a: Array, b: Array) -> Any:
        """Solution of a linear system."""
        return self._called("solve", a, b)

    def svd(self, x: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        """Singular values and vectors, or the values alone."""
        return self._called("svd", x, full_matrices=full_matrices) if compute_uv else self._called("svdvals", x)


def einsum(face: Any, equation: str, *inputs: Array) -> Any:
    """Sums of products: each array in the axes of all letters, multiplied, and summed over those that go."""
    given, _, output = equation.partition("->")
    terms = given.split(",")
    letters = [*output, *sorted(set("".join(terms)) - set(output))]
    product: Any = None
    for term, x in zip(terms, inputs, strict=True):
        axes = list(term)
        while twice := [c for c in axes if axes.count(c) > 1]:
            first, second = [n for n, c in enumerate(axes) if c == twice[0]][:2]
            rest = [n for n in range(len(axes)) if n not in (first, second)]
            x = face.diagonal(x.transpose((*rest, first, second)), -2, -1)
            axes = [*(axes[n] for n in rest), twice[0]]
        x = x.transpose(tuple(axes.index(c) for c in letters if c in axes))
        x = x[tuple(slice(None) if c in axes else None for c in letters)]
        product = x if product is None else product * x
    summed = tuple(range(len(output), len(letters)))
    return product.sum(summed, product.dtype) if summed else product
