"""Cells: one step of a recurrent layer, from inputs and states to an output and new states."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, TensorShape, Variable, concat, nest, nn, ones_like, split, zeros
from agog_core.ops.nn.fused import matmul_bias
from agog_core.ops.nn.recurrent import ACTIVATIONS
from agog_layers import activations
from agog_layers.arguments.checks import integer
from agog_layers.calls.learning_phase import trains
from agog_layers.layer.checks import check_dtype
from agog_layers.layer.layer import Layer
from agog_layers.serialization.memory_limit import allowance
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["Cell", "initial_state"]

# The activation functions that fused ops know.
_FUSED = {id(activations.get(name)): name for name in ACTIVATIONS}


class Cell(Layer):
    """Base of the cells of `SimpleRNN`, `GRU` and `LSTM`: two kernels and a bias, for one or several gates.

    Args:
        units: the number of outputs.
        kernel_initializer: an initializer of the inputs' kernel, or its name.
        recurrent_initializer: an initializer of the state's kernel, or its name.
        recurrent_regularizer: a function of the recurrent kernel for `losses`, or its name.
        recurrent_constraint: a function that optimizers apply to the recurrent kernel after each update, or its
            name.
        dropout: the share of the inputs that is dropped while training; the same ones at all times.
        recurrent_dropout: the share of the state that is dropped while training.
        Other arguments: see `Dense`.

    Raises:
        ValueError: ``units`` is not above 0.
    """

    # How many parts the kernels have.
    gates: ClassVar[int] = 1

    kernel: Variable
    recurrent_kernel: Variable
    bias: Variable | None
    # Which elements are dropped until the next reset: of the inputs and of the state, for each gate.
    _dropout_masks: dict[str, list[Tensor]]

    def __init__(
        self,
        units: int,
        activation: str | activations.Activation | None = "tanh",
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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = integer(type(self).__name__, "units", units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.recurrent_constraint = constraints.get(recurrent_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        vars(self)["_dropout_masks"] = {}  # past __setattr__, since it is no part that a checkpoint saves

    @property
    def state_size(self) -> Any:
        """The size of the state, or a list of sizes."""
        return self.units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self.units

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        features = self._features(TensorShape(input_shape))
        if features is None:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} takes inputs with known features; got shape {input_shape}."
            )
        shape, recurrent_shape = self._kernel_shapes(features)
        self.kernel = self._add_configured("kernel", shape)
        self.recurrent_kernel = self._add_configured("recurrent_kernel", recurrent_shape)
        self.bias = None
        if self.use_bias:
            self.bias = self._add_configured("bias", self._bias_shape(), initializer=self._initial_bias)
        self.built = True

    def _features(self, shape: TensorShape) -> Any:
        """The number of features of an input."""
        return shape[-1]

    def _kernel_shapes(self, features: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of both kernels."""
        width = self.gates * self.units
        return (features, width), (self.units, width)

    def _transformed(self, x: Tensor, kernel: Tensor, which: str) -> Tensor:
        """The product with a kernel, or a part of it."""
        return x @ kernel

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.gates * self.units,)

    def _initial_bias(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        biases: Tensor = self.bias_initializer(shape, dtype=dtype)
        return biases

    def fused_bias(self) -> Tensor:
        """The bias as the fused ops take it; zeros if there is none."""
        return zeros(self._bias_shape(), self.kernel.dtype) if self.bias is None else self.bias.value()

    def get_initial_state(self, inputs: Any = None, batch_size: int | None = None, dtype: Any = None) -> Any:
        """The states before the first step: zeros of shape (batch, units).

        Batch size and dtype are those of the inputs, or as given.
        """
        return initial_state(self.state_size, inputs, batch_size, dtype)

    def check_input(self, layer: Layer, inputs: Tensor) -> None:
        """Raise an error when sequences are not of shape (batch, time, features), or not of the kernel's dtype.

        It names the layer that runs the cell.
        """
        features = self.kernel.shape[0]
        if inputs.ndim != 3 or inputs.shape[-1] != features:
            raise ValueError(
                f"{type(layer).__name__} layer {layer.name!r} takes inputs of shape (batch, time, {features}); got "
                f"shape {inputs.shape}."
            )
        check_dtype(layer, inputs, self.kernel)

    def run(self, x: Tensor, states: list[Tensor], mask: Tensor | None, training: Any) -> Any:
        """Run over a whole sequence by one op; None if there is none for the cell as it was made.

        From a sequence of shape (time, batch, features), and booleans of shape (time, batch) or None as a mask, to all
        outputs, of shape (time, batch, units), and the last states.
        """
        return None

    def _is_plain(self, base: type[Cell], training: Any) -> bool:
        """Whether this cell does what a class of cells does, and drops nothing."""
        drops = self.dropout or self.recurrent_dropout
        return type(self).call is base.call and not (drops and trains(training))

    def _fused_names(self, base: type[Cell], training: Any) -> dict[str, str] | None:
        """The names of the activation functions, if the fused op of a class of cells does what this cell does."""
        if not self._is_plain(base, training):
            return None
        chosen = {"activation": self.activation, "recurrent_activation": getattr(self, "recurrent_activation", None)}
        names = {key: _FUSED.get(id(function)) for key, function in chosen.items()}
        return None if None in names.values() else names  # type: ignore[return-value]  # None was looked for

    def reset_dropout_mask(self) -> None:
        """Drop other elements of the inputs from now on."""
        self._dropout_masks.pop("dropout", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Drop other elements of the state from now on."""
        self._dropout_masks.pop("recurrent_dropout", None)

    def _dropped(self, x: Tensor, which: str, training: Any) -> list[Tensor] | None:
        """The tensor as each gate sees it, with other elements dropped; None if none are."""
        rate = getattr(self, which)
        if not rate or not trains(training):
            return None
        if which not in self._dropout_masks:
            self._dropout_masks[which] = [nn.dropout(ones_like(x), rate=rate) for _ in range(self.gates)]
        return [x * mask for mask in self._dropout_masks[which]]

    def _product(self, x: Tensor, kernel: Tensor, which: str, training: Any) -> Tensor:
        """The product with a kernel, each part of which sees other elements dropped while training."""
        dropped = self._dropped(x, which, training)
        if dropped is None:
            return self._transformed(x, kernel, which)
        parts = split(kernel, self.gates, axis=-1)
        return concat([self._transformed(*each, which) for each in zip(dropped, parts, strict=True)], axis=-1)

    def _product_and_bias(self, x: Tensor, kernel: Tensor, bias: Tensor, which: str, training: Any) -> Tensor:
        """The same and a bias, as one op where nothing is dropped of rows."""
        drops = getattr(self, which) and trains(training)
        if drops or x.ndim != 2 or not kernel.dtype.is_floating:
            return self._product(x, kernel, which, training) + bias
        return matmul_bias(x, kernel, bias)


def initial_state(state_size: Any, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
    """Zeros of shape (batch, size), in the structure of the sizes; batch size and dtype are those of inputs, or given.

    >>> initial_state([2, 3], batch_size=1, dtype="float32")[1].shape
    TensorShape([1, 3])
    """
    count = int(batch_size) if inputs is None else inputs.shape[0]
    kind = dtype if inputs is None else inputs.dtype

    def zero(size: Any) -> Tensor:
        sizes = [count, *(size if isinstance(size, TensorShape) else [int(size)])]
        allowance.get().check("a state", lambda: [TensorShape(sizes)])
        return zeros(sizes, kind)

    return zero(state_size) if isinstance(state_size, TensorShape) else nest.map_structure(zero, state_size)
