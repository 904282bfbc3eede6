"""Ufuncs: elementwise functions with the loops that CuPy has, and the operators of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from cupy_on_numpy.arrays import BFLOAT16, WEAK, functions, memory_of, ndarray, wrapped
from cupy_on_numpy.counting import launch, wait
from cupy_on_numpy.flushing import MOVING, flushed

Loop = tuple[tuple[np.dtype[Any], ...], tuple[np.dtype[Any], ...]]

# The dtypes that `at` has a loop for.
_AT = {
    **{"add": "ilIqLQefd", "subtract": "iI", "maximum": "ilIqLQfd", "minimum": "ilIqLQfd"},
    **{"bitwise_and": "ilIqLQ", "bitwise_or": "ilIqLQ", "bitwise_xor": "ilIqLQ"},
}
_OWN_DTYPE = {bool: "?", int: "q", float: "d", complex: "D"}


class ufunc:  # CuPy's name
    """An elementwise function."""

    def __init__(self, name: str, facts: dict[str, Any], function: Callable[..., Any]) -> None:
        self.name, self.__name__, self.nin, self.nout = f"cupy_{name}", name, facts["nin"], facts["nout"]
        self.types = facts["types"]
        self._function = function
        self._loops: list[Loop] = [_loop(text) for text in self.types]

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind", **kwargs: Any
    ) -> Any:
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if not self.nin <= len(args) <= self.nin + self.nout:
            raise TypeError(f"Wrong number of arguments for {self.name!r}.")
        if len(args) > self.nin:
            if out is not None:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            (out,) = args[self.nin :]
        if isinstance(out, tuple):
            (out,) = out
        if out is not None and not isinstance(out, ndarray):
            raise TypeError(f"return arrays must be of ArrayType, not {type(out)}")
        launch(self.__name__)
        inputs = [memory_of(value) for value in args[: self.nin]]
        for value in inputs:
            if not isinstance(value, (*WEAK, np.generic, np.ndarray)):
                raise TypeError(f"Unsupported type {type(value)}")
        kinds = tuple(type(value) if type(value) in WEAK else value.dtype for value in inputs)
        takes, gives = self._loop(kinds) if dtype is None else self._loop_to(np.dtype(dtype))
        with np.errstate(all="ignore"):
            values = [np.asarray(value).astype(kind, copy=False) for value, kind in zip(inputs, takes, strict=True)]
            if self.__name__ not in MOVING:
                values = [flushed(value) for value in values]
            result = flushed(np.asarray(self._compute(values, takes)).astype(gives[0], copy=False))
        return wrapped(np.array(result)) if out is None else _written(result, out, casting)

    @functools.lru_cache(maxsize=512)  # noqa: B019  # ufuncs live as long as the module
    def _loop(self, kinds: tuple[Any, ...]) -> Loop:
        strong = [kind for kind in kinds if not isinstance(kind, type)]
        for takes, gives in self._loops:
            if all(
                _weak_fits(kind, wanted, strong) if isinstance(kind, type) else np.can_cast(kind, wanted)
                for kind, wanted in zip(kinds, takes, strict=True)
            ):
                return takes, gives
        raise TypeError(f"Wrong type ({kinds}) of arguments for {self.name}")

    def _loop_to(self, dtype: np.dtype[Any]) -> Loop:
        for takes, gives in self._loops:
            if gives[0] == dtype:
                return takes, gives
        raise TypeError(f"No matching signature and casting was found for {self.name}")

    def _compute(self, values: list[Any], takes: tuple[np.dtype[Any], ...]) -> Any:
        """NumPy's function, but for what a device does otherwise: it raises nothing, and widens bfloat16."""
        if self.__name__ in ("floor_divide", "remainder", "fmod") and takes[0].kind in "iu":
            x, y = values
            return np.where(y == 0, 0, self._function(x, np.where(y == 0, 1, y)))
        if self.__name__ == "power" and takes[0].kind == "i":
            x, y = values
            inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y % 2 != 0), 0))
            return np.where(y < 0, inverse, np.power(x, np.where(y < 0, 0, y)))
        if takes[0] == BFLOAT16 and self.__name__ not in ("maximum", "minimum"):
            return self._function(*[value.astype("float32") for value in values])
        return self._function(*values)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Sums and products; CuPy has no other reductions of ufuncs."""
        return self._by({"add": "sum", "multiply": "prod"}, "reduce")(array, axis, dtype, out, keepdims)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Running sums and products."""
        return self._by({"add": "cumsum", "multiply": "cumprod"}, "accumulate")(array, axis, dtype, out)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """CuPy has it for `add` alone, and the stand-in for none."""
        raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")

    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:  # CuPy's names
        """The function of all pairs."""
        return self(A.reshape(A.shape + (1,) * B.ndim), B.reshape((1,) * A.ndim + B.shape), **kwargs)

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        """Combine into places, in any order: here from behind."""
        if self.__name__ not in _AT:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        if a.dtype.char not in _AT[self.__name__]:
            raise TypeError(f"cupy.{self.__name__}.at does not support {a.dtype}")
        launch(f"{self.__name__}.at")
        at = memory_of(indices)
        if isinstance(at, np.ndarray) and at.dtype.kind == "b":
            wait("boolean mask")
        elif a.ndim and a.shape[0]:
            at = np.asarray(at) % a.shape[0]  # no index is checked
        values = np.broadcast_to(np.asarray(memory_of(b)).astype(a.dtype), np.shape(at) + a.shape[1:])
        self._function.at(a._memory, at.reshape(-1)[::-1], values.reshape(-1, *a.shape[1:])[::-1])  # type: ignore[attr-defined]

    def _by(self, names: dict[str, str], method: str) -> Callable[..., Any]:
        if self.__name__ not in names:
            raise NotImplementedError(f"`{self.name}.{method}` is not supported yet")
        return functions[names[self.__name__]]


def _loop(text: str) -> Loop:
    takes, _, gives = text.partition("->")
    return tuple(map(_dtype, takes)), tuple(map(_dtype, gives))


def _dtype(character: str) -> np.dtype[Any]:
    return BFLOAT16 if character == "E" else np.dtype(character)


def _weak_fits(kind: type, wanted: np.dtype[Any], strong: list[np.dtype[Any]]) -> bool:
    """Whether a Python number may enter a loop: it takes the arrays' dtype unless it is of a higher family."""
    families = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
    need = {bool: 0, int: 1, float: 2, complex: 3}[kind]
    if strong and need <= max(families[dtype.kind] for dtype in strong):
        return families[wanted.kind] >= need
    if strong and kind is complex and wanted.char == "F" and all(dtype.char in "efF" for dtype in strong):
        return True
    return np.can_cast(np.dtype(_OWN_DTYPE[kind]), wanted)


def _written(result: Any, out: ndarray, casting: str) -> ndarray:
    if not np.can_cast(result.dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast {result.dtype} to {out.dtype} with casting rule {casting!r}")
    if out.shape != result.shape:
        raise ValueError(f"non-broadcastable output operand with shape {out.shape} doesn't match {result.shape}")
    memory_of(out)[...] = result.astype(out.dtype)
    return out


def _operator(name: str, is_reflected: bool = False, is_in_place: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (*WEAK, np.generic, ndarray)):
            if isinstance(other, np.ndarray) and other.ndim:
                raise TypeError(f"Unsupported type {type(other)}")
            return NotImplemented
        if is_in_place:
            return functions[name](self, other, out=self)
        return functions[name](other, self) if is_reflected else functions[name](self, other)

    return method


for _short, _long in {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide"},
    **{"mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"},
    **{"lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul"},
}.items():
    setattr(ndarray, f"__{_short}__", _operator(_long))
    setattr(ndarray, f"__r{_short}__", _operator(_long, is_reflected=True))
    setattr(ndarray, f"__i{_short}__", _operator(_long, is_in_place=True))
for _short, _long in {
    **{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"},
}.items():
    setattr(ndarray, f"__{_short}__", _operator(_long))
ndarray.__neg__ = lambda self: functions["negative"](self)  # type: ignore[attr-defined]
ndarray.__invert__ = lambda self: functions["invert"](self)  # type: ignore[attr-defined]
ndarray.__abs__ = lambda self: functions["absolute"](self)  # type: ignore[attr-defined]
