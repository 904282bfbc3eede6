"""Complex: facts about the ops of agog_core.ops.array.complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo
from agog_testing.opinfo.values import binary_samples, binary_sized, pair_errors, unary_samples, unary_sized, uniform


def _part(name: str, reference: Callable[[Array], Any]) -> OpInfo:
    text = f"{name}: Expected numeric tensor, got dtype bool and shape (1,)."
    error = ErrorSample((np.array([True]),), {}, TypeError, text, "complex64")
    return OpInfo(
        name=name,
        samples=unary_samples(uniform, ()),
        sized=unary_sized(uniform),
        elementwise=True,
        reference=reference,
        errors=(error,),
    )


def _complex(real: Array, imag: Array) -> Array:
    numbers = np.zeros(np.broadcast_shapes(real.shape, imag.shape), np.complex128)
    numbers.real, numbers.imag = real, imag
    return numbers


_HALF = np.ones(2, np.float16)

INFOS = (
    OpInfo(
        name="complex",
        samples=binary_samples(uniform, uniform, (np.nan, np.inf, -np.inf, 0.0, 1.0)),
        sized=binary_sized(uniform, uniform),
        elementwise=True,
        reference=_complex,
        errors=(
            *pair_errors("complex", names=("real", "imag")),
            ErrorSample(
                (_HALF, _HALF),
                {},
                TypeError,
                "complex: real and imag must be float32 or float64; got dtype float16. Cast with tf.cast.",
            ),
        ),
    ),
    _part("real", lambda x: x.real),
    _part("imag", lambda x: x.imag),
    _part("conj", lambda x: x.real - 1j * x.imag),
)
