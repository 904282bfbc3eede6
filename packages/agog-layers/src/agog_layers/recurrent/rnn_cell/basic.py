"""Basic cells: BasicRNNCell and GRUCell."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, concat, split
from agog_core.ops.nn.fused import matmul_bias
from agog_core.ops.nn.gru import gru
from agog_layers import activations
from agog_layers.activations.lookup import fused
from agog_layers.recurrent.rnn_cell.cell import RNNCell, checked_units, is_tanh

__all__ = ["BasicRNNCell", "GRUCell"]


class BasicRNNCell(RNNCell):
    """``activation([inputs, state] @ kernel + bias)``.

    Args:
        num_units: the number of outputs.
        activation: a function or its name; None for tanh.
        name: the cell's name.
        dtype: the dtype of the variables.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> cell = BasicRNNCell(4)
    >>> output, state = cell(ag.ones([2, 3]), cell.zero_state(2, ag.float32))
    >>> output.shape, [v.name for v in cell.weights]
    (TensorShape([2, 4]), ['basic_rnn_cell/kernel:0', 'basic_rnn_cell/bias:0'])
    """

    def __init__(
        self,
        num_units: int,
        activation: str | activations.Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self._num_units = checked_units(self, num_units)
        self._activation = activations.get(activation or "tanh")

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        features = self._features(input_shape)
        self.kernel = self.add_weight("kernel", (features + self._num_units, self._num_units))
        self.bias = self.add_weight("bias", (self._num_units,), initializer="zeros")
        self.built = True

    def call(self, inputs: Tensor, state: Tensor, scope: Any = None) -> tuple[Tensor, Tensor]:
        """Compute one step on inputs of shape (batch, features) and the last output; return the output, twice."""
        self._check_width(inputs, self.kernel)
        name = fused(self._activation)
        output = matmul_bias(concat([inputs, state], 1), self.kernel.value(), self.bias.value(), name)
        output = self._activation(output) if name == "linear" else output
        return output, output


class GRUCell(RNNCell):
    """Gated recurrent units.

    K. Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014, arXiv:1406.1078.

    Args:
        num_units: the number of outputs.
        activation: a function or its name; None for tanh.
        kernel_initializer: an initializer of both kernels, or its name.
        bias_initializer: an initializer of both biases, or its name; by default those of the gates begin with 1,
            and those of the candidate with 0.
        name: the cell's name.
        dtype: the dtype of the variables.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> cell = GRUCell(4)
    >>> output, state = cell(ag.ones([2, 3]), cell.zero_state(2, ag.float32))
    >>> output.shape, [v.shape.as_list() for v in cell.weights]
    (TensorShape([2, 4]), [[7, 8], [8], [7, 4], [4]])
    """

    def __init__(
        self,
        num_units: int,
        activation: str | activations.Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self._num_units = checked_units(self, num_units)
        self._activation = activations.get(activation or "tanh")
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> int:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Make the kernels and biases of the gates and of the candidate."""
        height, units = self._features(input_shape) + self._num_units, self._num_units
        first, second = (self._bias_initializer or each for each in ("ones", "zeros"))
        self.gates_kernel = self.add_weight("gates/kernel", (height, 2 * units), initializer=self._kernel_initializer)
        self.gates_bias = self.add_weight("gates/bias", (2 * units,), initializer=first)
        self.candidate_kernel = self.add_weight(
            "candidate/kernel", (height, units), initializer=self._kernel_initializer
        )
        self.candidate_bias = self.add_weight("candidate/bias", (units,), initializer=second)
        self.built = True

    def call(self, inputs: Tensor, state: Tensor, scope: Any = None) -> tuple[Tensor, Tensor]:
        """Compute one step on inputs of shape (batch, features) and the last output; return the output, twice."""
        self._check_width(inputs, self.gates_kernel)
        both, name = concat([inputs, state], 1), fused(self._activation)
        gates = matmul_bias(both, self.gates_kernel.value(), self.gates_bias.value(), "sigmoid")
        reset, update = split(gates, 2, axis=1)
        chosen = concat([inputs, reset * state], 1)
        candidate = matmul_bias(chosen, self.candidate_kernel.value(), self.candidate_bias.value(), name)
        candidate = self._activation(candidate) if name == "linear" else candidate
        output = candidate + update * (state - candidate)
        return output, output

    def run(self, x: Tensor, state: Tensor, mask: Tensor | None) -> Any:
        if type(self).call is not GRUCell.call or not is_tanh(self._activation):
            return None
        self._check_width(x[0], self.gates_kernel)
        reset, update = split(self.gates_kernel.value(), 2, axis=1)
        reset_bias, update_bias = split(self.gates_bias.value(), 2, axis=0)
        kernel = concat([update, reset, self.candidate_kernel.value()], 1)
        bias = concat([update_bias, reset_bias, self.candidate_bias.value()], 0)
        features = x.shape[2]
        return gru(x, kernel[:features], kernel[features:], bias, state, mask)
