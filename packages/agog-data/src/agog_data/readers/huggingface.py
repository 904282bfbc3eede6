"""Hugging Face: datasets of the library ``datasets``, by their methods, without an import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from agog_core import TensorShape, as_dtype, dtypes, errors
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec
from agog_data.preview import touch
from agog_data.readers.element_stream import Array, ElementStream, Parts, text
from agog_data.sources import Source
from agog_data.stages.slicing import Slices

_STRINGS = ("string", "large_string", "binary", "large_binary")
_NUMBERS = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
_NUMBERS = (*_NUMBERS, "float16", "float32", "float64")


def from_huggingface(dataset: Any) -> Dataset:
    """The rows of a dataset of the library ``datasets`` by Hugging Face.

    An element is a dict with a tensor for each feature. Values and class labels become scalars, strings and binary data
    strings, sequences vectors, arrays arrays. For a ``datasets.Dataset``, stages that choose rows (`shuffle`, `repeat`,
    `take`, `batch`) work on row numbers, unless a sequence varies in length; a ``datasets.IterableDataset`` is read in
    order, and resumed by skipping what was read.

    Args:
        dataset: a ``datasets.Dataset`` or ``datasets.IterableDataset``, or what has its methods: ``features``, and
            either ``__getitem__`` and ``__len__`` or ``__iter__``.

    Returns:
        The dataset.

    Raises:
        TypeError: the argument has not these methods.
        InvalidArgumentError: its features are not known, or one has a type that no tensor has; while iterating: a value
            is null or does not fit its feature.

    >>> class Points:  # in place of datasets.Dataset.from_dict({"x": [1, 2, 3]})
    ...     class Value:
    ...         dtype = "int64"
    ...
    ...     features = {"x": Value()}
    ...
    ...     def __len__(self):
    ...         return 3
    ...
    ...     def __getitem__(self, rows):
    ...         return {"x": [row + 1 for row in rows] if isinstance(rows, list) else rows + 1}
    >>> for batch in from_huggingface(Points()).batch(2):
    ...     print(batch["x"].numpy())
    [1 2]
    [3]
    """
    has_rows = hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")
    if (
        isinstance(dataset, Mapping)
        or not hasattr(dataset, "features")
        or not (has_rows or hasattr(dataset, "__iter__"))
    ):
        hint = f"; take one of {', '.join(map(str, dataset))}" if isinstance(dataset, Mapping) else ""
        raise TypeError(
            f"from_huggingface: a datasets.Dataset or datasets.IterableDataset is expected; got a "
            f"{type(dataset).__name__}{hint}."
        )
    if not dataset.features:
        raise errors.InvalidArgumentError(
            "from_huggingface: the features of the dataset are not known; give them, as by dataset.cast(features)."
        )
    specs = {name: _spec(name, feature) for name, feature in dataset.features.items()}
    if has_rows and all(spec.shape.is_fully_defined() for spec in specs.values()):
        return Dataset(Slices(HuggingFaceSource(dataset, specs)))
    return Dataset(HuggingFaceStream(dataset, specs, has_rows))


class HuggingFaceSource(Source):
    """The rows of a dataset that has them by number."""

    def __init__(self, dataset: Any, specs: dict[str, ComponentSpec]) -> None:
        super().__init__(specs, len(dataset))
        self._dataset = dataset
        self._order = sorted(specs)

    def row(self, number: int) -> list[Array]:
        row = self._dataset[number]
        return [_host(name, number, row[name], self.spec[name]) for name in self._order]

    def gather(self, numbers: Array) -> list[Array]:
        rows = self._dataset[numbers.tolist()]
        columns = []
        for name in self._order:
            spec: ComponentSpec = self.spec[name]
            sizes: list[Any] = spec.shape.as_list()  # all are known
            column = np.empty((len(numbers), *sizes), spec.dtype.numpy_dtype)
            for place, number in enumerate(numbers.tolist()):
                column[place] = _host(name, number, rows[name][place], spec)[()]
            columns.append(column)
        return columns


class HuggingFaceStream(ElementStream):
    """The rows of a dataset, in order; ``has_rows`` says whether it has them by number."""

    def __init__(self, dataset: Any, specs: dict[str, ComponentSpec], has_rows: bool) -> None:
        super().__init__("huggingface", [type(dataset).__name__])
        self._dataset = dataset
        self._specs = specs
        self._has_rows = has_rows

    def spec(self) -> Any:
        return self._specs

    def read(self, file: int, position: int) -> Parts:
        rows: Iterator[Any]
        if not self._has_rows:
            touch()
        if self._has_rows:
            rows = map(self._dataset.__getitem__, range(position, len(self._dataset)))
        elif position and hasattr(self._dataset, "skip"):
            rows = iter(self._dataset.skip(position))
        else:
            rows = islice(self._dataset, position, None)
        order = sorted(self._specs)
        for number, row in enumerate(rows, position):
            yield [_host(name, number, row[name], self._specs[name]) for name in order], number + 1


def _spec(name: str, feature: Any) -> ComponentSpec:
    shape: list[int | None] = []
    inner = feature
    while hasattr(inner, "feature"):  # Sequence, List, LargeList
        length = getattr(inner, "length", -1)
        shape.append(None if length is None or length < 0 else int(length))
        inner = inner.feature
    dtype = getattr(inner, "dtype", None)
    known = dtype in _STRINGS or dtype in _NUMBERS
    own_shape = getattr(inner, "shape", None) or ()  # Array2D to Array5D
    # What varies within an element is no tensor.
    if isinstance(inner, (Mapping, list, tuple)) or not known or None in (*shape, *own_shape)[1:]:
        raise errors.InvalidArgumentError(
            f"from_huggingface: the feature {name!r} is {feature!r}, which no tensor has; numbers, strings, binary "
            "data, and sequences and arrays of those are read. Change it with dataset.cast_column or dataset.map, or "
            "leave it out with dataset.remove_columns."
        )
    kind = dtypes.string if dtype in _STRINGS else as_dtype(dtype)
    return ComponentSpec(kind, TensorShape([*shape, *own_shape]))


def _host(name: str, number: int, value: Any, spec: ComponentSpec) -> Array:
    """A value as an array that nobody else writes."""
    if spec.dtype is dtypes.string and not spec.shape.ndims:
        if isinstance(value, (str, bytes)):
            return text(value.encode() if isinstance(value, str) else value)
        raise _unfit(name, number, value, spec)
    try:
        array = np.array(value, object) if spec.dtype is dtypes.string else np.array(value)
        if spec.dtype is dtypes.string:
            array.reshape(-1)[:] = [item.encode() if isinstance(item, str) else bytes(item) for item in array.flat]
        elif array.size and array.dtype == object:
            raise TypeError
        fits = array.ndim == spec.shape.ndims and spec.shape.is_compatible_with(array.shape)
        array = array.astype(spec.dtype.numpy_dtype, order="C", copy=False)
    except (TypeError, ValueError):
        raise _unfit(name, number, value, spec) from None
    if not fits:
        raise _unfit(name, number, value, spec)
    return array


def _unfit(name: str, number: int, value: Any, spec: ComponentSpec) -> errors.InvalidArgumentError:
    shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."
    return errors.InvalidArgumentError(
        f"from_huggingface: row {number}: the feature {name!r} has the dtype {spec.dtype.name} and the shape "
        f"{spec.shape}; the value is {shown}, of type {type(value).__name__}."
    )
