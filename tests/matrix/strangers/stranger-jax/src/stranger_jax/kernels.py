"""Kernels: those of agog-kernels-xp, bound to JAX; ``kernels.matmul`` is made when it is asked for."""

from __future__ import annotations

import jax.numpy

import agog_kernels_xp

__getattr__ = agog_kernels_xp.bind(jax.numpy, bits="host")
