"""Dense: a fully connected layer."""

from __future__ import annotations

import math
from typing import Any

from agog_core import Tensor, TensorShape, Variable, add, matmul, reshape
from agog_core.errors import InvalidArgumentError
from agog_core.ops.nn.fused import matmul_bias
from agog_layers import activations
from agog_layers.activations.lookup import fused
from agog_layers.arguments.checks import integer
from agog_layers.layer.checks import check_dtype
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["Dense"]


class Dense(Layer, supports_masking=True, single_input=True, needs_floats=True):
    """``activation(inputs @ kernel + bias)`` along the last axis.

    Args:
        units: the number of outputs.
        activation: a function or its name; None for the identity.
        use_bias: whether there is a bias.
        kernel_initializer: an initializer or its name; None for ``"glorot_uniform"``.
        bias_initializer: an initializer or its name.
        kernel_regularizer: a function of the kernel for `losses`, or its name.
        bias_regularizer: a function of the bias for `losses`, or its name.
        activity_regularizer: a function of the output for `losses`, or its name.
        kernel_constraint: a function that optimizers apply to the kernel after each update, or its name.
        bias_constraint: a function that optimizers apply to the bias after each update, or its name.
        trainable: whether the variables are trained.
        name: the layer's name.
        **kwargs: further arguments of `Layer`.

    Raises:
        TypeError: ``units`` is not an integer.
        ValueError: ``units`` is not above 0.

    >>> import agog_core as ag
    >>> layer = Dense(2, kernel_initializer="ones")
    >>> print(layer(ag.constant([[1.0, 2.0]])))
    tf.Tensor([[3. 3.]], shape=(1, 2), dtype=float32)
    >>> layer.kernel.shape, layer.bias.shape
    (TensorShape([2, 2]), TensorShape([2]))
    """

    kernel: Variable
    bias: Variable | None

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = integer(type(self).__name__, "units", units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer or "glorot_uniform")
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 2 or shape[-1] is None:
            raise ValueError(
                f"{self._title} takes inputs of shape (batch, ..., features) with known features; got shape {shape}."
            )
        self.kernel = self._add_configured("kernel", (shape[-1], self.units))
        self.bias = None
        if self.use_bias:
            self.bias = self._add_configured("bias", (self.units,))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Compute outputs of shape (..., units) for inputs of shape (..., features)."""
        # Functions, not operators, which would make a small layer 6 % slower.
        kernel, activation, shape = self.kernel.value(), self.activation, inputs._shape
        if len(shape) > 2:  # one product of matrices is faster than a batch of them, forward and backward
            self._check_input(inputs)
            inputs = reshape(inputs, (math.prod(size or 0 for size in shape[:-1]), shape[-1]))
        try:
            if self.bias is None:
                outputs = matmul(inputs, kernel)
            elif kernel.dtype.is_floating:
                name = fused(activation)
                outputs = matmul_bias(inputs, kernel, self.bias.value(), name)
                activation = activations.linear if name != "linear" else activation
            else:
                outputs = add(matmul(inputs, kernel), self.bias.value())
        except InvalidArgumentError:
            self._check_input(inputs)
            raise
        if len(shape) > 2:
            outputs = reshape(outputs, (*shape[:-1], self.units))
        return outputs if activation is activations.linear else activation(outputs)

    def _check_input(self, inputs: Tensor) -> None:
        features = self.kernel.shape[0]
        if inputs.ndim < 2 or inputs.shape[-1] != features:
            raise ValueError(f"{self._title} takes inputs of shape (batch, ..., {features}); got shape {inputs.shape}.")
        check_dtype(self, inputs, self.kernel)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 2 or shape.as_list()[-1] is None:
            raise ValueError(
                f"{self.name}: the input shape must have at least 2 axes, the last one of a known size; got {shape}."
            )
        return TensorShape([*shape[:-1], self.units])
