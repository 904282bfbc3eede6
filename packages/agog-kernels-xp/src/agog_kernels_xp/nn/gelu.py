"""Gelu: the Gaussian error linear unit and its gradient."""

from __future__ import annotations

import math
from typing import Any

from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.rows import wide
from agog_kernels_xp.parts.scipy import companion

_HALF_ROOT = math.sqrt(0.5)
# (1 + tanh(y)) / 2 is the sigmoid of 2 * y, which keeps its digits also where tanh is near -1.
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR
_TINY = 1e-30


def gelu(xp: Any, features: Array, *, approximate: bool) -> Array:
    """Product of a number and the probability that a normal one is less."""
    x = wide(features)
    share = _share(xp, x, approximate)
    share *= x
    return share.astype(features.dtype, copy=False)


def gelu_grad(xp: Any, gradients: Array, features: Array, outputs: Array, *, approximate: bool) -> Array:
    """Its gradient. The probability is a quotient, which takes less time; half precision has lost its digits."""
    x = wide(features)
    slope = x * x
    if approximate:
        share = _share(xp, x, approximate)
        slope *= 3 * _CUBIC
        slope += _LINEAR
        change = 1 - share
        change *= share
        change *= x
        slope *= change
    else:
        is_half = features.dtype.itemsize == 2
        share = _share(xp, x, False) if is_half else xp.where(slope < _TINY, x.dtype.type(0.5), outputs / x)
        slope *= -0.5
        slope = xp.exp(slope)
        slope *= x
        slope *= 1 / math.sqrt(2 * math.pi)
    slope += share
    slope *= wide(gradients)
    return slope.astype(features.dtype, copy=False)


def _share(xp: Any, x: Array, approximate: bool) -> Array:
    """The probability."""
    if approximate:
        share = x * x
        share *= -_CUBIC
        share -= _LINEAR
        share *= x
        share = xp.exp(share)
        share += 1
        return 1 / share
    share = companion(xp, "special").erf(x * _HALF_ROOT)
    share += 1
    share *= 0.5
    return share
