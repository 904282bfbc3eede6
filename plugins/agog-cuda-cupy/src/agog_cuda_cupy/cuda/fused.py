"""Fused: a product of matrices, whose bias and activation are one launch in its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import Modules, element

Array = Any

_ACTIVATIONS = {
    name: np.int32(number) for number, name in enumerate(("linear", "relu", "relu6", "sigmoid", "tanh"))
}  # in the order of the source


def matmul_bias(modules: Modules, a: Array, b: Array, bias: Array, *, activation: str) -> Any:
    kind, number = element(a.dtype), _ACTIVATIONS.get(activation)
    if kind is None or number is None or not bias.flags.c_contiguous:
        return NotImplemented
    product = a.dot(b)
    kernel = modules.kernel("elementwise", "add_bias", AGOG_NUMBER=kind)
    modules.launch(kernel, product.size, product, bias, product.size, bias.size, number)
    return product
