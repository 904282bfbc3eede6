"""Math: counterparts of the elementwise ops."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as nn
from counterparts.counterpart import Counterpart


def div_no_nan(x: Any, y: Any) -> Any:
    return torch.where(y == 0, 0, x / torch.where(y == 0, 1, y))


def polygamma(a: Any, x: Any) -> Any:
    orders, points = torch.broadcast_tensors(a, x)
    each = [torch.polygamma(int(n), p) for n, p in zip(orders.flatten(), points.flatten(), strict=True)]
    return torch.stack(each).reshape(points.shape) if each else points * 1


def select(condition: Any, x: Any, y: Any) -> Any:
    vector = condition.ndim == 1 and x.ndim > 1
    return torch.where(condition.reshape(-1, *[1] * (x.ndim - 1)) if vector else condition, x, y)


# PyTorch's second derivative of lgamma, and those that follow, are right to 9 digits.
POLYGAMMA = 1e-7

SAME_NAME = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_or bitwise_xor ceil cos cosh erf erfc exp
expm1 floor greater greater_equal less less_equal log log1p logical_and logical_not logical_or logical_xor
maximum minimum multiply negative not_equal reciprocal rsqrt sigmoid sin sinh sqrt square subtract tan tanh
"""

COUNTERPARTS = {
    **{name: getattr(torch, name) for name in SAME_NAME.split()},
    "add_n": lambda inputs: torch.stack(list(inputs)).sum(0),
    "argwhere": torch.nonzero,
    "bessel_i0e": torch.special.i0e,
    "bessel_i1e": torch.special.i1e,
    "cross": lambda a, b: torch.linalg.cross(a, b, dim=-1),
    "digamma": Counterpart(torch.digamma, rtol=POLYGAMMA),
    "div_no_nan": div_no_nan,
    "equal": torch.eq,
    "floordiv": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "floormod": torch.remainder,
    "igamma": Counterpart(torch.special.gammainc, without=("a",)),
    "igammac": Counterpart(torch.special.gammaincc, without=("a",)),
    "invert": torch.bitwise_not,
    "is_finite": torch.isfinite,
    "is_inf": torch.isinf,
    "is_nan": torch.isnan,
    "left_shift": torch.bitwise_left_shift,
    "lgamma": Counterpart(torch.lgamma, rtol=POLYGAMMA),
    "polygamma": Counterpart(polygamma, rtol=POLYGAMMA),
    "masked": lambda x, mask: torch.where(mask, x, torch.zeros((), dtype=x.dtype)),
    # Where the exponent is 0, PyTorch's gradient for the base does not depend on the exponent.
    "pow": Counterpart(torch.pow, covers=lambda sample: sample.name != "powers of 0"),
    "realdiv": torch.div,
    "right_shift": torch.bitwise_right_shift,
    "rint": torch.round,
    "sigmoid_grad": lambda gradients, outputs: gradients * outputs * (1 - outputs),
    "sign": torch.sgn,
    "softplus": lambda features: nn.softplus(features, threshold=1000),
    "squared_difference": lambda x, y: (x - y) ** 2,
    "tanh_grad": lambda gradients, outputs: gradients * (1 - outputs * outputs),
    "truncatediv": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "truncatemod": torch.fmod,
    "where": select,
    "zeta": torch.special.zeta,
}

NO_COUNTERPART = {"betainc": "PyTorch has no incomplete beta function"}
