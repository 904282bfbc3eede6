"""LSTM cells: BasicLSTMCell and LSTMCell."""

from __future__ import annotations

from typing import Any, NamedTuple

from agog_core import Tensor, clip_by_value, concat, sigmoid, split
from agog_core.calls.docstrings import documented_like
from agog_core.ops.nn.fused import matmul_bias
from agog_core.ops.nn.lstm import lstm
from agog_layers import activations
from agog_layers.recurrent.rnn_cell.cell import RNNCell, checked_units, is_tanh

__all__ = ["BasicLSTMCell", "LSTMCell", "LSTMStateTuple"]


class LSTMStateTuple(NamedTuple):
    """The state of long short-term memory: the cell state and the hidden state, in this order."""

    c: Any
    h: Any


class LSTMCell(RNNCell):
    """Long short-term memory, with peepholes and a projection where wanted.

    S. Hochreiter and J. Schmidhuber, "Long short-term memory", Neural Computation 9(8), 1997; H. Sak et al., "Long
    short-term memory recurrent neural network architectures for large scale acoustic modeling", Interspeech 2014. The
    kernel's gates come in the order input, candidate, forget, output.

    Args:
        num_units: the size of the cell state.
        use_peepholes: whether the gates see the cell state, each unit its own.
        cell_clip: the largest magnitude of the cell state, or None.
        initializer: an initializer of all but the bias, or its name.
        num_proj: the size of the output, which a matrix makes of the hidden state; None for no matrix.
        proj_clip: the largest magnitude of the output of that matrix, or None.
        forget_bias: what is added to the bias of the forget gate.
        state_is_tuple: whether the state is an `LSTMStateTuple`; else both parts are side by side in one tensor.
        activation: a function or its name; None for tanh.
        name: the cell's name.
        dtype: the dtype of the variables.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> cell = LSTMCell(4, use_peepholes=True, num_proj=3)
    >>> output, state = cell(ag.ones([2, 5]), cell.zero_state(2, ag.float32))
    >>> output.shape, state.c.shape, state.h.shape
    (TensorShape([2, 3]), TensorShape([2, 4]), TensorShape([2, 3]))
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: str | activations.Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self._num_units = checked_units(self, num_units)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activations.get(activation or "tanh")

    @property
    def state_size(self) -> Any:
        """An `LSTMStateTuple` of sizes, or their sum."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias, the peepholes, and the projection."""
        units = self._num_units
        height = self._features(input_shape) + self.output_size
        self.kernel = self.add_weight("kernel", (height, 4 * units), initializer=self._initializer)
        self.bias = self.add_weight("bias", (4 * units,), initializer="zeros")
        if self._use_peepholes:
            self.forget_peephole = self.add_weight("w_f_diag", (units,), initializer=self._initializer)
            self.input_peephole = self.add_weight("w_i_diag", (units,), initializer=self._initializer)
            self.output_peephole = self.add_weight("w_o_diag", (units,), initializer=self._initializer)
        if self._num_proj:
            self.projection = self.add_weight(
                "projection/kernel", (units, self._num_proj), initializer=self._initializer
            )
        self.built = True

    def call(self, inputs: Tensor, state: Any, scope: Any = None) -> tuple[Tensor, Any]:
        """Compute one step, on inputs of shape (batch, features) and the state; return the output, and the new state.

        A state is an `LSTMStateTuple` of tensors of shapes (batch, units) and (batch, output size), or both side by
        side.
        """
        self._check_width(inputs, self.kernel)
        cell, hidden = state if self._state_is_tuple else split(state, [self._num_units, self.output_size], axis=1)
        product = matmul_bias(concat([inputs, hidden], 1), self.kernel.value(), self.bias.value())
        entry, candidate, keep, exit = split(product, 4, axis=1)
        keep = keep + self._forget_bias
        if self._use_peepholes:
            entry = entry + self.input_peephole.value() * cell
            keep = keep + self.forget_peephole.value() * cell
        cell = sigmoid(keep) * cell + sigmoid(entry) * self._activation(candidate)
        if self._cell_clip is not None:
            cell = clip_by_value(cell, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            exit = exit + self.output_peephole.value() * cell
        hidden = sigmoid(exit) * self._activation(cell)
        if self._num_proj:
            hidden = hidden @ self.projection.value()
            if self._proj_clip is not None:
                hidden = clip_by_value(hidden, -self._proj_clip, self._proj_clip)
        return hidden, LSTMStateTuple(cell, hidden) if self._state_is_tuple else concat([cell, hidden], 1)

    def run(self, x: Tensor, state: Any, mask: Tensor | None) -> Any:
        unusual = self._use_peepholes or self._num_proj or self._cell_clip is not None or not is_tanh(self._activation)
        if unusual or type(self).call is not LSTMCell.call:
            return None
        self._check_width(x[0], self.kernel)
        cell, hidden = state if self._state_is_tuple else split(state, 2, axis=1)
        entry, candidate, keep, exit = split(self.kernel.value(), 4, axis=1)
        kernel = concat([entry, keep, candidate, exit], 1)
        entry, candidate, keep, exit = split(self.bias.value(), 4, axis=0)
        bias = concat([entry, keep + self._forget_bias, candidate, exit], 0)
        features = x.shape[2]
        outputs, hidden, cell = lstm(x, kernel[:features], kernel[features:], bias, hidden, cell, mask)
        return outputs, LSTMStateTuple(cell, hidden) if self._state_is_tuple else concat([cell, hidden], 1)


@documented_like(LSTMCell)
class BasicLSTMCell(LSTMCell):
    """Long short-term memory without peepholes and projections.

    W. Zaremba et al., "Recurrent neural network regularization", arXiv:1409.2329, 2014.

    Args:
        num_units: the number of outputs.

    >>> import agog_core as ag
    >>> cell = BasicLSTMCell(4)
    >>> output, (c, h) = cell(ag.ones([2, 3]), cell.zero_state(2, ag.float32))
    >>> output.shape, [v.name for v in cell.weights]
    (TensorShape([2, 4]), ['basic_lstm_cell/kernel:0', 'basic_lstm_cell/bias:0'])
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: str | activations.Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_units,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            name=name,
            dtype=dtype,
            **kwargs,
        )
