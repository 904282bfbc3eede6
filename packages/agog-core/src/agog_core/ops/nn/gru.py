"""GRU: gated recurrent units over a whole sequence, as one op with one gradient."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agog_core.calls.call import call_several
from agog_core.dispatch.op import Op
from agog_core.dtypes import FLOATING, variant
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import split, stack, zeros, zeros_like
from agog_core.ops.nn.recurrent import (
    ACTIVATIONS,
    Activation,
    check_activation,
    check_shapes,
    check_sources,
    differentiate_again,
    held,
    in_order,
    mask_tensor,
)
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden")


def gru(
    x: TensorLike,
    kernel: TensorLike,
    recurrent_kernel: TensorLike,
    bias: TensorLike,
    initial_hidden: TensorLike,
    mask: TensorLike | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
    reset_after: bool = False,
) -> tuple[Tensor, Tensor]:
    """Run gated recurrent units over sequences.

    The results are the hidden states of all times, of shape (time, batch, units), and the last one.

    K. Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014, version 1 of arXiv:1406.1078
    where the reset gate comes after the product. The gates lie in the order update, reset, candidate::

        z = recurrent_activation(x[t] @ kernel_z + hidden @ recurrent_kernel_z + bias_z), and so is r
        c = activation(x[t] @ kernel_c + (r * hidden) @ recurrent_kernel_c + bias_c)
        hidden = z * hidden + (1 - z) * c

    Args:
        x: floats of shape (time, batch, features).
        kernel: of shape (features, 3 * units); ``recurrent_kernel``: of shape (units, 3 * units).
        bias: of shape (3 * units,); for ``reset_after`` of shape (2, 3 * units), for the inputs and for the state.
        initial_hidden: the first hidden state, of shape (batch, units).
        mask: booleans of shape (time, batch); where False, the state stays what it is. None for True.
        activation, recurrent_activation: names in `ACTIVATIONS`.
        reset_after: whether the candidate is made of ``r * (hidden @ recurrent_kernel_c + bias_c)``, as cuDNN does.

    >>> hidden, last = gru([[[1.0]]], [[0.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]], [0.0, 0.0, 0.0], [[0.0]])
    >>> print(last)
    tf.Tensor([[0.3807971]], shape=(1, 1), dtype=float32)
    """
    given = x, kernel, recurrent_kernel, bias, initial_hidden
    inputs = [convert_to_tensor(value) for value in given]
    hidden, _ = _forward(inputs, mask_tensor(mask), activation, recurrent_activation, reset_after)
    return hidden, hidden[-1] if inputs[0]._shape[0] else inputs[4]


def _forward(
    inputs: Sequence[Tensor], mask: Tensor, activation: str, recurrent_activation: str, reset_after: bool
) -> tuple[Tensor, ...]:
    names = {
        "activation": check_activation("gru", activation),
        "recurrent_activation": check_activation("gru", recurrent_activation),
    }
    return call_several(_gru, *inputs, mask, **names, reset_after=bool(reset_after))


@lru_cache(maxsize=1024)
def _shape(
    x: Shape,
    kernel: Shape,
    recurrent_kernel: Shape,
    bias: Shape,
    initial_hidden: Shape,
    mask: Shape,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
) -> list[Shape | TensorShape]:
    given = {"kernel": kernel, "bias": bias, "initial_hidden": initial_hidden}
    check_shapes("gru", 3, x, recurrent_kernel, given, mask, biases=2 if reset_after else 1)
    return [(*x[:2], recurrent_kernel[0]), TensorShape(None)]


def _vjp(
    g: list[Tensor],
    x: Tensor,
    kernel: Tensor,
    recurrent_kernel: Tensor,
    bias: Tensor,
    initial_hidden: Tensor,
    mask: Tensor,
    out: tuple[Tensor, ...],
    reserve: Tensor,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    gradients, hidden = g[0], out[0]
    found = call_several(
        _gru_grad,
        *(gradients, x, kernel, recurrent_kernel, bias, initial_hidden, mask, hidden, reserve),
        activation=activation,
        recurrent_activation=recurrent_activation,
        reset_after=reset_after,
        sources=needed,
    )
    return in_order(found, needed, _SOURCES)


_gru = Op(
    "gru",
    gru,
    inputs=[*_SOURCES, "mask"],
    shape=_shape,
    dtype=lambda dtype, **names: [dtype, variant],
    alike=_SOURCES,
    dtypes=FLOATING,
    vjp={_SOURCES: _vjp},
    reserve="gru_grad",
)


def gru_grad(
    gradients: TensorLike,
    x: TensorLike,
    kernel: TensorLike,
    recurrent_kernel: TensorLike,
    bias: TensorLike,
    initial_hidden: TensorLike,
    mask: TensorLike | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
    reset_after: bool = False,
    sources: Sequence[str] | None = None,
) -> tuple[Tensor, ...]:
    """The gradients of `gru`, which it runs first. They are those with respect to its tensors, the mask excepted, or
    only to those that ``sources`` names; ``gradients`` are those of the hidden states of all times.

    >>> print(gru_grad([[[1.0]]], [[[1.0]]], [[0.0] * 3], [[0.0] * 3], [0.0] * 3, [[2.0]])[-1])
    tf.Tensor([[0.5]], shape=(1, 1), dtype=float32)
    """
    given = gradients, x, kernel, recurrent_kernel, bias, initial_hidden
    inputs = [convert_to_tensor(value) for value in given]
    masks, of = mask_tensor(mask), check_sources("gru_grad", sources, _SOURCES)
    hidden, reserve = _forward(inputs[1:], masks, activation, recurrent_activation, reset_after)
    names = {"activation": activation, "recurrent_activation": recurrent_activation}
    return call_several(_gru_grad, *inputs, masks, hidden, reserve, **names, reset_after=bool(reset_after), sources=of)


def _grad_shape(gradients: Shape, *rest: Shape, sources: tuple[str, ...], **attributes: Any) -> list[Shape]:
    hidden, _ = _shape(*rest[:6], **attributes)
    if gradients != hidden:
        raise InvalidArgumentError(f"gru_grad: gradients must be of shape {hidden}; got {gradients}.")
    return [shape for name, shape in zip(_SOURCES, rest, strict=False) if name in sources]


def _grad_vjp(
    g: list[Tensor | None],
    gradients: Tensor,
    x: Tensor,
    kernel: Tensor,
    recurrent_kernel: Tensor,
    bias: Tensor,
    initial_hidden: Tensor,
    mask: Tensor,
    activation: str,
    recurrent_activation: str,
    reset_after: bool,
    sources: tuple[str, ...],
    needed: tuple[str, ...],
) -> tuple[Any, ...]:
    def recur(*tensors: Tensor) -> tuple[Tensor]:
        return (_composed(tensors, mask, ACTIVATIONS[activation], ACTIVATIONS[recurrent_activation], reset_after),)

    tensors = x, kernel, recurrent_kernel, bias, initial_hidden
    return differentiate_again(
        dict(zip(sources, g, strict=True)),
        needed,
        {"gradients": gradients},
        dict(zip(_SOURCES, tensors, strict=True)),
        recur,
    )


def _composed(
    sources: tuple[Tensor, ...], mask: Tensor, activate: Activation, activate_gate: Activation, reset_after: bool
) -> Tensor:
    """The hidden states, by ops that are differentiable to any order."""
    x, kernel, recurrent_kernel, bias, hidden = sources
    units = hidden._shape[1]
    input_bias, state_bias = (bias[0], bias[1]) if reset_after else (bias, zeros_like(bias))
    gate_weights, candidate_weights = recurrent_kernel[:, : 2 * units], recurrent_kernel[:, 2 * units :]
    hiddens = []
    for time in range(x._shape[0]):
        inputs = x[time] @ kernel + input_bias
        from_state = hidden @ gate_weights + state_bias[: 2 * units]
        update, reset = split(activate_gate(inputs[:, : 2 * units] + from_state), 2, axis=1)
        if reset_after:
            chosen = reset * (hidden @ candidate_weights + state_bias[2 * units :])
        else:
            chosen = (reset * hidden) @ candidate_weights
        candidate = activate(inputs[:, 2 * units :] + chosen)
        new = candidate + update * (hidden - candidate)
        hidden = held(mask, time, new, hidden)
        hiddens.append(hidden)
    return stack(hiddens) if hiddens else zeros((*x._shape[:2], units), x.dtype)


_gru_grad: Op = Op(
    "gru_grad",
    gru_grad,
    inputs=["gradients", *_SOURCES, "mask", "hidden", "reserve"],
    shape=_grad_shape,
    alike=["gradients", *_SOURCES, "hidden"],
    dtypes=FLOATING,
    vjp={("gradients", *_SOURCES): _grad_vjp},
    reserve_of="gru",
)
