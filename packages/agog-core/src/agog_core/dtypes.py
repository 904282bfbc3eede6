"""Dtypes: the element types of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType:
    """The type of a tensor's elements.

    Args:
        name: the type's name, such as ``"float32"``.
        kind: one of ``"float"``, ``"complex"``, ``"integer"``, ``"unsigned"``, ``"bool"``, ``"string"``,
            ``"variant"``.

    >>> float32.is_floating, float32.size
    (True, 4)
    >>> float32 == "float32" == float32
    True
    """

    __slots__ = (
        "_numpy",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_float8",
        "is_floating",
        "is_integer",
        "is_unsigned",
        "name",
    )

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.is_float8 = name.startswith("float8")
        self.is_floating = kind == "float"
        self.is_complex = kind == "complex"
        self.is_integer = kind in ("integer", "unsigned")
        self.is_unsigned = kind == "unsigned"
        self.is_bool = kind == "bool"
        self.is_differentiable = kind in ("float", "complex")
        self._numpy: np.dtype[Any] | None = None

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of host arrays that hold such elements (bytes objects for strings)."""
        if self._numpy is None:
            if self.name in _OF_ML_DTYPES:
                import ml_dtypes  # here, because most programs never need it and its import takes milliseconds

                self._numpy = np.dtype(getattr(ml_dtypes, self.name))
            else:
                self._numpy = np.dtype(_OF_HOST_ARRAYS.get(self.name, self.name))
        return self._numpy

    @property
    def as_numpy_dtype(self) -> type:
        """The NumPy scalar type, such as ``numpy.float32``."""
        return self.numpy_dtype.type

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return self.numpy_dtype.itemsize

    @property
    def min(self) -> Any:
        """The lowest finite value."""
        return self._limits("min")

    @property
    def max(self) -> Any:
        """The highest finite value."""
        return self._limits("max")

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real and imaginary parts; for other dtypes, itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def as_datatype_enum(self) -> int:
        """The number that TensorFlow's messages have for the type."""
        return _NUMBERS[self.name]

    @property
    def base_dtype(self) -> DType:
        """Itself: agog has no reference dtypes."""
        return self

    def is_compatible_with(self, other: object) -> bool:
        """Whether a value of the other dtype may be used where this one is asked for.

        Args:
            other: anything that `as_dtype` takes.

        Returns:
            True when both are the same dtype.
        """
        return self == other

    def _limits(self, which: str) -> Any:
        if self.is_bool:
            return which == "max"
        if self.is_integer:
            return getattr(np.iinfo(self.numpy_dtype), which)
        if self.name in _OF_ML_DTYPES:
            import ml_dtypes

            return getattr(ml_dtypes.finfo(self.numpy_dtype), which)  # type: ignore[no-untyped-call]  # it has no annotations
        if self.is_floating:
            return getattr(np.finfo(self.numpy_dtype), which)
        raise TypeError(f"dtype {self.name} has no {which}imum: its values are not ordered numbers.")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


float16 = DType("float16", "float")
bfloat16 = DType("bfloat16", "float")
float8_e4m3fn = DType("float8_e4m3fn", "float")
float8_e5m2 = DType("float8_e5m2", "float")
float32 = DType("float32", "float")
float64 = DType("float64", "float")
complex64 = DType("complex64", "complex")
complex128 = DType("complex128", "complex")
int8 = DType("int8", "integer")
int16 = DType("int16", "integer")
int32 = DType("int32", "integer")
int64 = DType("int64", "integer")
uint8 = DType("uint8", "unsigned")
uint16 = DType("uint16", "unsigned")
uint32 = DType("uint32", "unsigned")
uint64 = DType("uint64", "unsigned")
bool_ = DType("bool", "bool")
string = DType("string", "string")
# Bytes that only kernels can read, such as what one keeps for its gradient's. No program names it.
variant = DType("variant", "variant")

_ALL = (
    *(float16, bfloat16, float32, float64, complex64, complex128),
    *(int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_, string),
)
# Values are kept in these, and cast from and to them; ops do not compute with them, so they are in none of the sets
# below. https://arxiv.org/abs/2209.05433
FLOAT8 = frozenset((float8_e4m3fn, float8_e5m2))
_OF_HOST_ARRAYS = {"string": "object", "variant": "V1"}  # where it is not the name
_OF_ML_DTYPES = {dtype.name for dtype in (bfloat16, *FLOAT8)}
_NUMBERS = {
    **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8},
    **{"int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22},
    **{"uint64": 23, "float8_e5m2": 24, "float8_e4m3fn": 25},
}
_BY_NAME = {dtype.name: dtype for dtype in (*_ALL, *FLOAT8)} | {"half": float16, "float": float32, "double": float64}
_BY_NUMPY_TYPE: dict[type, DType] = {
    **{dtype.numpy_dtype.type: dtype for dtype in _ALL if dtype.name not in ("bfloat16", "string")},
    **{np.longlong: int64, np.ulonglong: uint64, np.object_: string, np.bytes_: string, np.str_: string},
    **{float: float32, int: int32, bool: bool_, str: string, bytes: string, object: string, complex: complex128},
}

FLOATING = frozenset(dtype for dtype in _ALL if dtype.is_floating)
INTEGERS = frozenset(dtype for dtype in _ALL if dtype.is_integer)
DIFFERENTIABLE = FLOATING | {complex64, complex128}
NUMERIC = DIFFERENTIABLE | INTEGERS
ORDERED = FLOATING | INTEGERS
NUMERIC_OR_BOOL = NUMERIC | {bool_}
ALL = frozenset(_ALL)


def as_dtype(value: Any) -> DType:
    """Return the dtype that a name, a NumPy dtype or a Python type stands for.

    Args:
        value: a `DType`, a name such as ``"float32"``, a NumPy dtype or scalar type, or ``float``, ``int``,
            ``bool``, ``str``, ``bytes``, ``complex``.

    Returns:
        The `DType`.

    Raises:
        TypeError: no dtype of agog stands for the value.

    >>> as_dtype("float32"), as_dtype(np.int64), as_dtype(float)
    (tf.float32, tf.int64, tf.float32)
    """
    if type(value) is DType:
        return value
    if isinstance(value, str):
        found = _BY_NAME.get(value)
    elif isinstance(value, np.dtype):
        found = _BY_NUMPY_TYPE.get(value.type) or _BY_NAME.get(value.name)
    elif isinstance(value, type) and value in _BY_NUMPY_TYPE:
        found = _BY_NUMPY_TYPE[value]
    elif isinstance(value, type) and issubclass(value, np.generic):
        # Nothing else: NumPy takes None for float64, and any class for object.
        numpy_dtype: np.dtype[Any] = np.dtype(value)
        found = _BY_NUMPY_TYPE.get(numpy_dtype.type) or _BY_NAME.get(numpy_dtype.name)
    else:
        found = None
    if found is None:
        raise TypeError(f"Cannot convert {value!r} to a dtype; the dtypes are {', '.join(d.name for d in _ALL)}.")
    return found
