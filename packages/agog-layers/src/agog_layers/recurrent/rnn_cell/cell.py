"""RNNCell: the base of the cells."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, TensorShape, Variable
from agog_layers import activations
from agog_layers.arguments.checks import integer
from agog_layers.layer.layer import Layer
from agog_layers.recurrent.cell import initial_state

__all__ = ["RNNCell"]


class RNNCell(Layer):
    """Base of cells: one step, from inputs and a state to an output and the new state.

    Subclasses have ``state_size``, ``output_size``, and ``call(inputs, state)``.

    Args:
        trainable: whether the variables are trained.
        name: the cell's name.
        dtype: the dtype of the variables; by default that of the first input.
        **kwargs: further arguments of `Layer`.

    >>> cell = RNNCell()
    >>> cell.state_size
    Traceback (most recent call last):
    NotImplementedError: RNNCell has no `state_size`: a subclass says the size of its state, or a structure of sizes.
    """

    described_kind: ClassVar[str] = "rnn_cell"

    # Arguments of TensorFlow 1 that change nothing.
    reuse: ClassVar[None] = None
    num_unit_shards: ClassVar[None] = None
    num_proj_shards: ClassVar[None] = None

    # In `agog_layers.RNN`: the state is not put into a list.
    takes_bare_state: ClassVar[bool] = True

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(trainable, name, dtype, **kwargs)

    def _kept_as(self, name: str) -> Any:
        return vars(self).get(f"_{name}", ...) if (found := super()._kept_as(name)) is ... else found

    @property
    def state_size(self) -> Any:
        """The size of the state, or a structure of sizes."""
        raise NotImplementedError(
            f"{type(self).__name__} has no `state_size`: a subclass says the size of its state, or a structure of "
            "sizes."
        )

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError(
            f"{type(self).__name__} has no `output_size`: a subclass says the size of its output."
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: zeros.

        Args:
            batch_size: the batch size.
            dtype: the dtype.

        Returns:
            Tensors of shape (batch, size), in the structure of ``state_size``.
        """
        return initial_state(self.state_size, batch_size=batch_size, dtype=dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """See `zero_state`; batch size and dtype are those of inputs, or given."""
        return initial_state(self.state_size, inputs, batch_size, dtype)

    def run(self, x: Tensor, state: Any, mask: Tensor | None) -> Any:
        """Run over a whole sequence by one op; see `dynamic_rnn`. None if there is none for the cell as it was made.

        Of a sequence of shape (time, batch, features) come the outputs of all times, of shape (time, batch, size), and
        the last state. The mask is None or booleans of shape (time, batch): where False, the state stays what it is.
        """
        return None

    def _features(self, input_shape: Any) -> int:
        """The number of features of an input."""
        shape = TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 1 or shape[-1] is None:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} takes inputs of shape (batch, features) with known features; got "
                f"shape {shape}."
            )
        return int(shape[-1])

    def _check_width(self, inputs: Tensor, kernel: Variable) -> None:
        """Raise when an input does not fit the kernel, which takes the output of the last step beside it."""
        features = int(kernel.shape[0] or 0) - int(self.output_size)
        if inputs.ndim != 2 or inputs.shape[-1] != features:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} takes inputs of shape (batch, {features}); got shape "
                f"{inputs.shape}."
            )


def checked_units(cell: RNNCell, units: Any) -> int:
    """The number of units of a cell; an error if it is not an integer above 0."""
    return integer(type(cell).__name__, "num_units", units)


def is_tanh(activation: Any) -> bool:
    """Whether an activation function is the hyperbolic tangent, which fused ops know."""
    return activation is activations.get("tanh")
