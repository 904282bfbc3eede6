"""Elements: nested tuples, dicts and namedtuples of tensors or datasets, and their static specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from agog_core import DType, SparseTensor, SparseTensorValue, convert_to_tensor, nest, stack, string, unstack
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import TensorShape, intern_shape
from agog_core.tensors.convert import from_host
from agog_core.tensors.placement import copy_to_device
from agog_core.tensors.tensor import Tensor, wrap
from agog_data.factory import AnyDataset
from agog_data.sparse_elements import stack_sparse

Element = Any
Array = np.ndarray[Any, Any]
_PLAIN = frozenset({Tensor, np.ndarray, float, int, bool, str, bytes})  # components that need no closer look


class ComponentSpec:
    """The spec of one component of every element of a dataset."""

    __slots__ = ("dtype", "shape")

    kind: Any = Tensor

    def __init__(self, dtype: DType, shape: TensorShape) -> None:
        self.dtype = dtype
        self.shape = shape

    def batched(self, size: int | None) -> ComponentSpec:
        """The same with one axis more in front."""
        known = self.shape.ndims is not None
        return type(self)(self.dtype, TensorShape([size, *self.shape.as_list()] if known else None))

    def row(self) -> ComponentSpec:
        """The same without the first axis."""
        known = self.shape.ndims is not None
        return type(self)(self.dtype, TensorShape(self.shape.as_list()[1:] if known else None))

    def with_unknown_size(self) -> ComponentSpec:
        """The same with an unknown size along the first axis, if there is one."""
        return type(self)(self.dtype, TensorShape([None, *self.shape.as_list()[1:]])) if self.shape.ndims else self


class DatasetSpec(ComponentSpec):
    """The spec of a component that is a dataset, such as those of `window`: its elements' spec."""

    __slots__ = ("element", "kind")

    def __init__(self, element: Any) -> None:
        self.element = element
        # TensorFlow shows one object as dtype, shape and class of such a component.
        shown: Any = NestedDataset(element)
        self.dtype = self.shape = self.kind = shown

    def batched(self, size: int | None) -> ComponentSpec:
        """Not possible."""
        raise TypeError(_no_batch(0))

    def with_unknown_size(self) -> ComponentSpec:
        """The same."""
        return self


class SparseSpec(ComponentSpec):
    """The spec of a component that is a `SparseTensor`, such as from a ``VarLenFeature``."""

    __slots__ = ()

    kind = SparseTensor


class Described:
    """An object with elements of known spec."""

    def _spec(self) -> Any:
        raise NotImplementedError

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements, in their structure. To know those after a `map`, its function is called once."""
        return map_components(lambda component: component.dtype, self._spec())

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements, in their structure, with None for sizes that vary.

        After a `map`, they are those of what its function returns for one element.
        """
        return map_components(lambda component: component.shape, self._spec())

    @property
    def output_classes(self) -> Any:
        """`Tensor` or `SparseTensor` for each component that is no dataset, in the structure of the elements."""
        return map_components(lambda component: component.kind, self._spec())


class NestedDataset(Described):
    """What `output_types`, `output_shapes` and `output_classes` hold for a component that is a dataset."""

    name = "dataset"
    ndims = None  # it has no axes

    def __init__(self, element: Any) -> None:
        self._element = element

    def _spec(self) -> Any:
        return self._element

    def __repr__(self) -> str:
        return f"<dataset of types {self.output_types} and shapes {self.output_shapes}>"


def map_components(function: Callable[[Any], Any], structure: Any) -> Any:
    """Apply a function to each component of nested tuples, dicts and namedtuples, in the order of `nest.flatten`.

    Lists are components: a list stands for the tensor that it converts to. So is a `SparseTensorValue`.

    >>> map_components(len, {"a": ([1, 2], "xyz")})
    {'a': (2, 3)}
    """
    if isinstance(structure, Mapping):
        converted = {key: map_components(function, structure[key]) for key in sorted(structure)}
        ordered = {key: converted[key] for key in structure}
        kind: Any = type(structure)
        return ordered if kind is dict else kind(ordered)
    if isinstance(structure, tuple) and not isinstance(structure, SparseTensorValue):
        parts = [map_components(function, part) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return function(structure)


def components(structure: Any) -> list[Any]:
    """List the components of a structure, in the order of `map_components`.

    >>> components({"b": (1, [2, 3]), "a": 4})
    [4, 1, [2, 3]]
    """
    found: list[Any] = []
    map_components(found.append, structure)
    return found


def tensor_components(stage: str, element: Element) -> list[Tensor]:
    """List the components of an element for a stage that takes only tensors; another component raises TypeError."""
    parts = components(element)
    for place, part in enumerate(parts):
        if isinstance(part, SparseTensor):
            raise TypeError(
                f"{stage}: component {place} of the elements is a SparseTensor, and only tensors can be taken; "
                "make one of it with map() and sparse_tensor_to_dense() first."
            )
        if isinstance(part, AnyDataset):
            raise TypeError(
                f"{stage}: component {place} of the elements is a dataset, and only tensors can be taken; "
                "make elements of it with flat_map() first."
            )
    return parts


def spec_of(element: Element) -> Any:
    """The spec of a dataset all of whose elements are like this one: a `ComponentSpec` for each component."""
    return map_components(_component_spec, element)


def _component_spec(component: Any) -> ComponentSpec:
    if isinstance(component, AnyDataset):
        return DatasetSpec(component._stage.spec())
    if isinstance(component, SparseTensor):  # its shape follows from values, so the next one may have another
        return SparseSpec(component.dtype, TensorShape([None] * component.dense_shape._shape[0]))
    return ComponentSpec(component.dtype, component.shape)


def as_element(value: Any) -> Element:
    """Make an element of what a user's function returned: a tensor of each component that is no dataset and no
    `SparseTensor`. A list is a tuple, as in TensorFlow."""
    if type(value) is Tensor:
        return value
    if type(value) is tuple:
        for part in value:
            if type(part) is not Tensor:
                break
        else:
            return value
        if _PLAIN.issuperset(map(type, value)):
            return tuple([part if type(part) is Tensor else convert_to_tensor(part) for part in value])
    return map_components(_as_component, tuple(value) if isinstance(value, list) else value)


def _as_component(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, (AnyDataset, SparseTensor)) else convert_to_tensor(value)


def packer(structure: Any) -> Callable[[Sequence[Any]], Any]:
    """Make the function that puts a sequence of components into the form of an element or a spec."""
    form = map_components(lambda component: None, structure)
    if form is None:
        return itemgetter(0)
    if type(form) is tuple and all(part is None for part in form):
        return tuple
    if type(form) is dict and all(part is None for part in form.values()):
        places = {key: place for place, key in enumerate(sorted(form))}
        return lambda parts: {key: parts[places[key]] for key in form}
    return lambda parts: nest.pack(form, list(parts))


def stack_elements(elements: list[Element], batch: int) -> Element:
    """Join elements of one structure, component by component, along a new first axis.

    Raises InvalidArgumentError, which names the batch, where structures, dtypes or shapes differ.
    """
    first = elements[0]
    if type(first) is Tensor:
        return _stack_component(elements, 0, batch)
    if set(map(type, elements)) == {tuple} and set(map(len, elements)) == {len(first)}:
        columns = list(zip(*elements, strict=True))
        if all(type(column[0]) is Tensor for column in columns):
            return tuple([_stack_component(column, k, batch) for k, column in enumerate(columns)])
    is_flat = type(first) is dict and all(type(part) is Tensor for part in first.values())
    if is_flat and all(type(element) is dict and element.keys() == first.keys() for element in elements):
        parts = zip(*[[element[key] for key in sorted(first)] for element in elements], strict=True)
        return packer(first)([_stack_component(column, k, batch) for k, column in enumerate(parts)])
    form = _form(first)
    for number, element in enumerate(elements):
        if _form(element) != form:
            raise InvalidArgumentError(
                f"batch: element {number} of batch {batch} has the structure {_form(element)}; element 0 has {form}. "
                "All elements must have one structure; make them equal with map() first."
            )
    parts = zip(*[components(element) for element in elements], strict=True)
    return packer(first)([_stack_component(column, k, batch) for k, column in enumerate(parts)])


def unstack_elements(element: Element) -> list[Element]:
    """Cut an element, whose components have a first axis of one length, into its rows: the opposite of
    `stack_elements`."""
    columns = [_rows(component) for component in components(element)]
    return list(map(packer(element), zip(*columns, strict=True)))


def _rows(tensor: Tensor) -> list[Tensor]:
    table = tensor._table
    if table.array_type is not np.ndarray:
        return unstack(tensor)
    shape = intern_shape(tensor._shape[1:])
    return [wrap(tensor._array[row, ...], table, shape) for row in range(tensor._shape[0])]


def _form(element: Element) -> str:
    return str(map_components(lambda component: "tensor", element)).replace("'tensor'", "tensor")


def _stack_component(column: Sequence[Any], component: int, batch: int) -> Any:
    if isinstance(column[0], AnyDataset):
        raise TypeError(_no_batch(component))
    if isinstance(column[0], SparseTensor):
        return stack_sparse(column, component, batch)
    table, shape = column[0]._table, column[0]._shape
    arrays = [x._array for x in column if type(x) is Tensor and x._table is table and x._shape is shape]
    if len(arrays) < len(column):  # shapes are nearly always the same object, but need not be
        arrays = _brought_together(column, component, batch)
    if not table.device.backend.host_memory:
        return stack([wrap(array, table, shape) for array in arrays])
    if table.array_type is not np.ndarray:
        arrays = list(map(table.device.to_host, arrays))
    if shape:
        joined = np.concatenate(arrays).reshape(len(arrays), *shape)
    elif table.dtype is string:
        joined = np.empty(len(arrays), object)
        joined[:] = [array[()] for array in arrays]
    else:
        joined = np.array(arrays)
    return from_host(joined, table)


def _brought_together(column: Sequence[Tensor], component: int, batch: int) -> list[Any]:
    """The arrays of tensors of one dtype and shape, on the device of the first."""
    table, shape = column[0]._table, column[0]._shape
    arrays = []
    for number, x in enumerate(column):
        if type(x) is not Tensor or x._shape != shape or x._table.dtype is not table.dtype:
            raise _differ(column, number, component, batch)
        arrays.append((x if x._table is table else copy_to_device(x, table.device))._array)
    return arrays


def _differ(column: Sequence[Tensor], number: int, component: int, batch: int) -> InvalidArgumentError:
    def shown(x: Any) -> str:
        return f"dtype {x.dtype.name} and shape {x._shape}" if type(x) is Tensor else f"the structure {_form(x)}"

    return InvalidArgumentError(
        f"batch: component {component} of element {number} of batch {batch} has {shown(column[number])}; "
        f"that of element 0 has {shown(column[0])}. A batch needs equal dtypes and shapes; "
        "make them equal with map() first."
    )


def _no_batch(component: int) -> str:
    return (
        f"batch: component {component} of the elements is a dataset, and datasets cannot be joined; "
        "make elements of it with flat_map() first."
    )
