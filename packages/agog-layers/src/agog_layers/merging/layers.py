"""Layers from several tensors to one, elementwise or by concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_layers.arguments.checks import integers
from agog_layers.layer.layer import Layer

__all__ = ["Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"]


class Merge(Layer, supports_masking=True):
    """Base of layers that merge a list of tensors elementwise.

    Shapes are broadcast. Where one input has fewer axes, the missing ones come after the batch axis.
    """

    def build(self, input_shape: Any) -> None:
        """Check the shapes."""
        self.compute_output_shape(input_shape)
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        """Merge a list of tensors."""
        self.check(inputs)
        rank = max(len(x._shape) for x in inputs)
        same = [
            x if len(x._shape) == rank else ag.reshape(x, (*x._shape[:1], *[1] * (rank - len(x._shape)), *x._shape[1:]))
            for x in inputs
        ]
        return self.merged(same)

    def check(self, inputs: Any) -> None:
        """Raise a ValueError when the inputs, or their shapes, are not a list that is long enough."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            got = f"a list of {len(inputs)}" if isinstance(inputs, (list, tuple)) else "one tensor"
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} should be called on a list of at least 2 tensors; got "
                f"{got}."
            )

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Merge tensors of one rank; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__}.merged is not implemented; it merges the inputs.")

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        self.check(input_shape)
        shapes = [ag.TensorShape(shape).as_list() for shape in input_shape]
        rank = max(map(len, shapes))
        padded = [[*shape[:1], *[1] * (rank - len(shape)), *shape[1:]] for shape in shapes]
        merged = []
        for sizes in zip(*padded, strict=True):
            known = {size for size in sizes if size not in (None, 1)}
            if len(known) > 1:
                raise ValueError(
                    f"{type(self).__name__} layer {self.name!r}: inputs of shapes "
                    f"{', '.join(str(ag.TensorShape(shape)) for shape in shapes)} cannot be merged, since a size "
                    "must be the same for all, or 1."
                )
            merged.append(known.pop() if known else None if None in sizes else 1)
        return ag.TensorShape(merged)


class Add(Merge):
    """The sum of tensors.

    >>> import agog_core as ag
    >>> print(Add()([ag.constant([1.0]), ag.constant([2.0]), ag.constant([3.0])]))
    tf.Tensor([6.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        same = all(x._shape == inputs[0]._shape for x in inputs)
        return ag.add_n(inputs) if same and len(inputs) > 2 else reduce(ag.add, inputs)


class Subtract(Merge):
    """The difference of two tensors.

    >>> import agog_core as ag
    >>> print(Subtract()([ag.constant([1.0]), ag.constant([3.0])]))
    tf.Tensor([-2.], shape=(1,), dtype=float32)
    """

    def check(self, inputs: Any) -> None:
        super().check(inputs)
        if len(inputs) != 2:
            raise ValueError(f"{self._title} takes a list of 2 tensors; got a list of {len(inputs)}.")

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return ag.subtract(*inputs)


class Multiply(Merge):
    """The product of tensors, elementwise.

    >>> import agog_core as ag
    >>> print(Multiply()([ag.constant([2.0]), ag.constant([3.0])]))
    tf.Tensor([6.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(ag.multiply, inputs)


class Average(Merge):
    """The mean of tensors, elementwise.

    >>> import agog_core as ag
    >>> print(Average()([ag.constant([1.0]), ag.constant([2.0])]))
    tf.Tensor([1.5], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(ag.add, inputs) / len(inputs)


class Maximum(Merge):
    """The larger elements of tensors.

    >>> import agog_core as ag
    >>> print(Maximum()([ag.constant([1.0, 5.0]), ag.constant([2.0, 4.0])]))
    tf.Tensor([2. 5.], shape=(2,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(ag.maximum, inputs)


class Minimum(Merge):
    """The smaller elements of tensors.

    >>> import agog_core as ag
    >>> print(Minimum()([ag.constant([1.0, 5.0]), ag.constant([2.0, 4.0])]))
    tf.Tensor([1. 4.], shape=(2,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(ag.minimum, inputs)


class Concatenate(Merge):
    """Join tensors along an axis; all other sizes must be equal.

    Args:
        axis: the axis.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> Concatenate()([ag.zeros([2, 3]), ag.zeros([2, 5])]).shape
    TensorShape([2, 8])
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        (self.axis,) = integers(type(self).__name__, "axis", [axis])

    def call(self, inputs: Any) -> Tensor:
        """Join a list of tensors."""
        self.check(inputs)
        return ag.concat(inputs, self.axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The intersection of the inputs' masks; None if steps are joined."""
        return None if self.axis in (1, 1 - inputs[0].ndim) else super().compute_mask(inputs, mask)

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        self.check(input_shape)
        shapes = [ag.TensorShape(shape).as_list() for shape in input_shape]
        rank = len(shapes[0])
        axis = self.axis + rank if self.axis < 0 else self.axis
        sizes: list[set[int | None]] = [set(along) - {None} for along in zip(*shapes, strict=False)]
        fits = all(len(shape) == rank for shape in shapes) and 0 <= axis < rank
        if not fits or any(len(known) > 1 for place, known in enumerate(sizes) if place != axis):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} requires inputs with matching shapes except for the concat "
                f"axis {self.axis}; got {', '.join(str(ag.TensorShape(shape)) for shape in shapes)}."
            )
        joined = [known.pop() if known else None for known in sizes]
        parts = [shape[axis] for shape in shapes]
        joined[axis] = None if None in parts else sum(part for part in parts if part is not None)
        return ag.TensorShape(joined)


class Dot(Merge, supports_masking=False):
    """The dot products of two tensors along an axis of each, for each example.

    Args:
        axes: the axis of both tensors, or a pair; not the batch axis.
        normalize: whether both are divided by their lengths along the axis first, so that the output is the cosine.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(Dot(axes=1)([ag.constant([[1.0, 2.0]]), ag.constant([[3.0, 4.0]])]))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """

    def __init__(self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes = axes if isinstance(axes, int) else tuple(map(int, axes))
        if isinstance(self.axes, tuple) and len(self.axes) != 2:
            raise ValueError(f"{type(self).__name__}: axes must be an integer or two of them; got {axes!r}.")
        self.normalize = normalize

    def check(self, inputs: Any) -> None:
        super().check(inputs)
        if len(inputs) != 2:
            raise ValueError(f"{self._title} takes a list of 2 tensors; got a list of {len(inputs)}.")

    def _axes(self, ranks: tuple[int, int]) -> list[int]:
        chosen = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        return [axis + rank if axis < 0 else axis for axis, rank in zip(chosen, ranks, strict=True)]

    def call(self, inputs: Any) -> Tensor:
        """Multiply a list of two tensors: the first one's axes come first, without those summed over."""
        self.check(inputs)
        shape = self.compute_output_shape([x._shape for x in inputs])
        axes = self._axes((len(inputs[0]._shape), len(inputs[1]._shape)))
        matrices = []
        for x, axis in zip(inputs, axes, strict=True):
            part = ag.nn.l2_normalize(x, axis) if self.normalize else x
            rest = [place for place in range(1, len(x._shape)) if place != axis]
            last = ag.transpose(part, (0, *rest, axis))
            matrices.append(ag.reshape(last, (x._shape[0], -1, x._shape[axis])))
        return ag.reshape(ag.matmul(matrices[0], matrices[1], transpose_b=True), shape)

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        self.check(input_shape)
        one, two = (ag.TensorShape(shape).as_list() for shape in input_shape)
        first, second = self._axes((len(one), len(two)))
        in_range = 0 < first < len(one) and 0 < second < len(two)
        if not in_range or (None not in (one[first], two[second]) and one[first] != two[second]):
            raise ValueError(
                f"{self._title}: inputs of shapes {ag.TensorShape(one)} and {ag.TensorShape(two)} have no axes "
                f"{self.axes} of one size beside the batch's."
            )
        rest = [size for axis, size in enumerate(one) if axis not in (0, first)]
        rest += [size for axis, size in enumerate(two) if axis not in (0, second)]
        return ag.TensorShape([one[0], *(rest or [1])])
