"""Parameters: the conversion of distributions' parameters, and shared formulas."""

from __future__ import annotations

import math
from typing import Any

import agog_core as ag
from agog_core import DType, Tensor, as_dtype, float32, float64
from agog_core.ops.nn import softmax
from agog_core.shapes import Shape, broadcast_shapes
from agog_core.tensors.convert import first_dtype

__all__ = ["broadcast", "chosen", "filled", "log_ndtr", "ndtr", "ndtri", "of_one_dtype", "probabilities", "xlogy"]


def of_one_dtype(*values: ag.TensorLike) -> list[Tensor]:
    """Parameters as tensors of one dtype: that of the first tensor or array of floats among them, or float32."""
    kinds = [first_dtype([value]) or getattr(value, "dtype", None) for value in values]
    floats = [as_dtype(kind) for kind in kinds if kind is not None and as_dtype(kind).is_floating]
    known: DType = floats[0] if floats else float32
    return [ag.convert_to_tensor(value, known) for value in values]


def broadcast(*tensors: Tensor) -> Shape:
    """The shape that tensors broadcast to."""
    shape: Shape = ()
    for tensor in tensors:
        shape = broadcast_shapes("distribution", shape, tensor._shape)
    return shape


def filled(value: Any, shape: Shape) -> Tensor:
    """A tensor, repeated to a shape."""
    tensor = ag.convert_to_tensor(value)
    return tensor if tensor._shape == shape else ag.broadcast_to(tensor, shape)


def chosen(condition: Tensor, x: Any, y: Any) -> Tensor:
    """The first value where a condition holds, the second one elsewhere; all broadcast, and numbers are taken as they
    come."""
    kind = next(value.dtype for value in (x, y) if isinstance(value, Tensor))
    one, other = (value if isinstance(value, Tensor) else ag.convert_to_tensor(value, kind) for value in (x, y))
    shape = broadcast(condition, one, other)
    return ag.where(filled(condition, shape), filled(one, shape), filled(other, shape))


def probabilities(
    name: str, logits: ag.TensorLike, probs: ag.TensorLike, is_over_classes: bool
) -> tuple[Tensor, Tensor]:
    """Logits and probabilities, of which one is given; over classes they are along the last axis.

    Raises ValueError where none or both are given.
    """
    if (logits is None) == (probs is None):
        raise ValueError(f"{name}: Must pass probs or logits, but not both.")
    if logits is not None:
        (x,) = of_one_dtype(logits)
        return x, softmax(x) if is_over_classes else ag.sigmoid(x)
    (p,) = of_one_dtype(probs)
    return ag.log(p) if is_over_classes else ag.log(p) - ag.log1p(-p), p


def xlogy(x: Tensor, y: Tensor) -> Tensor:
    """``x * log(y)``; 0 where x is 0, whatever y is."""
    shape = broadcast(x, y)
    x, y = filled(x, shape), filled(y, shape)
    is_zero = ag.equal(x, 0.0)
    return ag.where(is_zero, ag.zeros_like(x), x * ag.log(ag.where(is_zero, ag.ones_like(y), y)))


def ndtr(z: Tensor) -> Tensor:
    """The distribution function of the standard normal distribution."""
    return ag.erfc(z * -math.sqrt(0.5)) * 0.5


def log_ndtr(z: Tensor) -> Tensor:
    """Its logarithm, also where it is too small to be told from 0: by the asymptotic series of Abramowitz and Stegun,
    26.2.12, there."""
    low, high = (-20.0, 8.0) if z.dtype is float64 else (-10.0, 5.0)
    far = ag.minimum(z, low)
    over = 1.0 / ag.square(far)
    series = 1.0 - over * (1.0 - 3.0 * over * (1.0 - 5.0 * over))
    tail = -0.5 * ag.square(far) - ag.log(-far) - 0.5 * math.log(2 * math.pi) + ag.log(series)
    middle = ag.log(ndtr(ag.minimum(ag.maximum(z, low), high)))
    return ag.where(z > high, -ndtr(-z), ag.where(z > low, middle, tail))


# The coefficients of M. J. Wichura's "Algorithm AS 241", Applied Statistics 37 (1988): numerators and denominators for
# the middle, the sides and the tails, the highest power first.
_MIDDLE = (
    (
        *(2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987),
        *(13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665),
    ),
    (
        *(5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597),
        *(5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0),
    ),
)
_SIDES = (
    (
        *(0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684),
        *(3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835),
    ),
    (
        *(1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008),
        *(0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0),
    ),
)
_TAILS = (
    (
        *(2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124),
        *(0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103),
    ),
    (
        *(2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133),
        *(0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0),
    ),
)


def ndtri(p: Tensor) -> Tensor:
    """The inverse of `ndtr`, by the algorithm AS 241."""
    q = p - 0.5
    middle = q * _ratio(0.180625 - ag.square(ag.minimum(ag.maximum(q, -0.425), 0.425)), *_MIDDLE)
    r = ag.sqrt(-ag.log(ag.minimum(p, 1.0 - p)))
    side = ag.where(r > 5.0, _ratio(r - 5.0, *_TAILS), _ratio(ag.minimum(r, 5.0) - 1.6, *_SIDES))
    side = chosen(ag.equal(r, math.inf), math.inf, side)
    outer = ag.where(q > 0.0, side, -side)
    return ag.where(ag.square(q) > 0.425**2, outer, middle)


def _ratio(r: Tensor, over: tuple[float, ...], under: tuple[float, ...]) -> Tensor:
    top, bottom = ag.ones_like(r) * over[0], ag.ones_like(r) * under[0]
    for a, b in zip(over[1:], under[1:], strict=True):
        top, bottom = top * r + a, bottom * r + b
    return top / bottom
