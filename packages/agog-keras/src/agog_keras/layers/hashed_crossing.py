"""Hashed crossing: a layer from combinations of categories to hashed numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, cast, convert_to_tensor, one_hot, reshape
from agog_keras.feature_columns.crossing import CrossedColumn
from agog_keras.feature_columns.features import Features
from agog_layers.arguments.checks import choice, integer
from agog_layers.arguments.signature import NOT_GIVEN
from agog_layers.layer.layer import Layer

__all__ = ["HashedCrossing"]


class HashedCrossing(Layer):
    """Make numbers of the combinations of categories, by a hash; several may get one number. See `crossed_column`.

    Args:
        num_bins: how many numbers there are.
        output_mode: ``"int"``, or ``"one_hot"`` for vectors.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the mode is another, or the inputs are not two or more of shape (batch,) or (batch, 1).

    >>> layer = HashedCrossing(5)
    >>> layer((["A", "B"], [101, 102])).shape
    TensorShape([2])
    """

    computes_in: ClassVar[str | None] = "variable_dtype"

    def __init__(self, num_bins: int, output_mode: str = "int", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_bins = integer("HashedCrossing", "num_bins", num_bins)
        self.output_mode = choice("HashedCrossing", "output_mode", output_mode, ("int", "one_hot"))

    def __call__(self, inputs: Any = NOT_GIVEN, *args: Any, **kwargs: Any) -> Any:
        """See `Layer.__call__`; lists among the inputs are tensors."""
        is_list = isinstance(inputs, (list, tuple)) and len(inputs) > 1
        return super().__call__([_tensor(each) for each in inputs] if is_list else inputs, *args, **kwargs)

    def call(self, inputs: Any) -> Tensor:
        """Find the numbers, of shape (batch,) or (batch, 1) as the inputs."""
        shapes = [list(each._shape) for each in inputs] if isinstance(inputs, (list, tuple)) else []
        if len(shapes) < 2 or any(len(shape) > 2 or shape[1:] not in ([], [1]) for shape in shapes):
            raise ValueError(
                f"{self._title}: inputs must be two or more of shape (batch,) or (batch, 1); got "
                f"{shapes or type(inputs).__name__}."
            )
        keys = tuple(str(number) for number in range(len(shapes)))
        columns = {key: reshape(each, [-1, 1]) for key, each in zip(keys, inputs, strict=True)}
        crossed = CrossedColumn(keys, self.num_bins, None).categories(Features(self._title, columns))
        numbers = reshape(crossed.ids, shapes[0])
        if self.output_mode == "int":
            return numbers
        return cast(one_hot(reshape(numbers, shapes[0][:1]), self.num_bins), "float32")


def _tensor(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (list, tuple)) else value
