"""Launchers: the ops, dtypes and calls of our own kernels in CUDA C.

A launcher that declines a call leaves it to the op's kernel in `agog_cuda_cupy.kernels`. Its source is compiled when it
is first called, for each GPU, type of elements and type of positions by itself. Nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from agog_core.plugin import Kernel
from agog_cuda_cupy.presence import unavailable

if TYPE_CHECKING:
    from agog_cuda_cupy.cuda.modules import Modules


class Family(NamedTuple):
    """Ops whose launchers are in one module of `agog_cuda_cupy.cuda`, under the ops' names.

    Args:
        module: the module.
        ops: the ops.
        dtypes: the dtypes that they are served for.
        when: for which calls they are served, in words; empty for all.
        takes_several: whether they take a list, for each variable of what the op takes, and update all at once.
        pair: the name of the pair that two of them are, where the one keeps a reserve for the other.
    """

    module: str
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    when: str = ""
    takes_several: bool = False
    pair: str | None = None


FLOATS = ("float16", "bfloat16", "float32", "float64")
SUMMED = (*FLOATS, "int32", "int64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
OF_ANY_SIZE = (*FLOATS, *INTEGERS, "bool", "complex64", "complex128")

FAMILIES = (
    Family("random", ("random_uniform", "random_normal", "truncated_normal"), FLOATS),
    Family("random", ("random_integers",), INTEGERS, "low is in the range of int64"),
    Family("random", ("dropout", "dropout_grad"), FLOATS),
    Family("distributions", ("random_gamma", "random_poisson"), FLOATS),
    Family(
        "optimizers",
        (
            *("apply_add", "apply_gradient_descent", "apply_keras_momentum", "apply_momentum"),
            *("apply_adam", "apply_amsgrad", "apply_adamax", "apply_lamb", "apply_lion"),
            *("apply_adadelta", "apply_adagrad", "apply_adagrad_da", "apply_rmsprop", "apply_centered_rmsprop"),
            *("apply_proximal_gradient_descent", "apply_proximal_adagrad"),
        ),
        FLOATS,
        "all arrays are C-contiguous",
        takes_several=True,
    ),
    Family(
        "optimizers",
        ("apply_ftrl",),
        FLOATS,
        "all arrays are C-contiguous, and learning_rate_power is -0.5",
        takes_several=True,
    ),
    Family(
        "convolution",
        ("convolution", "convolution_input_grad", "convolution_filter_grad"),
        FLOATS,
        "windows slide over at most three axes, and no array is empty",
    ),
    Family("patches", ("extract_image_patches", "add_image_patches"), SUMMED, "no array is empty"),
    Family(
        "pooling",
        ("max_pool", "max_pool_with_argmax"),
        SUMMED,
        "windows slide over at most three axes, and no array is empty",
    ),
    Family(
        "pooling",
        ("max_pool_grad", "max_pool_grad_grad", "avg_pool", "avg_pool_grad"),
        FLOATS,
        "windows slide over at most three axes, and no array is empty",
    ),
    Family(
        "elementwise",
        ("relu6", "elu", "selu", "leaky_relu", "softsign", "swish", "sigmoid", "softplus", "rsqrt", "gelu"),
        FLOATS,
    ),
    Family(
        "elementwise",
        (
            *(
                "relu_grad",
                "relu6_grad",
                "elu_grad",
                "selu_grad",
                "leaky_relu_grad",
                "sigmoid_grad",
                "tanh_grad",
                "gelu_grad",
            ),
            *("squared_difference", "div_no_nan", "sigmoid_cross_entropy"),
        ),
        FLOATS,
        "the arrays have one shape",
    ),
    Family("fused", ("matmul_bias",), FLOATS, "bias is in one piece"),
    Family("ctc", ("ctc_loss", "ctc_loss_grad"), FLOATS, "labels and lengths are int32, and logits are not empty"),
    Family("sorting", ("top_k",), SUMMED, "k is from 1 to 64, and rows have from 1 to 65536 elements"),
    Family("sorting", ("searchsorted",), SUMMED, "positions are int32 or int64"),
    Family("reduction", ("reduce_mean", "reduce_logsumexp"), FLOATS, "there are axes and elements"),
    Family(
        "reduction",
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "sum_to"),
        SUMMED,
        "there are axes and elements",
    ),
    Family("reduction", ("argmax", "argmin"), SUMMED, "there are elements, and positions are int32 or int64"),
    Family(
        "softmax",
        ("softmax", "softmax_grad", "log_softmax", "log_softmax_grad"),
        FLOATS,
        "axis is the last one, and it is not empty",
    ),
    Family(
        "softmax",
        ("softmax_cross_entropy", "softmax_cross_entropy_grad"),
        FLOATS,
        "axis is the last one, and it is not empty",
    ),
    Family(
        "softmax",
        ("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"),
        FLOATS,
        "labels are signed integers, and there is a class",
    ),
    Family("attention", ("dot_product_attention", "dot_product_attention_grad"), FLOATS, "query and key have elements"),
    Family("indexing", ("gather", "gather_nd"), OF_ANY_SIZE, "indices are signed integers, at most 8 for each place"),
    Family(
        "indexing",
        ("scatter_nd", "scatter_variable", "tensor_scatter_update"),
        SUMMED,
        "indices are signed integers, at most 8 for each place",
    ),
    Family(
        "indexing",
        ("unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min"),
        SUMMED,
        "segment_ids are signed integers",
    ),
    Family(
        "normalization",
        ("standardize", "standardize_grad"),
        FLOATS,
        "axes are neighbours, there are elements, and at most 65535 groups unless the axes are the last ones",
    ),
    Family(
        "normalization",
        ("standardize_affine", "standardize_affine_grad"),
        FLOATS,
        "statistics are over the last axes, with a scale for each element there, or the first ones, with one for each"
        " of the others",
    ),
    Family(
        "lstm", ("lstm", "lstm_grad"), FLOATS, "activations are linear, relu or of the logistic family", pair="CUDA C"
    ),
    Family("gru", ("gru", "gru_grad"), FLOATS, "activations are linear, relu or of the logistic family", pair="CUDA C"),
)
"""All that our own kernels compute."""

_FAMILY_OF = {op: family for family in FAMILIES for op in family.ops}


def kernels() -> Iterator[Kernel]:
    """A specialised kernel for each op that has a launcher."""
    for family in FAMILIES:
        for op in family.ops:
            yield Kernel(
                op=op,
                device="gpu",
                make="agog_cuda_cupy.launchers:make",
                dtypes=family.dtypes,
                priority=200,
                when=family.when,
                several="agog_cuda_cupy.launchers:make_several" if family.takes_several else None,
                pair=family.pair,
                unavailable=unavailable,
            )


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The launcher of an op, with the compiled sources of a device; see `agog_core.plugin.Kernel`."""
    launch = make_several(op, dtype, device)
    if not _FAMILY_OF[op].takes_several:
        return launch

    def run(*arrays: Any, **attributes: Any) -> Any:
        return launch([arrays], **attributes)

    run.__wrapped__ = launch  # type: ignore[attr-defined]  # whose name errors give
    return run


def make_several(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The launcher as it stands, which for `Family.takes_several` takes a list."""
    launcher: Callable[..., Any] = getattr(import_module(f"agog_cuda_cupy.cuda.{_FAMILY_OF[op].module}"), op)
    return partial(launcher, modules(device))


@cache
def modules(device: str) -> Modules:
    """What compiles and launches on a device; CUDA loads a module for one GPU."""
    import cupy

    from agog_cuda_cupy.compiling import compile
    from agog_cuda_cupy.cuda.modules import Modules
    from agog_cuda_cupy.value_checks import error_words

    return Modules(cupy, compile, lambda array: array.data.ptr, error_words(int(device.rpartition(":")[2])))
