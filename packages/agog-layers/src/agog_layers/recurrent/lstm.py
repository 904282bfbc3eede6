"""LSTM: long short-term memory."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, concat, ones, split
from agog_core.ops.nn.lstm import lstm
from agog_layers import activations
from agog_layers.arguments.checks import handed_on
from agog_layers.recurrent.cell import Cell
from agog_layers.recurrent.rnn import CellRNN

__all__ = ["LSTM", "LSTMCell"]


class LSTMCell(Cell):
    """One step of `LSTM`.

    S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9(8), 1997.

    Args:
        recurrent_activation: the activation function of the gates, or its name.
        unit_forget_bias: whether the biases of the forget gate begin with 1; R. Jozefowicz et al., "An empirical
            exploration of recurrent network architectures", ICML 2015.
        Other arguments: see `Cell`.

    >>> import agog_core as ag
    >>> zeros = ag.zeros([2, 4])
    >>> output, (hidden, cell) = LSTMCell(4)(ag.ones([2, 3]), [zeros, zeros])
    >>> output.shape, cell.shape
    (TensorShape([2, 4]), TensorShape([2, 4]))
    """

    gates: ClassVar[int] = 4

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = "tanh",
        recurrent_activation: str | activations.Activation | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**handed_on(locals(), "recurrent_activation", "unit_forget_bias", "implementation"))
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = implementation

    @property
    def state_size(self) -> list[int]:
        """The sizes of the hidden state and of the cell state."""
        return [self.units, self.units]

    def _initial_bias(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        if not self.unit_forget_bias:
            return super()._initial_bias(shape, dtype)
        last = 2 * self.units  # those of the candidate and of the output gate
        before = super()._initial_bias([shape[0] - last - self.units], dtype)
        return concat([before, ones([self.units], dtype), super()._initial_bias([last], dtype)], axis=0)

    def call(self, inputs: Tensor, states: Any, training: Any = None) -> tuple[Tensor, list[Tensor]]:
        """Compute one step, on inputs of shape (batch, features), a hidden and a cell state.

        It returns the new hidden state, and a list of both new states.
        """
        hidden, cell = states
        product = self._product_and_bias(inputs, self.kernel.value(), self.fused_bias(), "dropout", training)
        product = product + self._product(hidden, self.recurrent_kernel.value(), "recurrent_dropout", training)
        entry, keep, candidate, exit = split(product, 4, axis=-1)
        gate = self.recurrent_activation
        cell = gate(keep) * cell + gate(entry) * self.activation(candidate)
        hidden = gate(exit) * self.activation(cell)
        return hidden, [hidden, cell]

    def run(self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any) -> Any:
        names = self._fused_names(LSTMCell, training)
        if names is None:
            return None
        bias, (hidden, cell) = self.fused_bias(), states
        outputs, *last = lstm(x, self.kernel.value(), self.recurrent_kernel.value(), bias, hidden, cell, mask, **names)
        return outputs, last


class LSTM(CellRNN):
    """Long short-term memory.

    S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9(8), 1997. The sequence is one op
    (`agog_core.ops.nn.lstm`), unless an activation function is unusual or elements are dropped.

    Args:
        Other arguments: see `LSTMCell` and `RNN`.

    >>> import agog_core as ag
    >>> LSTM(4, return_sequences=True)(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 5, 4])
    """

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = "tanh",
        recurrent_activation: str | activations.Activation | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        self._make_cell(LSTMCell, locals())
