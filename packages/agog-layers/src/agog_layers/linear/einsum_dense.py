"""Einsum dense: a fully connected layer along any axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, TensorShape, Variable, einsum
from agog_layers import activations
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["EinsumDense"]

# Letters for the axes that an ellipsis stands for.
_SPARE = "ZYXWVUTSRQPONMLKJIHGFEDCBA"


class EinsumDense(Layer, single_input=True, needs_floats=True):
    """``activation(einsum(equation, inputs, kernel) + bias)``.

    Args:
        equation: the axes of the inputs, the kernel and the output, such as ``"ab,bc->ac"``; an ellipsis may stand for
            the first or last ones of inputs and output.
        output_shape: the sizes of the output without the batch's, one for each axis that the equation names; None for
            one that the input has.
        activation: a function or its name; None for the identity.
        bias_axes: the letters of the output's axes along which a bias differs; None for no bias.
        kernel_initializer: an initializer or its name.
        bias_initializer: an initializer or its name.
        kernel_regularizer: a function of the kernel for `losses`, or its name.
        bias_regularizer: a function of the bias for `losses`, or its name.
        activity_regularizer: a function of the output for `losses`, or its name.
        kernel_constraint: a function that optimizers apply to the kernel after each update, or its name.
        bias_constraint: a function that optimizers apply to the bias after each update, or its name.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the equation is not of this form, or does not fit to the shapes.

    >>> import agog_core as ag
    >>> layer = EinsumDense("abc,cd->abd", output_shape=(None, 64), bias_axes="d")
    >>> layer(ag.zeros([2, 5, 32])).shape, layer.kernel.shape
    (TensorShape([2, 5, 64]), TensorShape([32, 64]))
    """

    kernel: Variable
    bias: Variable | None = None

    def __init__(
        self,
        equation: str,
        output_shape: int | Sequence[int | None],
        activation: Any = None,
        bias_axes: str | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.equation = equation
        self.partial_output_shape = [output_shape] if isinstance(output_shape, int) else list(output_shape)
        self.activation: activations.Activation = activations.get(activation)
        self.bias_axes = bias_axes
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self._parts()

    def _described(self, name: str) -> Any:
        # The attribute of that name is the whole shape, known from the first call on a symbolic value.
        return super()._described("partial_output_shape" if name == "output_shape" else name)

    def _parts(self) -> tuple[str, str, str]:
        """The axes of the inputs, the kernel and the output."""
        terms, arrow, output = self.equation.replace(" ", "").partition("->")
        inputs, comma, kernel = terms.partition(",")
        if not (arrow and comma and inputs and kernel and output) or "." in kernel or "," in kernel:
            raise ValueError(
                f"EinsumDense: equation must be of the form 'ab,bc->ac', the kernel without an ellipsis; got "
                f"{self.equation!r}."
            )
        return inputs, kernel, output

    def _sizes(self, input_shape: Any) -> tuple[dict[str, int | None], str, str]:
        """The size of each axis, and the axes of inputs and output without an ellipsis."""
        inputs, kernel, output = self._parts()
        count = len(input_shape) - len(inputs.replace("...", ""))
        if count < 0 or ("..." not in inputs and count):
            raise ValueError(
                f"{self._title}: the equation {self.equation!r} is not for an input of shape "
                f"{TensorShape(input_shape)}."
            )
        spare = "".join(letter for letter in _SPARE if letter not in self.equation)[:count]
        inputs, output = inputs.replace("...", spare), output.replace("...", spare)
        sizes: dict[str, int | None] = dict(zip(inputs, TensorShape(input_shape).as_list(), strict=True))
        named = [axis for axis in output if axis not in spare]
        first = named[len(named) - len(self.partial_output_shape) :]
        for axis, size in zip(first, self.partial_output_shape, strict=False):
            if size is not None and sizes.setdefault(axis, size) not in (size, None):
                raise ValueError(
                    f"{self._title}: axis {axis!r} of the equation {self.equation!r} has size {sizes[axis]} in the "
                    f"input and {size} in output_shape."
                )
        unknown = [axis for axis in kernel if sizes.get(axis) is None]
        if unknown:
            raise ValueError(
                f"{self._title}: the size of axis {unknown[0]!r} of the kernel is not known; the equation is "
                f"{self.equation!r}, the input of shape {TensorShape(input_shape)}, output_shape "
                f"{tuple(self.partial_output_shape)}."
            )
        return sizes, inputs, output

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        sizes, _, output = self._sizes(input_shape)
        self.kernel = self._add_configured("kernel", [sizes[axis] for axis in self._parts()[1]])
        if self.bias_axes is not None:
            strange = [axis for axis in self.bias_axes if axis not in output]
            if strange:
                raise ValueError(f"{self._title}: bias_axes {self.bias_axes!r} must be axes of the output {output!r}.")
            first = min(output.index(axis) for axis in self.bias_axes)
            places = [sizes[axis] if axis in self.bias_axes else 1 for axis in output[first:]]
            self.bias = self._add_configured("bias", places)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Compute the product, add the bias and run the activation."""
        _, given, output = self._sizes(inputs._shape)
        outputs = einsum(f"{given},{self._parts()[1]}->{output}", inputs, self.kernel.value())
        return self.activation(outputs if self.bias is None else outputs + self.bias.value())

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes, _, output = self._sizes(TensorShape(input_shape))
        return TensorShape([sizes.get(axis) for axis in output])
