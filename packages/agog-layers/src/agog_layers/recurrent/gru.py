"""GRU: gated recurrent units."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, split
from agog_core.ops.nn.gru import gru
from agog_layers import activations
from agog_layers.arguments.checks import handed_on
from agog_layers.recurrent.cell import Cell
from agog_layers.recurrent.rnn import CellRNN

__all__ = ["GRU", "GRUCell"]


class GRUCell(Cell):
    """One step of `GRU`.

    K. Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014, arXiv:1406.1078.

    Args:
        recurrent_activation: the activation function of the gates, or its name.
        reset_after: whether the reset gate multiplies the product of the state, as cuDNN does, and not the state;
            the bias is then of shape (2, 3 * units).
        Other arguments: see `Cell`.

    >>> import agog_core as ag
    >>> output, (state,) = GRUCell(4)(ag.ones([2, 3]), [ag.zeros([2, 4])])
    >>> output.shape
    TensorShape([2, 4])
    """

    gates: ClassVar[int] = 3

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = "tanh",
        recurrent_activation: str | activations.Activation | None = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**handed_on(locals(), "recurrent_activation", "implementation", "reset_after"))
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation = implementation
        self.reset_after = reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs: Tensor, states: Any, training: Any = None) -> tuple[Tensor, list[Tensor]]:
        """Compute one step, on inputs of shape (batch, features) and a list with the last output.

        It returns the output, of shape (batch, units), and a list with it as the new state.
        """
        (state,) = states
        weights, bias = self.recurrent_kernel.value(), self.fused_bias()
        input_bias = bias[0] if self.reset_after else bias
        product = self._product_and_bias(inputs, self.kernel.value(), input_bias, "dropout", training)
        from_update, from_reset, from_candidate = split(product, 3, axis=1)
        if self.reset_after:
            from_state = self._product_and_bias(state, weights, bias[1], "recurrent_dropout", training)
            to_update, to_reset, to_candidate = split(from_state, 3, axis=1)
            update = self.recurrent_activation(from_update + to_update)
            reset = self.recurrent_activation(from_reset + to_reset)
            candidate = self.activation(from_candidate + reset * to_candidate)
        else:
            seen = self._dropped(state, "recurrent_dropout", training) or [state] * 3
            update_kernel, reset_kernel, candidate_kernel = split(weights, 3, axis=1)
            update = self.recurrent_activation(from_update + seen[0] @ update_kernel)
            reset = self.recurrent_activation(from_reset + seen[1] @ reset_kernel)
            chosen = (reset * seen[2]) @ candidate_kernel
            candidate = self.activation(from_candidate + chosen)
        output = candidate + update * (state - candidate)
        return output, [output]

    def run(self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any) -> Any:
        names = self._fused_names(GRUCell, training)
        if names is None:
            return None
        kernel, recurrent_kernel, bias = self.kernel.value(), self.recurrent_kernel.value(), self.fused_bias()
        outputs, last = gru(x, kernel, recurrent_kernel, bias, states[0], mask, reset_after=self.reset_after, **names)
        return outputs, [last]


class GRU(CellRNN):
    """Gated recurrent units.

    K. Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014, arXiv:1406.1078. The
    sequence is one op (`agog_core.ops.nn.gru`), unless an activation function is unusual or elements are dropped.

    Args:
        Other arguments: see `GRUCell` and `RNN`.

    >>> import agog_core as ag
    >>> GRU(4, return_sequences=True)(ag.zeros([2, 5, 3])).shape
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
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        self._make_cell(GRUCell, locals())
