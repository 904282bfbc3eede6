"""Frozen: array-api-strict with arrays that nobody can write, and with JAX's ``at`` in place of that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import array_api_strict


class FrozenArray:
    """An array of array-api-strict that cannot be written."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def __getattr__(self, name: str) -> Any:
        return frozen(getattr(self.native, name))

    def __getitem__(self, key: Any) -> Any:
        return FrozenArray(array_api_strict.asarray(self.native[key], copy=True))

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return self.native.__array__(*arguments, **options)

    def __bool__(self) -> bool:
        return bool(self.native)

    def __int__(self) -> int:
        return int(self.native)

    def __float__(self) -> float:
        return float(self.native)

    def __complex__(self) -> complex:
        return complex(self.native)

    @property
    def at(self) -> Any:
        """Places, as ``array.at[key].set(value)``."""
        return At(self)


class At:
    """The places of an array."""

    def __init__(self, array: FrozenArray) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> Any:
        return SimpleNamespace(set=lambda value: self._set(key, value))

    def _set(self, key: Any, value: Any) -> FrozenArray:
        copied = array_api_strict.asarray(self.array.native, copy=True)
        copied[key] = thawed(value)
        return FrozenArray(copied)


class Frozen:
    """The library, or an extension of it."""

    ndarray = FrozenArray

    def __init__(self, library: Any, name: str) -> None:
        self.library = library
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.library, name)
        if name == "linalg" or name == "fft":
            return Frozen(found, name)
        return frozen(found)


def frozen(value: Any) -> Any:
    """The same with arrays that nobody can write."""
    if isinstance(value, array_api_strict._array_object.Array):
        return FrozenArray(value)
    if isinstance(value, tuple | list):
        return tuple(map(frozen, value))
    if callable(value) and not isinstance(value, type):
        return lambda *arguments, **options: frozen(value(*thawed(arguments), **thawed(options)))
    return value


def thawed(value: Any) -> Any:
    """The same with array-api-strict's arrays."""
    if isinstance(value, FrozenArray):
        return value.native
    if isinstance(value, tuple | list):
        return type(value)(map(thawed, value))
    if isinstance(value, dict):
        return {name: thawed(each) for name, each in value.items()}
    return value


library = Frozen(array_api_strict, "frozen")
