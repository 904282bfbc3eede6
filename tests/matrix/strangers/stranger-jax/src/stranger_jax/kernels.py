"""Kernels: those of agog-kernels-xp, bound to JAX; ``kernels.matmul`` is made when it is asked for."""

from __future__ import annotations

from typing import Any

import jax.numpy

import agog_kernels_xp

__getattr__ = agog_kernels_xp.bind(jax.numpy, bits="host")


def self_adjoint_eig(x: Any) -> tuple[Any, Any]:
    """Eigenvalues and eigenvectors of the lower triangle; JAX takes the mean of both unless told otherwise."""
    values, vectors = jax.numpy.linalg.eigh(x, symmetrize_input=False)
    return values, vectors


def self_adjoint_eigvals(x: Any) -> Any:
    """The eigenvalues alone."""
    return self_adjoint_eig(x)[0]
