"""Fused: products of matrices with a bias and an activation, as one op with one gradient.

A library computes all three in one pass. Where its plugin brings the product alone, or a traced function takes kernels
apart, the op is what it is composed of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call, call_several
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.parts import is_whole
from agog_core.dispatch.kernels.resolution import run_next
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import identity
from agog_core.ops.linalg.matmul import _matmul_shape as matmul_shape
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math.elementary import sigmoid_grad, tanh_grad
from agog_core.ops.nn.activations import relu6_grad, relu_grad
from agog_core.ops.nn.recurrent import check_sources, in_order
from agog_core.recording import active, record
from agog_core.shapes import Shape, intern_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tensors.tensor import wrap

# The gradients of the activations that have a name here, by their outputs.
GRADIENTS: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "linear": lambda g, out: g,
    "relu": relu_grad,
    "relu6": relu6_grad,
    "sigmoid": sigmoid_grad,
    "tanh": tanh_grad,
}


def matmul_bias(a: TensorLike, b: TensorLike, bias: TensorLike, activation: str = "linear") -> Tensor:
    """A layer's ``activation(a @ b + bias)`` for matrices: a product, a number added to each column, and an activation.

    The activation is ``"linear"``, ``"relu"``, ``"relu6"``, ``"sigmoid"`` or ``"tanh"``.

    >>> print(matmul_bias([[1.0, 2.0]], [[3.0, -3.0], [4.0, 0.0]], [5.0, 1.0], "relu"))
    tf.Tensor([[16.  0.]], shape=(1, 2), dtype=float32)
    """
    if type(a) is not Tensor or type(b) is not Tensor or type(bias) is not Tensor:
        a, b, bias = convert_to_tensor(a), convert_to_tensor(b), convert_to_tensor(bias)
    table = a._table
    kernel = table.kernels.get("matmul_bias")
    if kernel is None or b._table is not table or bias._table is not table or scopes:
        return call(_matmul_bias, a, b, bias, activation=activation)
    shape = _matmul_bias_shape(a._shape, b._shape, bias._shape, activation)
    try:
        array = kernel(a._array, b._array, bias._array, activation=activation)
    except Exception as error:
        note_failure(error, _matmul_bias, table, (a._array, b._array, bias._array))
        raise
    if type(array) is not table.array_type:
        if array is NotImplemented:
            array = run_next(_matmul_bias, table, (a._array, b._array, bias._array), {"activation": activation})
        else:
            array = table.adopt("matmul_bias", array)
    out = wrap(array, table, shape)
    if active and (a._watch is not None or b._watch is not None or bias._watch is not None):
        record(_matmul_bias, out, (a, b, bias), {"activation": activation})
    return out


def check(op: str, shape: Shape, bias: Shape, activation: str) -> Shape:
    if bias != shape[-1:]:
        raise InvalidArgumentError(f"{op}: bias has a number for each of the {shape[-1]} outputs; got shape {bias}.")
    if activation not in GRADIENTS:
        raise InvalidArgumentError(f"{op}: activation must be one of {', '.join(GRADIENTS)}; got {activation!r}.")
    return shape


@lru_cache(maxsize=4096)
def _matmul_bias_shape(a: Shape, b: Shape, bias: Shape, activation: str) -> Shape:
    if len(a) != 2 or len(b) != 2:
        raise InvalidArgumentError(f"matmul_bias: a and b must be matrices; got shapes {a} and {b}.")
    return check("matmul_bias", matmul_shape(a, b, False, False), bias, activation)


def _matmul_bias_vjp(
    g: Tensor, a: Tensor, b: Tensor, out: Tensor | None, activation: str, needed: tuple[str, ...]
) -> tuple[Tensor | None, ...]:
    table = g._table
    if not is_whole(_matmul_bias_grad, table):
        return _product_gradients(g, a, b, out, activation, needed)
    given = g, a, b, g if out is None else out
    attributes = {"activation": activation, "sources": needed}
    if not (active or scopes or table.traces) and a._table is table and b._table is table:
        arrays = tuple([x._array for x in given])  # as `call`, in half the time
        try:
            found = table.kernels["matmul_bias_grad"](*arrays, **attributes)
        except Exception as error:
            note_failure(error, _matmul_bias_grad, table, arrays)
            raise
        if type(found) is tuple and len(found) == len(needed):  # else `call` knows what to do
            shapes = {"a": a._shape, "b": b._shape, "bias": intern_shape(b._shape[1:])}
            made = {}
            for name, array in zip(needed, found, strict=True):
                made[name] = wrap(table.adopt("matmul_bias_grad", array), table, shapes[name])
            return made.get("a"), made.get("b"), made.get("bias")
    return in_order(call_several(_matmul_bias_grad, *given, **attributes), needed, _OF_PRODUCT)


def _product_gradients(
    g: Tensor, a: Tensor, b: Tensor, out: Tensor | None, activation: str, needed: tuple[str, ...]
) -> tuple[Tensor | None, ...]:
    g = GRADIENTS[activation](g, out)
    return (
        matmul(g, b, transpose_b=True) if "a" in needed else None,
        matmul(a, g, transpose_a=True) if "b" in needed else None,
        sum_to(g, g._shape[-1:]) if "bias" in needed else None,
    )


def _matmul_bias_parts(run: Callable[..., Any], a: Any, b: Any, bias: Any, *, activation: str) -> Any:
    return finished(run, run("matmul", a, b, transpose_a=False, transpose_b=False), bias, activation)


ACTIVATIONS = tuple(name for name in GRADIENTS if name != "linear")


def is_linear(attributes: Mapping[str, Any]) -> bool:
    return bool(attributes["activation"] == "linear")


def finished(run: Callable[..., Any], product: Any, bias: Any, activation: str) -> Any:
    out = run("add", product, bias)
    return out if activation == "linear" else run(activation, out)


_matmul_bias = Op(
    "matmul_bias",
    matmul_bias,
    inputs=["a", "b", "bias"],
    shape=_matmul_bias_shape,
    dtypes=FLOATING,
    vjp={("a", "b", "bias"): _matmul_bias_vjp},
    parts=("matmul", _matmul_bias_parts, ACTIVATIONS),
    unneeded={"out": is_linear},
)


def matmul_bias_grad(
    gradients: TensorLike,
    a: TensorLike,
    b: TensorLike,
    outputs: TensorLike,
    activation: str = "linear",
    sources: Sequence[str] | None = None,
) -> tuple[Tensor, ...]:
    """The gradients of `matmul_bias` with respect to ``a``, ``b`` and ``bias``, or only to those in ``sources``.
    ``outputs`` is its result; with activation ``"linear"`` any tensor of that shape will do.

    >>> print(matmul_bias_grad([[1.0, 1.0]], [[2.0]], [[3.0, 4.0]], [[7.0, 0.0]], "relu", ["a", "bias"])[1])
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    tensors = map(convert_to_tensor, (gradients, a, b, outputs))
    of = check_sources("matmul_bias_grad", sources, _OF_PRODUCT)
    return call_several(_matmul_bias_grad, *tensors, activation=activation, sources=of)


_OF_PRODUCT = ("a", "b", "bias")
SLOPES = tuple(f"{name}_grad" for name in ACTIVATIONS)


def _matmul_bias_grad_shape(
    gradients: Shape, a: Shape, b: Shape, outputs: Shape, activation: str, sources: tuple[str, ...]
) -> list[Shape]:
    expected = _matmul_bias_shape(a, b, b[-1:], activation)
    return grad_shapes("matmul_bias_grad", gradients, outputs, expected, {"a": a, "b": b}, sources)


def grad_shapes(
    op: str, gradients: Shape, outputs: Shape, expected: Shape, known: dict[str, Shape], sources: tuple[str, ...]
) -> list[Shape]:
    if not gradients == outputs == expected:
        raise InvalidArgumentError(
            f"{op}: gradients and outputs must be of shape {expected}; got gradients {gradients} and outputs {outputs}."
        )
    return [known.get(source, expected[-1:]) for source in sources]


def _matmul_bias_grad_parts(
    run: Callable[..., Any], gradients: Any, a: Any, b: Any, outputs: Any, *, activation: str, sources: tuple[str, ...]
) -> tuple[Any, ...]:
    g = gradients if activation == "linear" else run(f"{activation}_grad", gradients, outputs)
    makers: dict[str, Callable[[], Any]] = {
        "a": lambda: run("matmul", g, b, transpose_a=False, transpose_b=True),
        "b": lambda: run("matmul", a, g, transpose_a=True, transpose_b=False),
        "bias": lambda: run("sum_to", g, shape=tuple(g.shape[-1:])),
    }
    return tuple([makers[source]() for source in sources])


def _matmul_bias_grad_vjp(
    g: list[Tensor | None],
    gradients: Tensor,
    a: Tensor,
    b: Tensor,
    outputs: Tensor | None,
    activation: str,
    sources: tuple[str, ...],
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    inputs = {"gradients": gradients, "a": a, "b": b, "outputs": outputs}
    return differentiated(partial(_product_gradients, activation=activation, needed=sources), g, inputs, needed)


def differentiated(
    function: Callable[..., tuple[Tensor | None, ...]],
    g: list[Tensor | None],
    inputs: dict[str, Tensor | None],
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    """The gradients of a function of ops with respect to its needed inputs, one of which may be missing."""
    from agog_core.gradients.tape import GradientTape  # here, because tapes need ops

    given = {name: x if x is None else identity(x) for name, x in inputs.items()}  # one may be several of them
    asked = {name: x for name, x in given.items() if name in needed and x is not None}
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(asked)
        outs = [out for out in function(*given.values()) if out is not None]
    reached = [(out, weight) for out, weight in zip(outs, g, strict=True) if weight is not None]
    targets, weights = zip(*reached, strict=True)
    found = tape.gradient(list(targets), asked, list(weights))
    return tuple([found.get(name) for name in inputs])


_matmul_bias_grad: Op = define(
    matmul_bias_grad,
    shape=_matmul_bias_grad_shape,
    dtypes=FLOATING,
    vjp={("gradients", "a", "b", "outputs"): _matmul_bias_grad_vjp},
    parts=(("matmul", "sum_to", *SLOPES), _matmul_bias_grad_parts),
    unneeded={"outputs": is_linear},
)
