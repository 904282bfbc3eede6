"""LSTM: long short-term memory over a whole sequence, as one op with one gradient."""

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

_SOURCES = ("x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell")


def lstm(
    x: TensorLike,
    kernel: TensorLike,
    recurrent_kernel: TensorLike,
    bias: TensorLike,
    initial_hidden: TensorLike,
    initial_cell: TensorLike,
    mask: TensorLike | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
) -> tuple[Tensor, Tensor, Tensor]:
    """Run long short-term memory over sequences.

    The results are the hidden states of all times, of shape (time, batch, units), the last one, and the last cell
    state.

    S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9(8), 1997; with the forget gate of
    F. Gers et al., "Learning to forget", 2000. The gates lie in the order input, forget, candidate, output::

        i, f, c, o = split(x[t] @ kernel + hidden @ recurrent_kernel + bias)
        cell = recurrent_activation(f) * cell + recurrent_activation(i) * activation(c)
        hidden = recurrent_activation(o) * activation(cell)

    Args:
        x: floats of shape (time, batch, features).
        kernel: of shape (features, 4 * units); ``recurrent_kernel``: of shape (units, 4 * units).
        bias: of shape (4 * units,).
        initial_hidden, initial_cell: the first states, of shape (batch, units).
        mask: booleans of shape (time, batch); where False, both states stay what they are. None for True.
        activation, recurrent_activation: names in `ACTIVATIONS`.

    >>> zeros = [[0.0] * 4], [0.0] * 4, [[0.0]], [[0.0]]
    >>> hidden, last_hidden, last_cell = lstm([[[1.0]]], [[0.0, 0.0, 1.0, 0.0]], *zeros)
    >>> print(last_cell)
    tf.Tensor([[0.3807971]], shape=(1, 1), dtype=float32)
    """
    given = x, kernel, recurrent_kernel, bias, initial_hidden, initial_cell
    inputs = [convert_to_tensor(value) for value in given]
    hidden, cell, _ = _forward(inputs, mask_tensor(mask), activation, recurrent_activation)
    return hidden, hidden[-1] if inputs[0]._shape[0] else inputs[4], cell


def _forward(inputs: Sequence[Tensor], mask: Tensor, activation: str, recurrent_activation: str) -> tuple[Tensor, ...]:
    names = {
        "activation": check_activation("lstm", activation),
        "recurrent_activation": check_activation("lstm", recurrent_activation),
    }
    return call_several(_lstm, *inputs, mask, **names)


@lru_cache(maxsize=1024)
def _shape(
    x: Shape,
    kernel: Shape,
    recurrent_kernel: Shape,
    bias: Shape,
    initial_hidden: Shape,
    initial_cell: Shape,
    mask: Shape,
    activation: str,
    recurrent_activation: str,
) -> list[Shape | TensorShape]:
    given = {"kernel": kernel, "bias": bias, "initial_hidden": initial_hidden, "initial_cell": initial_cell}
    check_shapes("lstm", 4, x, recurrent_kernel, given, mask)
    return [(*x[:2], recurrent_kernel[0]), initial_cell, TensorShape(None)]


def _vjp(
    g: list[Tensor | None],
    x: Tensor,
    kernel: Tensor,
    recurrent_kernel: Tensor,
    bias: Tensor,
    initial_hidden: Tensor,
    initial_cell: Tensor,
    mask: Tensor,
    out: tuple[Tensor, ...],
    reserve: Tensor,
    activation: str,
    recurrent_activation: str,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    hidden, cell, _ = out
    found = call_several(
        _lstm_grad,
        zeros_like(hidden) if g[0] is None else g[0],
        zeros_like(cell) if g[1] is None else g[1],
        *(x, kernel, recurrent_kernel, bias, initial_hidden, initial_cell, mask, hidden, reserve),
        activation=activation,
        recurrent_activation=recurrent_activation,
        sources=needed,
    )
    return in_order(found, needed, _SOURCES)


_lstm = Op(
    "lstm",
    lstm,
    inputs=[*_SOURCES, "mask"],
    shape=_shape,
    dtype=lambda dtype, **names: [dtype, dtype, variant],
    alike=_SOURCES,
    dtypes=FLOATING,
    vjp={_SOURCES: _vjp},
    reserve="lstm_grad",
)


def lstm_grad(
    hidden_gradients: TensorLike,
    cell_gradients: TensorLike,
    x: TensorLike,
    kernel: TensorLike,
    recurrent_kernel: TensorLike,
    bias: TensorLike,
    initial_hidden: TensorLike,
    initial_cell: TensorLike,
    mask: TensorLike | None = None,
    activation: str = "tanh",
    recurrent_activation: str = "sigmoid",
    sources: Sequence[str] | None = None,
) -> tuple[Tensor, ...]:
    """The gradients of `lstm`, which it runs first. They are those with respect to its tensors, the mask excepted, or
    only to those that ``sources`` names; given are those of the hidden states of all times and of the last cell state.

    >>> zeros = [[0.0] * 4], [[0.0] * 4], [0.0] * 4, [[0.0]], [[2.0]]
    >>> print(lstm_grad([[[0.0]]], [[1.0]], [[[1.0]]], *zeros)[-1])
    tf.Tensor([[0.5]], shape=(1, 1), dtype=float32)
    """
    given = hidden_gradients, cell_gradients, x, kernel, recurrent_kernel, bias, initial_hidden, initial_cell
    inputs = [convert_to_tensor(value) for value in given]
    masks, of = mask_tensor(mask), check_sources("lstm_grad", sources, _SOURCES)
    hidden, _, reserve = _forward(inputs[2:], masks, activation, recurrent_activation)
    names = {"activation": activation, "recurrent_activation": recurrent_activation}
    return call_several(_lstm_grad, *inputs, masks, hidden, reserve, **names, sources=of)


def _grad_shape(
    hidden_gradients: Shape, cell_gradients: Shape, *rest: Shape, sources: tuple[str, ...], **names: str
) -> list[Shape]:
    hidden, cell, _ = _shape(*rest[:7], **names)
    if (hidden_gradients, cell_gradients) != (hidden, cell):
        raise InvalidArgumentError(
            f"lstm_grad: hidden_gradients must be of shape {hidden} and cell_gradients of shape {cell}; got "
            f"{hidden_gradients} and {cell_gradients}."
        )
    return [shape for name, shape in zip(_SOURCES, rest, strict=False) if name in sources]


def _grad_vjp(
    g: list[Tensor | None],
    hidden_gradients: Tensor,
    cell_gradients: Tensor,
    x: Tensor,
    kernel: Tensor,
    recurrent_kernel: Tensor,
    bias: Tensor,
    initial_hidden: Tensor,
    initial_cell: Tensor,
    mask: Tensor,
    activation: str,
    recurrent_activation: str,
    sources: tuple[str, ...],
    needed: tuple[str, ...],
) -> tuple[Any, ...]:
    def recur(*tensors: Tensor) -> tuple[Tensor, Tensor]:
        return _composed(tensors, mask, ACTIVATIONS[activation], ACTIVATIONS[recurrent_activation])

    tensors = x, kernel, recurrent_kernel, bias, initial_hidden, initial_cell
    return differentiate_again(
        dict(zip(sources, g, strict=True)),
        needed,
        {"hidden_gradients": hidden_gradients, "cell_gradients": cell_gradients},
        dict(zip(_SOURCES, tensors, strict=True)),
        recur,
    )


def _composed(
    sources: tuple[Tensor, ...], mask: Tensor, activate: Activation, activate_gate: Activation
) -> tuple[Tensor, Tensor]:
    """The hidden states and the last cell state, by ops that are differentiable to any order."""
    x, kernel, recurrent_kernel, bias, hidden, cell = sources
    hiddens = []
    for time in range(x._shape[0]):
        inputs = x[time] @ kernel + hidden @ recurrent_kernel + bias
        entry, keep, candidate, exit = split(inputs, 4, axis=1)
        new = activate_gate(keep) * cell + activate_gate(entry) * activate(candidate)
        hidden = held(mask, time, activate_gate(exit) * activate(new), hidden)
        cell = held(mask, time, new, cell)
        hiddens.append(hidden)
    return stack(hiddens) if hiddens else zeros((*x._shape[:2], cell._shape[1]), x.dtype), cell


_lstm_grad: Op = Op(
    "lstm_grad",
    lstm_grad,
    inputs=["hidden_gradients", "cell_gradients", *_SOURCES, "mask", "hidden", "reserve"],
    shape=_grad_shape,
    alike=["hidden_gradients", "cell_gradients", *_SOURCES, "hidden"],
    dtypes=FLOATING,
    vjp={("hidden_gradients", "cell_gradients", *_SOURCES): _grad_vjp},
    reserve_of="lstm",
)
