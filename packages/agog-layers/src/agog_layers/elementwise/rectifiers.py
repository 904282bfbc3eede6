"""Rectifiers: layers of activation functions with arguments or variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_layers import activations
from agog_layers.arguments.checks import integers, number, shown, whole
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


class Elementwise(Layer, supports_masking=True, single_input=True):
    """Base of layers whose output has the input's shape."""

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        return ag.TensorShape(input_shape)


class LeakyReLU(Elementwise):
    """``x`` where it is positive, else ``alpha * x``.

    A. Maas et al., "Rectifier nonlinearities improve neural network acoustic models", ICML 2013.

    Args:
        alpha: the slope where ``x`` is negative.
        negative_slope: the same; what Keras calls it today.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(LeakyReLU(0.5)(ag.constant([-2.0, 2.0])))
    tf.Tensor([-1.  2.], shape=(2,), dtype=float32)
    """

    def __init__(self, alpha: float = 0.3, negative_slope: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = number("LeakyReLU", "alpha", alpha if negative_slope is None else negative_slope)

    def get_config(self) -> dict[str, Any]:
        return {name: value for name, value in super().get_config().items() if name != "negative_slope"}

    @property
    def negative_slope(self) -> float:
        """The same as ``alpha``."""
        return self.alpha

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return ag.nn.leaky_relu(inputs, self.alpha)


class PReLU(Elementwise, needs_floats=True):
    """``x`` where it is positive, else ``alpha * x`` with a trained alpha for each feature.

    K. He et al., "Delving deep into rectifiers", ICCV 2015.

    Args:
        alpha_initializer: an initializer of the slopes or its name.
        alpha_regularizer: a function of the slopes for `losses`, or its name.
        alpha_constraint: a function that optimizers apply to the slopes after each update, or its name.
        shared_axes: the axes along which one slope is for all, such as [1, 2] for images; None for no axis.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> layer = PReLU("ones", shared_axes=[1, 2])
    >>> layer(ag.zeros([1, 4, 4, 3])).shape, layer.alpha.shape
    (TensorShape([1, 4, 4, 3]), TensorShape([1, 1, 3]))
    """

    alpha: ag.Variable

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        axes = shared_axes if isinstance(shared_axes, Iterable) or shared_axes is None else [shared_axes]
        self.shared_axes = None if axes is None else list(integers("PReLU", "shared_axes", axes))

    def build(self, input_shape: Any) -> None:
        """Make the slopes; the sizes along all axes that are not shared must be known."""
        shape = ag.TensorShape(input_shape).as_list()
        sizes = [1 if axis in (self.shared_axes or ()) else size for axis, size in enumerate(shape)][1:]
        self.alpha = self._add_configured("alpha", sizes)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return ag.nn.relu(inputs) - self.alpha.value() * ag.nn.relu(-inputs)


class ELU(Elementwise):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    D. Clevert et al., "Fast and accurate deep network learning by exponential linear units", ICLR 2016.

    Args:
        alpha: the factor.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(ELU()(ag.constant([-1.0, 2.0])))
    tf.Tensor([-0.63212055  2.        ], shape=(2,), dtype=float32)
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = number("ELU", "alpha", alpha)

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return activations.elu(inputs, self.alpha)


class ThresholdedReLU(Elementwise):
    """``x`` where it is above ``theta``, else 0.

    K. Konda et al., "Zero-bias autoencoders and the benefits of co-adapting features", ICLR 2015.

    Args:
        theta: the threshold.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(ThresholdedReLU()(ag.constant([0.5, 2.0])))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = number("ThresholdedReLU", "theta", theta)

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return ag.where(inputs <= self.theta, ag.zeros_like(inputs), inputs)  # NaN stays one


class Softmax(Elementwise):
    """Positive numbers whose sum along an axis is 1.

    Args:
        axis: the axis.
        **kwargs: further arguments of `Layer`.

    Raises:
        TypeError: the axis is no integer.

    >>> import agog_core as ag
    >>> print(Softmax()(ag.constant([3.0, 3.0])))
    tf.Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if whole(axis) is None:
            raise TypeError(f"Softmax: axis must be an integer; got {shown(axis)}.")
        self.axis = axis

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        return ag.nn.softmax(inputs, self.axis)


class ReLU(Elementwise):
    """``x`` where it is at least ``threshold``, but at most ``max_value``; else ``negative_slope * (x - threshold)``.

    Args:
        max_value: the largest output, not negative; None for any.
        negative_slope: the slope below the threshold, not negative.
        threshold: the threshold, not negative.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is negative.

    >>> import agog_core as ag
    >>> print(ReLU(max_value=6)(ag.constant([-2.0, 2.0, 8.0])))
    tf.Tensor([0. 2. 6.], shape=(3,), dtype=float32)
    """

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        given = {"max_value": max_value or 0, "negative_slope": negative_slope, "threshold": threshold}
        for argument, value in given.items():
            if number("ReLU", argument, value) < 0:
                raise ValueError(f"ReLU: {argument} of Relu layer cannot be negative value: {value}.")
        self.max_value = None if max_value is None else float(max_value)
        self.negative_slope = float(negative_slope)
        self.threshold = float(threshold)

    def call(self, inputs: Tensor) -> Tensor:
        """Apply the function."""
        if not self.threshold:
            outputs = ag.nn.leaky_relu(inputs, self.negative_slope) if self.negative_slope else ag.nn.relu(inputs)
        else:
            below = (inputs - self.threshold) * self.negative_slope
            outputs = ag.where(inputs >= self.threshold, inputs, below)
        return outputs if self.max_value is None else ag.minimum(outputs, self.max_value)
