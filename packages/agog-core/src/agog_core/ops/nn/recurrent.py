"""Recurrent ops: their shared activation functions, shape rules and derivatives of gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import identity, zeros
from agog_core.ops.math import clip_by_value, multiply, sigmoid, tanh, where
from agog_core.ops.nn.activations import relu
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

Activation = Callable[[Tensor], Tensor]


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Three straight lines in place of the logistic function: ``0.2 * x + 0.5``, but at least 0 and at most 1.

    >>> print(hard_sigmoid([-9.0, 0.0, 1.0]))
    tf.Tensor([0.  0.5 0.7], shape=(3,), dtype=float32)
    """
    return clip_by_value(multiply(x, 0.2) + 0.5, 0.0, 1.0)


ACTIVATIONS: Mapping[str, Activation] = {
    "hard_sigmoid": hard_sigmoid,
    "linear": identity,
    "relu": relu,
    "sigmoid": sigmoid,
    "tanh": tanh,
}
"""The activation functions that fused recurrent kernels know, by name."""


def check_activation(op: str, name: str) -> str:
    """The name of an activation function, after a check that it is known."""
    if name not in ACTIVATIONS:
        raise ValueError(f"{op}: an activation must be one of {', '.join(ACTIVATIONS)}; got {name!r}.")
    return name


def mask_tensor(mask: TensorLike | None) -> Tensor:
    """The mask, booleans of shape (time, batch), as kernels take it: one without elements stands for None.

    >>> mask_tensor(None).shape
    TensorShape([0, 0])
    """
    return zeros((0, 0), "bool") if mask is None else convert_to_tensor(mask)


def check_shapes(
    op: str, gates: int, x: Shape, recurrent_kernel: Shape, given: Mapping[str, Shape], mask: Shape, biases: int = 1
) -> None:
    """Raise when shapes do not fit together; kernels are ``gates`` times ``units`` wide, and ``given`` names the shapes
    of the kernel, the bias and the states.
    """
    if len(x) != 3:
        raise InvalidArgumentError(f"{op}: x must be of shape (time, batch, features); got {x}.")
    if len(recurrent_kernel) != 2 or recurrent_kernel[1] != gates * recurrent_kernel[0]:
        raise InvalidArgumentError(
            f"{op}: recurrent_kernel must be of shape (units, {gates} * units); got {recurrent_kernel}."
        )
    units, width = recurrent_kernel
    expected = {"kernel": (x[2], width), "bias": (width,) if biases == 1 else (biases, width)}
    named = {**given, "mask": mask} if mask != (0, 0) else given
    for name, shape in named.items():
        wanted = x[:2] if name == "mask" else expected.get(name, (x[1], units))
        if shape != wanted:
            raise InvalidArgumentError(
                f"{op}: with x of shape {x} and recurrent_kernel of shape {recurrent_kernel}, {name} must be of shape "
                f"{wanted}; got {shape}."
            )


def held(mask: Tensor, time: int, state: Tensor, before: Tensor) -> Tensor:
    """The new state where a mask of shape (time, batch) is True at a time or has no elements, the earlier state
    elsewhere.
    """
    if not all(mask._shape):
        return state
    return where(mask[time], state, before)


def differentiate_again(
    weights: Mapping[str, Tensor | None],
    needed: Sequence[str],
    gradients: Mapping[str, Tensor],
    sources: Mapping[str, Tensor],
    recur: Callable[..., Sequence[Tensor]],
) -> tuple[Any, ...]:
    """The vjp of a fused gradient, with respect to ``gradients`` and then ``sources``, None for what is not needed. The
    recurrence is composed of ops by ``recur``, from the sources to its outputs, and differentiated twice; ``weights``
    are the gradients of the gradients of some sources, None for zeros.
    """
    from agog_core.gradients.tape import GradientTape  # here, because tapes need ops

    # One tensor may be several of them, and each has a gradient of its own.
    gradients, sources = ({name: identity(x) for name, x in given.items()} for given in (gradients, sources))
    weights = {name: weight for name, weight in weights.items() if weight is not None}
    asked = {name: x for name, x in {**gradients, **sources}.items() if name in needed}
    with GradientTape(watch_accessed_variables=False) as outer:
        outer.watch(asked)
        with GradientTape(watch_accessed_variables=False) as inner:
            weighted = [sources[name] for name in weights]
            inner.watch(weighted)
            outputs = list(recur(*sources.values()))
        first = inner.gradient(outputs, weighted, list(gradients.values()), unconnected_gradients="zero")
    found = outer.gradient(first, asked, list(weights.values()), unconnected_gradients="zero")
    return tuple([found.get(name) for name in (*gradients, *sources)])


def in_order(found: Sequence[Tensor], names: Sequence[str], order: Sequence[str]) -> tuple[Tensor | None, ...]:
    """Tensors of some names in the order of all names, with None for the others."""
    known = dict(zip(names, found, strict=True))
    return tuple([known.get(name) for name in order])


def check_sources(op: str, sources: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The names of the inputs whose gradients a fused gradient computes, in their order; all for None."""
    given = known if sources is None else (sources,) if isinstance(sources, str) else sources
    if not given or not set(given) <= set(known):
        raise ValueError(f"{op}: sources must name some of {', '.join(known)}; got {sources!r}.")
    return tuple([name for name in known if name in given])
