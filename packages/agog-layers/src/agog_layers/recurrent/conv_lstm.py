"""ConvLSTM2D: long short-term memory with convolutions."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, TensorShape, transpose, zeros
from agog_core.ops.conv.convolutions import conv2d
from agog_layers import activations
from agog_layers.arguments.checks import choice, one_for_each
from agog_layers.convolution.convolution import places
from agog_layers.layer.checks import check_dtype
from agog_layers.layer.layer import Layer
from agog_layers.recurrent.lstm import LSTMCell
from agog_layers.recurrent.rnn import CellRNN

__all__ = ["ConvLSTM2D"]


class ConvLSTM2DCell(LSTMCell):
    """One step of `ConvLSTM2D`.

    X. Shi et al., "Convolutional LSTM network: a machine learning approach for precipitation nowcasting", NIPS 2015,
    without the peepholes.

    Args:
        filters: the number of channels of the output.
        kernel_size: the window's sizes: an integer, or one for each axis.
        strides: the steps of the inputs' window: an integer, or one for each axis.
        padding: ``"valid"`` or ``"same"``, for the inputs; the states are always padded.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        dilation_rate: the distances between the elements of the inputs' window: an integer, or one for each axis.
        **kwargs: further arguments of `LSTMCell`.

    Raises:
        ValueError: an argument is none of these.

    >>> ConvLSTM2DCell(8, 3).kernel_size
    (3, 3)
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        **kwargs: Any,
    ) -> None:
        super().__init__(filters, **kwargs)
        self.filters = self.units
        self.kernel_size = one_for_each("ConvLSTM2D", "kernel_size", kernel_size, 2)
        self.strides = one_for_each("ConvLSTM2D", "strides", strides, 2)
        self.padding = choice("ConvLSTM2D", "padding", padding, ("valid", "same"))
        self.data_format = choice("ConvLSTM2D", "data_format", data_format, ("channels_last", "channels_first"))
        self.dilation_rate = one_for_each("ConvLSTM2D", "dilation_rate", dilation_rate, 2)
        self._sizes: tuple[int | None, int | None] = (None, None)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["units"]
        return config

    @property
    def state_size(self) -> Any:
        """The shapes of the hidden state and of the cell state, without the batch axis."""
        return [TensorShape(self._state_shape(self._sizes))] * 2

    def _state_shape(self, sizes: Any) -> list[Any]:
        return [self.filters, *sizes] if self._channels_first else [*sizes, self.filters]

    @property
    def _channels_first(self) -> bool:
        return self.data_format == "channels_first"

    def _sizes_after(self, shape: TensorShape) -> tuple[int | None, int | None]:
        """The height and the width of the output, for the shape of an input without batch and time axes."""
        sizes = shape[1:] if self._channels_first else shape[:2]
        forms = zip(sizes, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        height, width = (places(size, window, step, rate, self.padding) for size, window, step, rate in forms)
        return height, width

    def _features(self, shape: TensorShape) -> Any:
        if shape.ndims != 4:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} takes inputs of rank 4 ({self.data_format}) at each time; got "
                f"shape {shape}."
            )
        self._sizes = self._sizes_after(shape[1:])
        return shape[1 if self._channels_first else 3]

    def _kernel_shapes(self, features: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        width = self.gates * self.units
        return (*self.kernel_size, features, width), (*self.kernel_size, self.units, width)

    def _transformed(self, x: Tensor, kernel: Tensor, which: str) -> Tensor:
        if which == "recurrent_dropout":
            return conv2d(x, kernel, (1, 1, 1, 1), "SAME")
        return conv2d(x, kernel, (1, *self.strides, 1), self.padding.upper(), dilations=(1, *self.dilation_rate, 1))

    def check_input(self, layer: Layer, inputs: Tensor) -> None:
        """See `Cell.check_input`; sequences are of images, with the channels last or first."""
        channels = self.kernel.shape[2]
        if inputs.ndim != 5 or inputs.shape[2 if self._channels_first else 4] != channels:
            wanted = f"{channels}, height, width" if self._channels_first else f"height, width, {channels}"
            raise ValueError(
                f"{type(layer).__name__} layer {layer.name!r} takes inputs of shape (batch, time, {wanted}); got shape "
                f"{inputs.shape}."
            )
        check_dtype(layer, inputs, self.kernel)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> list[Tensor]:
        """See `Cell.get_initial_state`; of inputs the sizes of the images count too."""
        if inputs is not None:
            batch_size, dtype = inputs.shape[0], inputs.dtype
        sizes = self._sizes if inputs is None else self._sizes_after(inputs.shape[2:])
        return [zeros([batch_size, *self._state_shape(sizes)], dtype) for _ in range(2)]

    def call(self, inputs: Tensor, states: Any, training: Any = None) -> tuple[Tensor, list[Tensor]]:
        """Compute one step on images and a hidden and a cell state; return the hidden one, and a list of both."""
        if not self._channels_first:
            return super().call(inputs, states, training)
        x, hidden, cell = (transpose(each, (0, 2, 3, 1)) for each in (inputs, *states))
        _, new = super().call(x, [hidden, cell], training)
        hidden, cell = (transpose(state, (0, 3, 1, 2)) for state in new)
        return hidden, [hidden, cell]


class ConvLSTM2D(CellRNN):
    """Long short-term memory over sequences of images: its products are convolutions.

    X. Shi et al., "Convolutional LSTM network: a machine learning approach for precipitation nowcasting", NIPS 2015,
    without the peepholes.

    Args:
        Other arguments: see `ConvLSTM2DCell`, `LSTMCell` and `RNN`.

    >>> import agog_core as ag
    >>> ConvLSTM2D(4, 3, padding="same", return_sequences=True)(ag.zeros([2, 5, 8, 8, 3])).shape
    TensorShape([2, 5, 8, 8, 4])
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
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
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._make_cell(ConvLSTM2DCell, locals())
