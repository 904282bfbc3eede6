"""Embedding: lookups of rows of a table by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agog_core import Tensor, TensorShape, Variable, cast, dtypes, gather, not_equal
from agog_layers.arguments.checks import one_for_each
from agog_layers.calls.masks import with_mask
from agog_layers.layer.layer import Layer
from agog_layers.weights import constraints, initializers, regularizers

__all__ = ["Embedding"]


class Embedding(Layer, single_input=True, supports_masking=True):
    """Turn numbers into vectors: rows of a table that is trained. The gradient of the table is `IndexedSlices`.

    Args:
        input_dim: how many rows the table has; numbers are from 0 to ``input_dim - 1``.
        output_dim: how long a row is.
        embeddings_initializer: an initializer of the table or its name.
        embeddings_regularizer: a function of the table for `losses`, or its name.
        activity_regularizer: a function of the output, or its name, for `losses`.
        embeddings_constraint: a function that optimizers apply to the table after each update, or its name.
        mask_zero: whether 0 stands for padding, of which `compute_mask` tells.
        input_length: how many numbers an example has; None for any.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: a size is not above 0.

    >>> import agog_core as ag
    >>> layer = Embedding(1000, 64)
    >>> layer(ag.constant([[4, 10, 2]])).shape
    TensorShape([1, 3, 64])
    """

    computes_in: ClassVar[str | None] = "variable_dtype"  # rows are cast, not the whole table

    embeddings: Variable

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: int | Sequence[int | None] | None = None,
        **kwargs: Any,
    ) -> None:
        if input_length is not None and "batch_input_shape" not in kwargs:
            kwargs.setdefault("input_shape", input_length if isinstance(input_length, Sequence) else (input_length,))
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._dtype = self._dtype or dtypes.float32  # and not that of the numbers
        (self.input_dim,) = one_for_each(type(self).__name__, "input_dim", input_dim, 1)
        (self.output_dim,) = one_for_each(type(self).__name__, "output_dim", output_dim, 1)
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        """Make the table."""
        self.embeddings = self._add_configured("embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Look up rows, of shape (*inputs.shape, output_dim); an InvalidArgumentError if a number is out of range.

        Numbers that are not integers are rounded toward zero.
        """
        numbers = inputs if inputs.dtype in (dtypes.int32, dtypes.int64) else cast(inputs, dtypes.int32)
        return with_mask(gather(self.embeddings.value(), numbers), self.compute_mask(inputs))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """Which numbers are no padding: booleans of the input's shape; None without ``mask_zero``."""
        return not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """See `Layer.compute_output_shape`; ``input_length`` is in the place of what is unknown.

        A ValueError says that the input has another length.
        """
        shape = TensorShape(input_shape)
        if self.input_length is not None:
            lengths = self.input_length if isinstance(self.input_length, Sequence) else [self.input_length]
            wanted = TensorShape([None, *lengths])
            if not shape.is_compatible_with(wanted):
                raise ValueError(
                    f"Embedding layer {self.name!r} has input_length {self.input_length}; got an input of shape "
                    f"{shape}."
                )
            known = zip(shape.as_list(), wanted.as_list(), strict=True)
            shape = TensorShape([other if size is None else size for size, other in known])
        return TensorShape([*shape, self.output_dim])
