"""Encoding: Python values in programs as JSON, and back; nothing but plain values comes back."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.dtypes import DType, as_dtype
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.graphs.graph import RandomKey

_PLAIN = (bool, int, str, type(None))
_DEEPEST = 64  # how deep values are nested


class Encoder:
    """Makes JSON of values.

    Args:
        key: the number of a random key.
        array: keeps an array, and returns its name.
    """

    def __init__(self, key: Callable[[RandomKey], int], array: Callable[[np.ndarray[Any, Any]], str]) -> None:
        self._key, self._array = key, array

    def __call__(self, value: Any) -> Any:
        """A value as JSON; TypeError where it is none that JSON can stand for."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is float:
            return {"float": value.hex() if np.isfinite(value) else str(value)}
        if kind is complex:
            return {"complex": [self(value.real), self(value.imag)]}
        if kind is bytes:
            return {"bytes": value.hex()}
        if kind is list:
            return list(map(self, value))
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                return {"fields": [kind.__name__, list(value._fields), list(map(self, value))]}
            return {"tuple": list(map(self, value))}
        if nest.is_mapping(value):
            return {"dict": [[self(key), self(each)] for key, each in value.items()]}
        if kind is slice:
            return {"slice": [self(value.start), self(value.stop), self(value.step)]}
        if value is Ellipsis:
            return {"ellipsis": 0}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, RandomKey):
            return {"key": self._key(value)}
        if isinstance(value, TensorSpec):
            shape = None if value.shape.ndims is None else value.shape.as_list()
            return {"spec": [shape, value.dtype.name, value.name]}
        if isinstance(value, (np.generic, np.ndarray)):
            return {"array": self._array(np.asarray(value))}
        raise TypeError(f"a {kind.__name__}")


class Decoder:
    """Makes values of JSON.

    Args:
        array: an array by its name.
        size: the number of what stands for a size.
        keys: random keys by their numbers.
    """

    def __init__(
        self,
        array: Callable[[str], np.ndarray[Any, Any]],
        size: Callable[[Any], int] | None = None,
        keys: Mapping[int, Any] | None = None,
    ) -> None:
        self._array, self._size, self._keys = array, size, {} if keys is None else keys

    def __call__(self, data: Any, depth: int = 0) -> Any:
        """The value; ValueError where the data stands for none."""
        if depth > _DEEPEST:
            raise ValueError("values are nested too deeply")
        if type(data) in _PLAIN:
            return data
        if type(data) is list:
            return [self(each, depth + 1) for each in data]
        if type(data) is dict and len(data) == 1:
            ((kind, content),) = data.items()
            make = _MAKERS.get(kind)
            if make is not None:
                return make(self, content, depth + 1)
        raise ValueError(f"{str(data)[:80]!r} is no value")

    def each(self, data: Any, depth: int) -> list[Any]:
        """The values of a list."""
        if type(data) is not list:
            raise ValueError(f"{str(data)[:80]!r} is no list")
        return [self(each, depth) for each in data]

    def array(self, name: Any) -> np.ndarray[Any, Any]:
        """An array by its name."""
        return self._array(name)

    def size(self, data: Any) -> int:
        """The number of what stands for a size."""
        if self._size is None:
            raise ValueError("a size stands where there is none")
        return self._size(data)

    def key(self, number: Any) -> Any:
        """A random key by its number."""
        return self._keys[number]


def _float(decoder: Decoder, text: Any, depth: int) -> float:
    return float.fromhex(text)


def _dict(decoder: Decoder, items: Any, depth: int) -> dict[Any, Any]:
    return {decoder(key, depth): decoder(each, depth) for key, each in items}


def _fields(decoder: Decoder, content: Any, depth: int) -> Any:
    name, fields, values = content
    if not all(type(each) is str and each.isidentifier() for each in (name, *fields)):
        raise ValueError(f"{str(content)[:80]!r} is no named tuple")
    return namedtuple(name, fields)(*decoder.each(values, depth))


def _spec(decoder: Decoder, content: Any, depth: int) -> TensorSpec:
    shape, dtype, name = content
    return TensorSpec(shape, as_dtype(dtype), name)


_MAKERS: dict[str, Callable[[Decoder, Any, int], Any]] = {
    "float": _float,
    "complex": lambda decoder, content, depth: complex(*decoder.each(content, depth)),
    "bytes": lambda decoder, content, depth: bytes.fromhex(content),
    "tuple": lambda decoder, content, depth: tuple(decoder.each(content, depth)),
    "dict": _dict,
    "fields": _fields,
    "slice": lambda decoder, content, depth: slice(*decoder.each(content, depth)),
    "ellipsis": lambda decoder, content, depth: Ellipsis,
    "dtype": lambda decoder, content, depth: as_dtype(content),
    "key": lambda decoder, content, depth: decoder.key(content),
    "spec": _spec,
    "array": lambda decoder, content, depth: decoder.array(content),
    "size": lambda decoder, content, depth: decoder.size(content),
    "quotient": lambda decoder, content, depth: -(-decoder.size(content[0]) // content[1]),
}


# Structures of arguments and results: leaves that are made of tensors have the places of these.


def structure(value: Any, tensors: list[Tensor], encode: Callable[[Any], Any]) -> Any:
    """A structure as JSON, whose tensors are put into a list."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, IndexedSlices):
        return {"slices": [structure(each, tensors, encode) for each in (value.values, value.indices)]}
    if isinstance(value, SparseTensor):
        three = value.indices, value.values, value.dense_shape
        return {"sparse": [structure(each, tensors, encode) for each in three]}
    if type(value) is list:
        return [structure(each, tensors, encode) for each in value]
    if isinstance(value, tuple):
        parts = [structure(each, tensors, encode) for each in value]
        if hasattr(value, "_fields"):
            return {"fields": [type(value).__name__, list(value._fields), parts]}
        return {"tuple": parts}
    if nest.is_mapping(value):
        return {"dict": [[encode(key), structure(value[key], tensors, encode)] for key in value]}
    return encode(value)


def packed(data: Any, tensors: list[Tensor], decode: Decoder) -> Any:
    """A structure, with tensors in their places."""
    makers: dict[str, Callable[[Any], Any]] = {
        "tensor": lambda place: tensors[place],
        "slices": lambda parts: IndexedSlices(*[packed(each, tensors, decode) for each in parts]),
        "sparse": lambda parts: SparseTensor(*[packed(each, tensors, decode) for each in parts]),
        "tuple": lambda parts: tuple([packed(each, tensors, decode) for each in parts]),
        "dict": lambda items: {decode(key): packed(each, tensors, decode) for key, each in items},
        "fields": lambda parts: _fields_of(parts, tensors, decode),
    }
    if type(data) is list:
        return [packed(each, tensors, decode) for each in data]
    if type(data) is dict and len(data) == 1:
        ((kind, content),) = data.items()
        if kind in makers:
            return makers[kind](content)
    return decode(data)


def _fields_of(content: Any, tensors: list[Tensor], decode: Decoder) -> Any:
    name, fields, parts = content
    return _fields(decode, [name, fields, [None] * len(fields)], 0)._replace(
        **{field: packed(each, tensors, decode) for field, each in zip(fields, parts, strict=True)}
    )
