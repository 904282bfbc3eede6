"""Sources: tables of elements in host memory, cut into rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from agog_core import as_dtype, dtypes
from agog_core.dispatch.devices.device import Device
from agog_core.shapes import TensorShape, intern_shape
from agog_core.tensors.convert import from_host
from agog_core.tensors.host_array import host_array
from agog_core.tensors.tensor import Tensor, wrap
from agog_data.elements import ComponentSpec, Element, components, map_components, packer

Array = np.ndarray[Any, Any]

# The number of elements of sources that never end.
ENDLESS = 2**62


class Source(ABC):
    """A table of ``count`` elements in host memory; ``spec`` is the structure of one."""

    def __init__(self, spec: Any, count: int) -> None:
        self.spec = spec
        self.count = count

    @abstractmethod
    def row(self, number: int) -> list[Array]:
        """The components of one row: C-contiguous arrays that nobody writes."""

    def columns(self, numbers: list[int]) -> list[list[Array]]:
        """For each component, a list of what `row` gives for it in these rows."""
        return list(map(list, zip(*map(self.row, numbers), strict=True)))

    @abstractmethod
    def gather(self, numbers: Array) -> list[Array]:
        """The components of several rows, joined along a new first axis: C-contiguous arrays that nobody writes. The
        row numbers are int64 of shape (n,)."""


class ArraySource(Source):
    """The slices, along the first axis, of arrays of one length that the source owns, in the structure of an
    element."""

    def __init__(self, structure: Any) -> None:
        self._columns: list[Array] = components(structure)
        for column in self._columns:
            column.flags.writeable = False
        super().__init__(map_components(_row_spec, structure), len(self._columns[0]))

    def row(self, number: int) -> list[Array]:
        return [column[number, ...] for column in self._columns]

    def columns(self, numbers: list[int]) -> list[list[Array]]:
        return [[column[number, ...] for number in numbers] for column in self._columns]

    def gather(self, numbers: Array) -> list[Array]:
        count = len(numbers)
        # Neighbours in order are a view. The first comparison is enough to see that nearly every other choice is none.
        if count and numbers[-1] - numbers[0] == count - 1 and bool((np.diff(numbers) == 1).all()):
            return [column[numbers[0] : numbers[0] + count] for column in self._columns]
        return [column.take(numbers, 0) for column in self._columns]


def _row_spec(column: Array) -> ComponentSpec:
    return ComponentSpec(as_dtype(column.dtype), TensorShape(column.shape[1:]))


class RangeSource(Source):
    """Evenly spaced int64 numbers, none of which is stored."""

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers
        super().__init__(ComponentSpec(dtypes.int64, TensorShape([])), len(numbers))

    def row(self, number: int) -> list[Array]:
        return [np.array(self._numbers[number], np.int64)]

    def gather(self, numbers: Array) -> list[Array]:
        return [self._numbers.start + self._numbers.step * numbers]


class Reader:
    """Makes elements of a source's rows, on a device."""

    def __init__(self, source: Source, device: Device) -> None:
        self._source = source
        specs = components(source.spec)
        self._tables = [device.table(component.dtype) for component in specs]
        self._shapes = [intern_shape(tuple(component.shape.as_list())) for component in specs]
        self._pack = packer(source.spec)

    def row(self, number: int) -> Element:
        """One row."""
        return self.rows([number])[0]

    def rows(self, numbers: list[int]) -> list[Element]:
        """Several rows."""
        columns = [
            [wrap(table.device.from_host(part), table, shape) for part in column]
            for column, table, shape in zip(self._source.columns(numbers), self._tables, self._shapes, strict=True)
        ]
        return list(map(self._pack, zip(*columns, strict=True)))

    def gather(self, numbers: Array) -> Element:
        """Several rows as one element, joined along a new first axis."""
        parts = zip(self._source.gather(numbers), self._tables, strict=True)
        return self._pack([from_host(part, table) for part, table in parts])


def slices(structure: Any) -> ArraySource:
    """Cut arrays, or what converts to them, along their first axis. Arrays are copied; tensors are not.

    Raises ValueError if there is no component, one is a scalar, or their lengths differ.
    """
    arrays = map_components(_own, structure)
    columns = components(arrays)
    if not columns:
        raise ValueError("from_tensor_slices: the structure holds no component; give at least one array.")
    for number, column in enumerate(columns):
        if not column.ndim:
            raise ValueError(
                f"from_tensor_slices: component {number} is a scalar, which has no slices; "
                "to get one element that holds it, use from_tensors."
            )
    for number, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise ValueError(
                f"Dimensions {len(columns[0])} and {len(column)} are not compatible: from_tensor_slices cuts all "
                f"components along their first axis, but component 0 has shape {columns[0].shape} and "
                f"component {number} has shape {column.shape}."
            )
    return ArraySource(arrays)


def single(structure: Any) -> ArraySource:
    """Make one row of a structure of arrays, or of what converts to them. Raises ValueError if there is no
    component."""
    arrays = map_components(lambda value: _own(value)[np.newaxis], structure)
    if not components(arrays):
        raise ValueError("from_tensors: the structure holds no component; give at least one array.")
    return ArraySource(arrays)


def _own(value: Any) -> Array:
    """The value as an array that nobody else writes: a tensor's own memory, where the host sees it, or a copy."""
    method = getattr(type(value), "__tensor__", None)
    tensor = value if method is None else method(value)
    if isinstance(tensor, Tensor):
        return np.ascontiguousarray(tensor._host()).reshape(tensor._shape)
    return host_array(value, None)
