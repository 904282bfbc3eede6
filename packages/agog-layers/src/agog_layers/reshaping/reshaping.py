"""Reshaping: layers that rearrange or repeat the elements of each example, and `Lambda`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core import Tensor, TensorShape, expand_dims, reshape, tile, transpose
from agog_layers.arguments.checks import integer, integers, shown
from agog_layers.calls.input_shapes import each_shape, is_list_of_shapes
from agog_layers.layer.layer import Layer

__all__ = ["Lambda", "Permute", "RepeatVector", "Reshape"]


class Reshape(Layer, single_input=True):
    """Give each example another shape.

    Args:
        target_shape: the shape without the batch axis; one size may be -1: what is left over.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> Reshape((-1, 2))(ag.zeros([5, 6])).shape
    TensorShape([5, 3, 2])
    """

    def __init__(self, target_shape: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = integers(type(self).__name__, "target_shape", target_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Make a tensor of shape (batch, *target_shape); a ValueError if the number of elements does not fit."""
        return reshape(inputs, (inputs._shape[0], *self._completed(inputs.shape[1:])))

    def _completed(self, shape: TensorShape) -> tuple[int | None, ...]:
        """The target for examples of a shape, with a size in the place of -1."""
        known = math.prod(size for size in self.target_shape if size != -1)
        count = shape.num_elements()
        rest = None if count is None else count // known if known else 0
        unknown = self.target_shape.count(-1)
        if unknown > 1 or (count is not None and count != known * (rest or 0 if unknown else 1)):
            raise ValueError(f"{self._title} cannot give examples of shape {shape} the shape {self.target_shape}.")
        return tuple([rest if size == -1 else size for size in self.target_shape])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        return TensorShape([shape[0], *self._completed(shape[1:])])


class Permute(Layer, single_input=True):
    """Order the axes of each example in another way.

    Args:
        dims: for each axis of the output the number of the input's, from 1 on: the batch axis stays where it is.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``dims`` are not the numbers from 1 on, in any order.

    >>> import agog_core as ag
    >>> Permute((2, 1))(ag.zeros([5, 3, 4])).shape
    TensorShape([5, 4, 3])
    """

    def __init__(self, dims: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = integers(type(self).__name__, "dims", dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"{type(self).__name__}: Invalid permutation {self.dims}: dims must be the numbers from 1 to "
                f"{len(self.dims)} in any order."
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Transpose the examples; a ValueError if there are not as many axes as ``dims``."""
        self._check(inputs._shape)
        return transpose(inputs, (0, *self.dims))

    def _check(self, shape: Any) -> None:
        if len(shape) != len(self.dims) + 1:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs of rank {len(self.dims) + 1} (batch, and dims "
                f"{self.dims}); got shape {shape}."
            )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        self._check(shape)
        return TensorShape([shape[axis] for axis in (0, *self.dims)])


class RepeatVector(Layer, single_input=True):
    """Repeat a vector for each example.

    Args:
        n: how often.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> RepeatVector(3)(ag.zeros([5, 4])).shape
    TensorShape([5, 3, 4])
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = integer(type(self).__name__, "n", n)

    def call(self, inputs: Tensor) -> Tensor:
        """Make (batch, n, features) of (batch, features); a ValueError if the input is not of rank 2."""
        self._check(inputs._shape)
        return tile(expand_dims(inputs, 1), (1, self.n, 1))

    def _check(self, shape: Any) -> None:
        if len(shape) != 2:
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} takes inputs of shape (batch, features); got shape {shape}."
            )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        self._check(shape)
        return TensorShape([shape[0], self.n, shape[1]])


class Lambda(Layer):
    """Run a function.

    Args:
        function: a function of the inputs. Variables that it reads belong to whoever made them, not to the layer.
        output_shape: the output's shape without the batch axis, or a list of those of several outputs, or a function of
            the input's shape; None to find it out by a run.
        mask: the output's mask, or a function of the inputs and their mask that returns it; None for no mask.
        arguments: further arguments of the function, by name.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(Lambda(lambda x: x * x)(ag.constant([3.0])))
    tf.Tensor([9.], shape=(1,), dtype=float32)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not callable(function):
            raise TypeError(f"Lambda: function must be a function; got {shown(function)}.")
        self.function = function
        self.output_shape = output_shape
        self.mask = mask
        self.arguments = dict(arguments or {})

    def call(self, inputs: Any) -> Any:
        """Run the function."""
        return self.function(inputs, **self.arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask from the constructor's argument ``mask``."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        if self.output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self.output_shape):
            told = self.output_shape(input_shape)
            return [TensorShape(shape) for shape in told] if is_list_of_shapes(told) else TensorShape(told)
        batch = each_shape(input_shape)[0][0]
        if is_list_of_shapes(self.output_shape):
            return [TensorShape([batch, *shape]) for shape in self.output_shape]
        return TensorShape([batch, *self.output_shape])
