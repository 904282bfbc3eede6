"""Inspection: the capabilities of the namespace, and the namespace of an array.

https://data-apis.org/array-api/2025.12/API_specification/inspection.html
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from agog_core import dtypes as _dtypes
from agog_core.array_api.promotion import isdtype
from agog_core.dispatch.devices import lookup as _lookup
from agog_core.dtypes import DType

__array_api_version__ = "2025.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)
# Those that the standard names.
_STANDARD = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


def namespace(api_version: str | None) -> ModuleType:
    """The module of the standard's functions, for `Tensor.__array_namespace__`. It serves all versions of the standard;
    ValueError for what is none of them.
    """
    if api_version not in (None, *_VERSIONS):
        raise ValueError(
            f"__array_namespace__: api_version is {api_version!r}; the versions of the standard here are "
            f"{', '.join(_VERSIONS)}."
        )
    return importlib.import_module("agog_core.array_api")


class Info:
    """What the namespace can do."""

    def capabilities(self) -> dict[str, Any]:
        """What the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """The device of new arrays."""
        return _lookup.current_device().name

    def devices(self) -> tuple[str, ...]:
        """The names of all devices."""
        return tuple(_lookup.list_devices())

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """The dtypes of what functions make of Python scalars, and of positions: the same on all devices."""
        return {
            "real floating": _dtypes.float32,
            "complex floating": _dtypes.complex64,
            "integral": _dtypes.int32,
            "indexing": _dtypes.int64,
        }

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes by name, all or those of a kind that `isdtype` knows: the same on all devices."""
        every = {name: _dtypes.as_dtype(name) for name in _STANDARD}
        return {name: each for name, each in every.items() if kind is None or kind == () or isdtype(each, kind)}


def __array_namespace_info__() -> Info:
    """What the namespace can do."""
    return Info()
