"""Padding: `padded_batch`, the stage that joins elements of different sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core import DType, Tensor, TensorShape, string
from agog_core.errors import DataLossError, InvalidArgumentError
from agog_core.tensors.convert import convert_to_tensor, from_host, host_value
from agog_data.elements import ComponentSpec, Element, components, packer, spec_of, tensor_components
from agog_data.stage import ElementIterator, Scope, Stage, UnaryStage
from agog_data.stages.batching import BatchIterator, batches_of
from agog_data.structures import flatten_up_to


class PaddedBatch(UnaryStage):
    """Consecutive elements, made equally large and joined along a new first axis."""

    def __init__(self, stage: Stage, batch_size: int, padding: Padding, drop_remainder: bool) -> None:
        super().__init__(stage)
        self._size = batch_size
        self._padding = padding
        self._drop_remainder = drop_remainder

    def cardinality(self) -> int:
        return batches_of(self.input.cardinality(), self._size, self._drop_remainder)

    def spec(self) -> Any:
        return self._padding.spec(self.input.spec(), self._size if self._drop_remainder else None)

    def sample(self, scope: Scope) -> Element:
        return self._padding.join([self.input.sample(scope)] * (self._size if self._drop_remainder else 1), 0)

    def iterate(self, scope: Scope) -> ElementIterator:
        elements = self.input.iterate(scope)
        return BatchIterator("padded_batch", elements, self._size, self._drop_remainder, self._padding.join)


class Padding:
    """To which shapes the components of elements are brought, and what fills them; both in the structure of an element.

    A shape is a `TensorShape`, a list or tuple of sizes, or a one-dimensional tensor of them, with None or -1 for the
    longest of each batch. A value is a scalar, or None for zero or the empty string.
    """

    def __init__(self, shapes: Any, values: Any) -> None:
        self._shapes = shapes
        self._values = values

    def spec(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of the batches. Raises ValueError if an element cannot have its padded shape, and TypeError if
        shapes or values do not have the structure or the dtypes of the elements."""
        parts = components(spec)
        for number, (part, target) in enumerate(zip(parts, self._components(spec), strict=True)):
            if not _compatible(part.shape, target.sizes):
                raise ValueError(
                    f"padded_batch: component {number} has shape {part.shape}, "
                    f"which cannot be padded to {TensorShape(target.sizes)}."
                )
        return packer(spec)(
            [ComponentSpec(target.dtype, TensorShape([batch_size, *target.sizes])) for target in self._components(spec)]
        )

    def join(self, elements: Sequence[Element], batch: int) -> Element:
        """Join elements along a new first axis.

        Raises TypeError if a component is no tensor, InvalidArgumentError if structures, dtypes or ranks differ,
        and DataLossError if an element is larger than its padded shape.
        """
        tensor_components("padded_batch", elements[0])
        form = spec_of(elements[0])
        targets = self._components(form)
        columns: Any = zip(*[_parts(form, element) for element in elements], strict=True)
        return packer(form)(
            [target.join(column, k, batch) for k, (target, column) in enumerate(zip(targets, columns, strict=True))]
        )

    def _components(self, spec: Any) -> list[ComponentPadding]:
        parts = components(spec)
        shapes = _longest(parts) if self._shapes is None else _up_to(spec, self._shapes, "padded_shapes")
        values = [None] * len(parts) if self._values is None else _up_to(spec, self._values, "padding_values")
        return [
            ComponentPadding(part.dtype, _sizes(shape), value)
            for part, shape, value in zip(parts, shapes, values, strict=True)
        ]


def _longest(parts: Sequence[ComponentSpec]) -> list[list[None]]:
    """Shapes as long as the longest of the batch in all axes."""
    for number, part in enumerate(parts):
        if part.shape.ndims is None:
            raise ValueError(
                f"padded_batch: nobody knows how many axes component {number} of the elements has; give padded_shapes."
            )
    return [[None] * len(part.shape) for part in parts]


class ComponentPadding:
    """The padding of one component: ``sizes`` has None for the longest, ``value`` is None for zero or the empty
    string."""

    def __init__(self, dtype: DType, sizes: list[int | None], value: Any) -> None:
        self.dtype = dtype
        self.sizes = sizes
        self.value = (b"" if dtype is string else 0) if value is None else _scalar(value, dtype)

    def join(self, column: Sequence[Tensor], component: int, batch: int) -> Tensor:
        """Join the tensors of one component."""
        for number, x in enumerate(column):
            self._check(x, f"component {component} of element {number} of batch {batch}")
        longest = [max(sizes) for sizes in zip(*[x._shape for x in column], strict=True)]
        shape = [most if size is None else size for size, most in zip(self.sizes, longest, strict=True)]
        joined = np.full((len(column), *shape), self.value, self.dtype.numpy_dtype)
        for row, x in zip(joined if shape else joined[:, np.newaxis], column, strict=True):
            row[tuple(map(slice, x._shape)) or 0] = x._host().reshape(x._shape)
        return from_host(joined, column[0]._table)

    def _check(self, x: Any, where: str) -> None:
        if x.dtype is not self.dtype:
            raise InvalidArgumentError(
                f"padded_batch: {where} has dtype {x.dtype.name}; element 0 has {self.dtype.name}. "
                "A batch needs equal dtypes."
            )
        if len(x._shape) != len(self.sizes):
            raise InvalidArgumentError(
                f"padded_batch: {where} has shape {x._shape}, but padded_shapes has {TensorShape(self.sizes)} for it, "
                f"which has {len(self.sizes)} axes. Padding keeps the number of axes."
            )
        if any(size is not None and size < given for size, given in zip(self.sizes, x._shape, strict=True)):
            raise DataLossError(
                f"padded_batch: {where} has shape {x._shape}, which is larger than its padded shape "
                f"{TensorShape(self.sizes)}. Use None for sizes that shall be the longest of each batch."
            )


def _compatible(shape: TensorShape, sizes: list[int | None]) -> bool:
    if shape.ndims is None:
        return True
    pairs = zip(shape.as_list(), sizes, strict=False)
    return shape.ndims == len(sizes) and all(given is None or size is None or given <= size for given, size in pairs)


def _up_to(form: Any, structure: Any, name: str) -> list[Any]:
    def unlike(expected: str, found: Any) -> Exception:
        return TypeError(
            f"padded_batch: {name} must have the structure of the elements, which have {expected}; got {found!r} there."
        )

    return flatten_up_to(form, structure, unlike)


def _parts(form: Any, element: Element) -> list[Any]:
    def unlike(expected: str, found: Any) -> Exception:
        return InvalidArgumentError(
            f"padded_batch: all elements of a batch must have one structure; where element 0 has {expected}, "
            f"another has {found!r}."
        )

    parts = flatten_up_to(form, element, unlike)
    for part in parts:
        if type(part) is not Tensor:
            raise unlike("a tensor", part)
    return parts


def _sizes(shape: Any) -> list[int | None]:
    if isinstance(shape, TensorShape):
        if shape.ndims is None:
            raise ValueError("padded_batch: a shape in padded_shapes must have a known number of axes.")
        return shape.as_list()
    if isinstance(shape, (list, tuple)) and all(size is None or hasattr(size, "__index__") for size in shape):
        sizes = [-1 if size is None else size.__index__() for size in shape]
    else:
        try:
            array = host_value(shape)
        except (TypeError, ValueError):
            array = np.array("")
        if array.ndim != 1 or not (array.dtype.kind in "iu" or array.size == 0):
            raise TypeError(
                "padded_batch: a shape in padded_shapes must be a TensorShape, a list of sizes or None, "
                f"or a one-dimensional integer tensor; got {shape!r}."
            )
        sizes = array.tolist()
    if any(size < -1 for size in sizes):
        raise ValueError(f"padded_batch: sizes in padded_shapes must be None or at least -1; got {sizes}.")
    return [None if size == -1 else size for size in sizes]


def _scalar(value: Any, dtype: DType) -> Any:
    try:
        tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else dtype)
    except (TypeError, ValueError, InvalidArgumentError) as error:
        raise TypeError(f"padded_batch: the padding value {value!r} is none for {dtype.name}: {error}") from error
    if tensor.dtype is not dtype:
        raise TypeError(
            f"padded_batch: the padding value has dtype {tensor.dtype.name}, but its component has {dtype.name}."
        )
    if tensor._shape:
        raise ValueError(f"padded_batch: a padding value must be a scalar; got shape {tensor._shape}.")
    return tensor.numpy()
