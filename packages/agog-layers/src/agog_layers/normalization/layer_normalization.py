"""Layer normalization: of each example by itself, over all features, groups of channels, or single channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from agog_core import Tensor, TensorShape, Variable, as_dtype, nn, reshape
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape
from agog_layers.arguments.checks import integers, number
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["GroupNormalization", "InstanceNormalization", "LayerNormalization"]


class Normalizing(Layer, supports_masking=True, single_input=True, needs_floats=True):
    """Base of normalisations: the scale ``gamma`` and the offset ``beta`` that come after it.

    Args:
        axis: the axis, or axes, along which gamma and beta differ.
        epsilon: a small number that is added to the variance.
        center: whether there is an offset.
        scale: whether there is a scale.
        beta_initializer: an initializer of the offset or its name.
        gamma_initializer: an initializer of the scale or its name.
        beta_regularizer: a function of the offset for `losses`, or its name.
        gamma_regularizer: a function of the scale for `losses`, or its name.
        beta_constraint: a function that optimizers apply to the offset after each update, or its name.
        gamma_constraint: a function that optimizers apply to the scale after each update, or its name.
        **kwargs: further arguments of `Layer`.
    """

    computes_in: ClassVar[str | None] = "variable_dtype"  # means of half precision are too coarse

    gamma: Variable | None = None
    beta: Variable | None = None
    # The axes, counted from the front, and the sizes along them, in order.
    _axes: Shape
    _sizes: Shape
    _rank: int

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        listed = isinstance(axis, Iterable) and not isinstance(axis, str)
        axes = integers(type(self).__name__, "axis", axis if listed else [axis])
        self.axis = list(axes) if listed else axes[0]
        self.epsilon = number(type(self).__name__, "epsilon", epsilon)
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the variables; the sizes along the axes of gamma and beta must be known."""
        shape = TensorShape(input_shape)
        rank = len(shape)
        chosen = self.axis if isinstance(self.axis, list) else [self.axis]
        axes = sorted({axis + rank if axis < 0 else axis for axis in chosen})
        if len(axes) != len(chosen) or not axes or axes[0] < 0 or axes[-1] >= rank:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r}: axis must be of axes that an input of shape {shape} has, "
                f"each once; got {self.axis}."
            )
        sizes = [shape.as_list()[axis] for axis in axes]
        if None in sizes:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} needs known sizes along axis {self.axis}; got shape "
                f"{shape}."
            )
        self._rank, self._axes, self._sizes = rank, tuple(axes), tuple(size for size in sizes if size is not None)
        self.build_weights()
        self.built = True

    def build_weights(self) -> None:
        """Make gamma and beta."""
        if self.scale:
            self.gamma = self._add_configured("gamma", self.weight_shape(), self.weight_dtype())
        if self.center:
            self.beta = self._add_configured("beta", self.weight_shape(), self.weight_dtype())

    def weight_shape(self) -> Shape:
        """The shape of gamma and beta: the sizes along the axes."""
        return self._sizes

    def weight_dtype(self) -> Any:
        """The dtype of gamma and beta; None for the layer's."""
        return None

    def check(self, inputs: Tensor) -> None:
        """Raise an error when an input's shape does not fit the first one's, or its dtype the layer's."""
        if inputs.dtype is not self._dtype:
            self._check_floats(inputs)
            wanted = as_dtype(self._dtype).name
            raise InvalidArgumentError(
                f"{type(self).__name__} layer {self.name!r} has the dtype {wanted}; got an input of dtype "
                f"{inputs.dtype.name} and shape {inputs.shape}. Cast it with tf.cast(x, tf.{wanted})."
            )
        shape = inputs._shape
        if len(shape) != self._rank or tuple([shape[axis] for axis in self._axes]) != self._sizes:
            known = dict(zip(self._axes, self._sizes, strict=True))
            expected = TensorShape([known.get(axis) for axis in range(self._rank)])
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs of shape {expected}; got shape {shape}."
            )

    def spread(self, weight: Variable | None) -> Tensor | None:
        """A weight, or None, in a shape that broadcasts with the input."""
        if weight is None:
            return None
        value = weight.value()
        if self._axes[0] == self._rank - len(self._axes) or len(value._shape) == self._rank:
            return value
        known = dict(zip(self._axes, self._sizes, strict=True))
        return reshape(value, [known.get(axis, 1) for axis in range(self._rank)])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class LayerNormalization(Normalizing):
    """Normalise each example by its own mean and variance, then scale and shift; the arguments are `Normalizing`'s.

    J. Ba et al., "Layer normalization", arXiv:1607.06450, 2016.

    The mean and the variance are taken along ``axis``.

    >>> import agog_core as ag
    >>> print(LayerNormalization(epsilon=0.0)(ag.constant([[1.0, 3.0], [0.0, 8.0]])))
    tf.Tensor(
    [[-1.  1.]
     [-1.  1.]], shape=(2, 2), dtype=float32)
    """

    def call(self, inputs: Tensor) -> Tensor:
        """Normalise."""
        self.check(inputs)
        return nn.layer_normalization(inputs, self._axes, self.spread(self.gamma), self.spread(self.beta), self.epsilon)


class GroupNormalization(Normalizing):
    """Normalise groups of channels of each example by their own mean and variance, then scale and shift.

    Y. Wu and K. He, "Group normalization", ECCV 2018.

    Args:
        groups: how many groups of channels there are; -1 or None for one for each channel.
        axis: the axis of the channels: the last one, or 1.
        Other arguments: see `Normalizing`.

    >>> import agog_core as ag
    >>> print(GroupNormalization(2, epsilon=0.0)(ag.constant([[1.0, 3.0, 0.0, 8.0]])))
    tf.Tensor([[-1.  1. -1.  1.]], shape=(1, 4), dtype=float32)
    """

    def __init__(
        self,
        groups: int | None = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            axis,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )
        self.groups = groups

    def build(self, input_shape: Any) -> None:
        """Make the variables; the number of channels must be known."""
        super().build(input_shape)
        groups = 1 if self.groups in (None, -1) else self.groups
        if self._axes not in ((1,), (self._rank - 1,)) or not groups or groups < 1 or self._sizes[0] % groups:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r}: axis {self.axis} of shape {TensorShape(input_shape)} must "
                f"be the last one or 1, and its channels must make {self.groups} groups of one size."
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Normalise."""
        self.check(inputs)
        groups = None if self.groups == -1 else self.groups
        gamma, beta = (None if weight is None else weight.value() for weight in (self.gamma, self.beta))
        layout = "NHWC" if self._axes[0] == self._rank - 1 else "NCHW"
        return nn.group_normalization(inputs, groups, gamma, beta, self.epsilon, layout)


class InstanceNormalization(GroupNormalization):
    """Normalise each channel of each example by its own mean and variance, then scale and shift.

    D. Ulyanov et al., "Instance normalization: the missing ingredient for fast stylization", arXiv:1607.08022, 2016.

    Args:
        axis: the axis of the channels: the last one, or 1.
        **kwargs: further arguments of `Normalizing`.

    >>> import agog_core as ag
    >>> print(InstanceNormalization(epsilon=0.0)(ag.constant([[[1.0], [3.0]]])))
    tf.Tensor(
    [[[-1.]
      [ 1.]]], shape=(1, 2, 1), dtype=float32)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        kwargs.pop("groups", None)  # a description has it
        super().__init__(None, axis, **kwargs)
