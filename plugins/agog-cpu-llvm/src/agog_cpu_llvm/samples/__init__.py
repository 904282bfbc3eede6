"""Samples: calls for the conformance kit that are as large as compiled kernels want them, a file for each family."""

from __future__ import annotations

from agog_cpu_llvm.samples import (
    attention,
    convolution,
    cross_entropy,
    gelu,
    normalization,
    pooling,
    products,
    recurrent,
    segments,
    softmax,
)

SAMPLES = {
    **attention.SAMPLES,
    **convolution.SAMPLES,
    **cross_entropy.SAMPLES,
    **gelu.SAMPLES,
    **normalization.SAMPLES,
    **pooling.SAMPLES,
    **products.SAMPLES,
    **recurrent.SAMPLES,
    **segments.SAMPLES,
    **softmax.SAMPLES,
}
