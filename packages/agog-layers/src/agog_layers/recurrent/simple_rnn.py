"""SimpleRNN: a recurrent layer without gates."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, reshape, stack, unstack, where
from agog_layers import activations
from agog_layers.recurrent.cell import Cell
from agog_layers.recurrent.rnn import CellRNN

__all__ = ["SimpleRNN", "SimpleRNNCell"]


class SimpleRNNCell(Cell):
    """One step of `SimpleRNN`; its arguments are those of `Cell`.

    J. Elman, "Finding structure in time", Cognitive Science 14, 1990.

    >>> import agog_core as ag
    >>> output, (state,) = SimpleRNNCell(4)(ag.ones([2, 3]), [ag.zeros([2, 4])])
    >>> output.shape
    TensorShape([2, 4])
    """

    def call(self, inputs: Tensor, states: Any, training: Any = None) -> tuple[Tensor, list[Tensor]]:
        """Compute one step. See `GRUCell.call`."""
        kernel = self.kernel.value()
        if self.bias is None:
            product = self._product(inputs, kernel, "dropout", training)
        else:
            product = self._product_and_bias(inputs, kernel, self.bias.value(), "dropout", training)
        from_state = self._product(states[0], self.recurrent_kernel.value(), "recurrent_dropout", training)
        output = self.activation(product + from_state)
        return output, [output]

    def run(self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any) -> Any:
        """See `Cell.run`. The inputs of all times are one product."""
        if not self._is_plain(SimpleRNNCell, training):
            return None
        time, batch, features = x._shape
        inputs, weights = reshape(x, (time * batch, features)), self.recurrent_kernel.value()
        product = self._product_and_bias(inputs, self.kernel.value(), self.fused_bias(), "dropout", training)
        (state,), outputs = states, []
        for number, step in enumerate(unstack(reshape(product, (time, batch, self.units)))):
            new = self.activation(step + state @ weights)
            state = new if mask is None else where(mask[number], new, state)
            outputs.append(state)
        return stack(outputs), [state]


class SimpleRNN(CellRNN):
    """``output = activation(inputs @ kernel + output @ recurrent_kernel + bias)``, from step to step.

    J. Elman, "Finding structure in time", Cognitive Science 14, 1990.

    Args:
        Other arguments: see `Cell` and `RNN`.

    >>> import agog_core as ag
    >>> SimpleRNN(4)(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 4])
    """

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("implementation", None)  # older programs give it; there is but one
        self._make_cell(SimpleRNNCell, locals())
