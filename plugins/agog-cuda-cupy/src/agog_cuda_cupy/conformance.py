"""Conformance: what the kit should know of the kernels that are CuPy's: they take numbers next to zero for zero.

CuPy compiles them with ``-ftz=true``, as TensorFlow does its own. What cuBLAS and our own kernels compute keeps such
numbers, and what cuDNN does but for one gradient.
"""

from __future__ import annotations

# bfloat16 is computed in float32. "#2" is an op's second kernel, for calls that our own declines.
_OF_BOTH = (
    *("abs", "add", "add_image_patches#2", "add_n", "asin", "asinh", "atan", "atan2", "atanh", "avg_pool#2"),
    *("avg_pool_grad#2", "ceil", "convolution#2", "convolution_bias", "convolution_bias_grad"),
    *("convolution_filter_grad#2", "convolution_input_grad#2", "cross", "ctc_greedy_decoder", "cumsum", "digamma"),
    *("div_no_nan", "div_no_nan#2", "dropout#2", "dropout_grad#2", "einsum", "elu_grad", "elu_grad#2", "erf"),
    *("expm1", "floor", "floordiv", "floormod", "gelu_grad#2", "gru#2", "leaky_relu#2", "leaky_relu_grad#2"),
    *("lgamma", "linear_recurrence", "log", "log1p", "log_softmax_grad", "log_softmax_grad#2", "lstm#2", "matmul"),
    *("matmul_bias#2", "matmul_bias_grad", "max_pool#2", "max_pool_grad#2", "max_pool_grad_grad#2"),
    *("max_pool_with_argmax#2", "maximum", "minimum", "multiply", "negative", "neighbor_sum", "overlap_and_add"),
    *("pow", "realdiv", "reciprocal", "reduce_max#2", "reduce_mean_grad", "reduce_min#2", "reduce_sum#2", "relu"),
    *("relu6#2", "relu6_grad", "relu6_grad#2", "relu_grad", "relu_grad#2", "rsqrt#2", "selu#2", "selu_grad"),
    *("selu_grad#2", "setdiff1d", "sign", "sin", "sinh", "softmax_cross_entropy", "softmax_cross_entropy#2"),
    *("softmax_cross_entropy_grad", "softmax_cross_entropy_grad#2", "softmax_grad", "softmax_grad#2", "softsign#2"),
    *("sparse_softmax_cross_entropy_grad#2", "sqrt", "standardize#2", "standardize_affine_grad#2"),
    *("standardize_grad#2", "subtract", "sum_to#2", "tan", "tanh", "tanh_grad", "tanh_grad#2", "top_k#2"),
    *("truncatemod", "unique_with_counts"),
)
_OF_FLOAT32 = (
    *(
        "bessel_i1e",
        "ctc_loss_grad#2",
        "dot_product_attention_grad#2",
        "gelu#2",
        "matrix_exponential",
        "reduce_mean#2",
        "sigmoid_grad",
    ),
    *("sigmoid_grad#2", "standardize_affine#2", "swish#2"),
)
_WHY = "CuPy compiles its kernels with -ftz=true, which takes float32 numbers below 2**-126 for zero"
EXPECTED_FAILURES = {
    f"{op}/{dtype}/denormals": _WHY
    for dtype, ops in {"float32": (*_OF_BOTH, *_OF_FLOAT32), "bfloat16": _OF_BOTH}.items()
    for op in ops
} | {"convolution_input_grad#3/bfloat16/denormals": "cuDNN takes bfloat16 numbers below 2**-126 for zero there"}
"""Why each test fails that does."""
