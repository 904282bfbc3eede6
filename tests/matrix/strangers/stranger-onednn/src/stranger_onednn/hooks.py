"""Hooks: the kernels, which share one team of threads and have plans for each thread of the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agog_core.plugin import Conformance, Kernel, hookimpl, requires
from stranger_onednn.library import unavailable

requires(3)

_SIZES = "no size is 0, at most three axes"
_POOLS = f"{_SIZES}, no NaN and no -inf, paddings smaller than windows"
_PRODUCTS = "two matrices, 2**15 multiplications and more"
_FUSED = "the activation is linear or relu"


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """Kernels of float32; each file makes those of its ops."""
    convolution = "stranger_onednn.convolution:make_"
    yield _kernel("convolution", f"{convolution}convolution", _SIZES, out=f"{convolution}convolution_into")
    both = f"{_SIZES}; {_FUSED}"
    yield _kernel("convolution_bias", f"{convolution}convolution_bias", both, out=f"{convolution}convolution_bias_into")
    yield _kernel("convolution_input_grad", f"{convolution}input_gradient", _SIZES)
    yield _kernel("convolution_filter_grad", f"{convolution}filter_gradient", _SIZES)
    pooling = "stranger_onednn.pooling:make_max_pool"
    yield _kernel("max_pool", pooling, _POOLS, reserve=f"{pooling}_and_places")
    gradient = f"{pooling}_grad"
    yield _kernel("max_pool_grad", gradient, "the maxima are this plugin's", reserve=f"{gradient}_of_places")
    products = "stranger_onednn.products:make_"
    yield _kernel("matmul", f"{products}matmul", _PRODUCTS)
    yield _kernel("matmul_bias", f"{products}matmul_bias", f"{_PRODUCTS}; {_FUSED}")


def _kernel(op: str, make: str, when: str, **more: Any) -> Kernel:
    return Kernel(
        op=op,
        device="cpu",
        make=make,
        dtypes=("float32",),
        priority=200,
        when=when,
        per_thread=True,
        pool=True,
        unavailable=unavailable,
        **more,
    )


@hookimpl
def agog_conformance() -> Conformance:
    """Samples above the size from which products are taken.

    A sum of 100,003 products in float32, whose sizes add up to 25,000, is off by up to 1e-3.
    """
    return Conformance(
        tolerances={"convolution_filter_grad/float32": (1e-4, 1e-3)}, samples="stranger_onednn.samples:SAMPLES"
    )
