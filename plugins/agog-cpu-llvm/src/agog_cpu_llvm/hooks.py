"""Hooks: the plugin brings a compiler for parts of traced functions on the device "cpu", and for large eager calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agog_core.compiler import Compiler
from agog_core.plugin import Conformance, Kernel, hookimpl, requires


def unavailable() -> str | None:
    """Why nothing can be compiled, a sentence; what it looks at is imported when somebody asks."""
    from agog_cpu_llvm import presence

    return presence.unavailable()


def fusion_unavailable() -> str | None:
    """The same of what is fused of NumPy's functions."""
    from agog_cpu_llvm import presence

    return presence.fusion_unavailable()


requires(3)

# Ops whose kernels go through memory several times. On small inputs each pays for a look at their sizes, so those of
# two or three steps that small models are made of are left out.
_ELEMENTWISE = (
    *("apply_adadelta", "apply_adagrad", "apply_adamax", "apply_amsgrad", "apply_centered_rmsprop"),
    *("apply_ftrl", "apply_keras_momentum", "apply_lion", "apply_rmsprop"),
    *("elu", "elu_grad", "leaky_relu", "leaky_relu_grad", "relu6", "relu6_grad", "relu_grad", "selu", "selu_grad"),
    *("sigmoid_cross_entropy", "softplus", "softsign", "swish"),
)
_OVER_ROWS = ("standardize", "standardize_grad")  # along axes between others; `normalization` has the rest

_HALF_OR_MORE = ("bfloat16", "float16", "float32", "float64")


class Family(NamedTuple):
    """A file of `kernels`: its ops, their dtypes, and the calls that they take."""

    name: str
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    when: str = ""
    is_lowered: bool = (
        False  # traced functions take its small calls apart, since they fuse with what stands beside them
    )
    fills: bool = True  # else it takes memory itself: to ask how large a small result is takes too long


_FAMILIES = (
    Family(
        "attention",
        ("dot_product_attention", "dot_product_attention_grad"),
        _HALF_OR_MORE,
        "it has 8192 scores or more, in four axes or fewer",
        fills=False,
    ),
    Family(
        "convolution",
        ("convolution", "convolution_bias"),
        _HALF_OR_MORE,
        "one to three axes, and it is large enough",
    ),
    Family(
        "cross_entropy",
        (
            *("softmax_cross_entropy", "softmax_cross_entropy_grad"),
            *("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"),
        ),
        ("float32", "float64"),
        is_lowered=True,
        fills=False,
    ),
    Family(
        "filter_gradient",
        ("convolution_filter_grad",),
        _HALF_OR_MORE,
        "one to three axes, and nothing is empty",
    ),
    Family(
        "gelu",
        ("gelu", "gelu_grad"),
        ("bfloat16", "float16", "float32"),
        "its inputs are C-contiguous and have 4096 elements or more",
    ),
    Family(
        "input_gradient",
        ("convolution_input_grad",),
        _HALF_OR_MORE,
        "one to three axes, nothing is empty, and each phase of the strides is a convolution that is taken",
    ),
    Family(
        "normalization",
        ("standardize_affine", "standardize_affine_grad"),
        ("float32", "float64"),
        "its inputs are C-contiguous and have 8192 elements or more, its axes are the first or the last ones, and its "
        "weights have the shape of the others or of them",
        fills=False,
    ),
    Family(
        "normalization",
        ("standardize", "standardize_grad"),
        ("float32", "float64"),
        "its inputs have 8192 elements or more, and its axes are the first or the last ones",
        is_lowered=True,
        fills=False,
    ),
    Family(
        "pooling",
        ("avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad"),
        _HALF_OR_MORE,
        "its inputs are C-contiguous, the one of 2048 elements or more in 3 channels or more; for gradients of half "
        "precision, its windows are apart",
    ),
    Family(
        "pooling",
        ("max_pool_with_argmax",),
        _HALF_OR_MORE,
        "its input is C-contiguous, with 2048 elements or more in 3 channels or more, and images have less than "
        "2 ** 24 pixels",
        fills=False,
    ),
    Family(
        "segments",
        ("unsorted_segment_sum",),
        ("float32", "float64"),
        "its data are C-contiguous, of 8192 elements or more in rows of 8 or more, and no number is negative",
    ),
    Family(
        "softmax",
        ("log_softmax", "log_softmax_grad", "softmax", "softmax_grad"),
        _HALF_OR_MORE,
        "its inputs are C-contiguous and have 8192 elements or more, and the axis is the last one",
        is_lowered=True,
        fills=False,
    ),
)


@hookimpl
def agog_compilers() -> Iterator[Compiler]:
    """The compiler."""
    yield Compiler(
        name="llvm",
        device="cpu",
        compile="agog_cpu_llvm.fusion.compiler:compile",
        takes="agog_cpu_llvm.fusion.compiler:takes",
        priority=10,  # who brings another compiler wants that one
        tolerances={"float32": (1e-5, 1e-5), "float64": (1e-13, 1e-13)},
        unavailable=fusion_unavailable,
    )


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """For large inputs, kernels that are compiled of what the reference kernels do; and families of their own."""
    for ops, make, least in ((_ELEMENTWISE, "make", 16384), (_OVER_ROWS, "make_over_rows", 65536)):
        for op in ops:
            yield Kernel(
                op=op,
                device="cpu",
                make=f"agog_cpu_llvm.fusion.eager:{make}",
                lower="next",
                dtypes=("float32", "float64"),
                priority=150,
                when=f"its first or last input has {least} elements or more, and a call like it came before",
                unavailable=fusion_unavailable,
            )
    for family in _FAMILIES:
        module = f"agog_cpu_llvm.kernels.{family.name}"
        for op in family.ops:
            yield Kernel(
                op=op,
                device="cpu",
                make=f"{module}:make",
                lower=f"{module}:lower_{op}" if family.is_lowered else None,
                out=f"{module}:make" if family.fills else None,
                dtypes=family.dtypes,
                priority=160,
                when=family.when,
                pool=True,
                unavailable=unavailable,
            )
    for op in ("matmul", "matmul_bias"):
        yield Kernel(
            op=op,
            device="cpu",
            make="agog_cpu_llvm.kernels.products:make",
            lower=f"agog_cpu_llvm.kernels.products:lower_{op}",
            dtypes=("bfloat16", "float16", "float32", "float64"),
            priority=160,
            pool=True,
            unavailable=unavailable,
        )
    yield Kernel(
        op="matmul_bias_grad",
        device="cpu",
        make="agog_cpu_llvm.kernels.product_gradients:make",
        lower="agog_cpu_llvm.kernels.product_gradients:lower_matmul_bias_grad",
        dtypes=("float32", "float64"),
        priority=170,  # before its parts
        pool=True,
        unavailable=unavailable,
    )
    for op in ("apply_adam", "apply_momentum"):
        yield Kernel(
            op=op,
            device="cpu",
            make="agog_cpu_llvm.kernels.optimizer_steps:make",
            several="agog_cpu_llvm.kernels.optimizer_steps:make_several",
            lower="next",
            dtypes=("float32", "float64"),
            priority=160,
            pool=True,
            unavailable=unavailable,
        )
    for op in ("gru", "gru_grad", "lstm", "lstm_grad"):
        yield Kernel(
            op=op,
            device="cpu",
            make="agog_cpu_llvm.kernels.recurrent:make",
            dtypes=("bfloat16", "float16", "float32", "float64"),
            priority=90,  # who brings another pair wants that one
            when="" if op.endswith("_grad") else "it has 5 times or more, or 4096 products or more",
            pool=True,
            unavailable=unavailable,
        )


@hookimpl
def agog_conformance() -> Conformance:
    """Calls that are large enough for the kernels."""
    flushed = "compiled code takes denormal numbers for zeros, which are a hundred times slower"
    return Conformance(
        samples="agog_cpu_llvm.samples:SAMPLES",
        expected_failures={
            f"{op}/{dtype}/denormals": flushed
            for op in ("convolution_filter_grad", "convolution_input_grad", "gru", "lstm")
            for dtype in ("bfloat16", "float32", "float64")
        },
    )
