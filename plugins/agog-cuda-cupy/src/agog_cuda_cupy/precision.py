"""Precision: TF32 in cuBLAS's products of float32 matrices, if the program allows it.

cuBLAS has nothing for bfloat16 that CuPy can ask for, so that TF32, which is more precise, is what "bf16" gives too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.plugin import matmul_precision

Kernel = Callable[..., Any]

# The ops that multiply matrices for what they are; others do to sum or to solve, and need every bit.
_MULTIPLYING = frozenset(
    {
        *("convolution", "convolution_filter_grad", "convolution_input_grad", "einsum", "gru", "gru_grad"),
        *("lstm", "lstm_grad", "matmul", "matmul_bias", "dot_product_attention", "dot_product_attention_grad"),
    }
)
_TF32 = 3  # CUBLAS_TF32_TENSOR_OP_MATH


def rounding(kernel: Kernel, op: str, dtype: str) -> Kernel:
    """The kernel, which lets cuBLAS round where the program does and there is something to gain."""
    if matmul_precision() == "float32" or dtype != "float32" or op not in _MULTIPLYING:
        return kernel
    import cupy
    from cupy_backends.cuda.libs import cublas

    def run(*arrays: Any, **attributes: Any) -> Any:
        handle = cupy.cuda.get_cublas_handle()  # this thread's, of the GPU that is set
        before = cublas.getMathMode(handle)
        cublas.setMathMode(handle, _TF32)
        try:
            return kernel(*arrays, **attributes)
        finally:
            cublas.setMathMode(handle, before)

    run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
    return run
