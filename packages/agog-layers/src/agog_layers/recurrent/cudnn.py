"""CuDNNLSTM, CuDNNGRU: layers with cuDNN's formulas and weights, on any device."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, reshape
from agog_layers.recurrent.gru import GRUCell
from agog_layers.recurrent.lstm import LSTMCell
from agog_layers.recurrent.rnn import CellRNN

__all__ = ["CuDNNGRU", "CuDNNLSTM"]


class CuDNNLSTMCell(LSTMCell):
    """One step of `CuDNNLSTM`: a bias for the inputs and one for the state, in one vector.

    >>> CuDNNLSTMCell(4).recurrent_activation.__name__
    'sigmoid'
    """

    def __init__(self, units: int, recurrent_activation: str = "sigmoid", **kwargs: Any) -> None:
        super().__init__(units, recurrent_activation=recurrent_activation, **kwargs)

    def _bias_shape(self) -> tuple[int, ...]:
        return (8 * self.units,)

    def fused_bias(self) -> Tensor:
        """The sum of both biases."""
        bias = super().fused_bias()
        width = 4 * self.units
        return bias[:width] + bias[width:]


class CuDNNGRUCell(GRUCell):
    """One step of `CuDNNGRU`: a bias for the inputs and one for the state, in one vector.

    >>> CuDNNGRUCell(4).reset_after
    True
    """

    def __init__(
        self, units: int, recurrent_activation: str = "sigmoid", reset_after: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(units, recurrent_activation=recurrent_activation, reset_after=reset_after, **kwargs)

    def _bias_shape(self) -> tuple[int, ...]:
        return (6 * self.units,)

    def fused_bias(self) -> Tensor:
        """Both biases, as rows."""
        return reshape(super().fused_bias(), (2, 3 * self.units))


class CuDNNLSTM(CellRNN):
    """`LSTM` with the weights of cuDNN: a bias of shape (8 * units,).

    The gates are sigmoids and elements are not dropped, as in cuDNN; it runs on every device.

    Args:
        Other arguments: see `LSTMCell` and `RNN`.

    >>> import agog_core as ag
    >>> layer = CuDNNLSTM(4)
    >>> layer(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 4])
    >>> layer.cell.bias.shape
    TensorShape([32])
    """

    def __init__(
        self,
        units: int,
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
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        self._make_cell(CuDNNLSTMCell, locals())


class CuDNNGRU(CellRNN):
    """`GRU` with the weights of cuDNN: a bias of shape (6 * units,), and the reset gate after the product.

    The gates are sigmoids and elements are not dropped, as in cuDNN; it runs on every device.

    Args:
        Other arguments: see `GRUCell` and `RNN`.

    >>> import agog_core as ag
    >>> layer = CuDNNGRU(4)
    >>> layer(ag.zeros([2, 5, 3])).shape
    TensorShape([2, 4])
    >>> layer.cell.bias.shape
    TensorShape([24])
    """

    def __init__(
        self,
        units: int,
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
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        self._make_cell(CuDNNGRUCell, locals())
