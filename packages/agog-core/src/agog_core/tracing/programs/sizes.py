"""Sizes: several recordings of a function, for arguments of other sizes, as one program for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class NoLineError(Exception):
    """What recordings for several sizes do not share."""


class Merger:
    """Makes one program of those for several sizes: a number that differs is a polynomial of sizes.

    Args:
        symbols: for each unknown size, what it was in each of the recordings.
        arrays: the arrays of the recordings, by their names.
        keep: keeps an array of the program, and returns its name.
    """

    def __init__(
        self,
        symbols: Sequence[Sequence[int]],
        arrays: Sequence[dict[str, Array]],
        keep: Callable[[Array], str],
    ) -> None:
        self._symbols = [list(map(int, each)) for each in symbols]
        self._arrays, self._keep = arrays, keep

    def merged(self, parts: Sequence[Any], where: str = "") -> Any:
        """The parts of the recordings that have one place, as one."""
        first = parts[0]
        if any(type(each) is not type(first) for each in parts):
            raise NoLineError(f"{where}: {_shown(parts)}")
        if type(first) is dict:
            if any(each.keys() != first.keys() for each in parts):
                raise NoLineError(f"{where}: {_shown(parts)}")
            if first.keys() == {"array"}:
                return self._array([x[each["array"]] for x, each in zip(self._arrays, parts, strict=True)], where)
            where = first.get("at", where)
            if first.get("do") == "key":
                return self._key(parts, where)
            return {name: self.merged([each[name] for each in parts], where) for name in first}
        if type(first) is list:
            if any(len(each) != len(first) for each in parts):
                raise NoLineError(f"{where}: there are {_shown([len(each) for each in parts])} of something")
            return [self.merged(each, where) for each in zip(*parts, strict=True)]
        if all(each == first for each in parts):
            return first
        if type(first) is int:
            return {"size": self.fitted(parts, where)}
        raise NoLineError(f"{where}: {_shown(parts)}")

    def _key(self, parts: Sequence[dict[str, Any]], where: str) -> dict[str, Any]:
        """A key of random numbers: one word of bits serves several of them."""
        first = parts[0]
        if any({**each, "with": 0} != {**first, "with": 0} for each in parts):
            raise NoLineError(f"{where}: other random numbers")
        seed = self.merged([each["with"]["seed"] for each in parts], where)
        counts = [each["with"]["values"] for each in parts]
        try:
            values = self.merged(counts, where)
        except NoLineError:
            values = self._quotient(counts)
            if values is None:
                raise
        return {**first, "with": {"seed": seed, "values": values}}

    def _quotient(self, numbers: Sequence[int]) -> Any:
        names = range(len(self._symbols))
        for count in (1, 2, 3):
            for chosen in combinations_with_replacement(names, count):
                product = [int(np.prod([self._symbols[each][n] for each in chosen])) for n in range(len(numbers))]
                for divisor in (2, 4, 8):
                    near = round(divisor * numbers[-1] / product[-1])
                    for factor in (near, near - 1, near + 1):
                        if all(-(-factor * x // divisor) == y for x, y in zip(product, numbers, strict=True)):
                            return {"quotient": [[[factor, list(chosen)]], divisor]}
        return None

    def fitted(self, numbers: Sequence[int], where: str = "") -> list[Any]:
        """Numbers as ``[[factor, [symbol, ...]], ...]``."""
        names = range(len(self._symbols))
        for count in (1, 2, 3):
            for chosen in combinations_with_replacement(names, count):
                product = [int(np.prod([self._symbols[each][n] for each in chosen])) for n in range(len(numbers))]
                if (found := _line(product, numbers)) is not None:
                    factor, rest = found
                    return [[factor, list(chosen)], *([[rest, []]] if rest else [])]
        for one, two in combinations_with_replacement(names, 2):
            total = [x + y for x, y in zip(self._symbols[one], self._symbols[two], strict=True)]
            found = _line(total, numbers)
            if one != two and found is not None:
                factor, rest = found
                return [[factor, [one]], [factor, [two]], *([[rest, []]] if rest else [])]
        raise NoLineError(f"{where}: the sizes {_shown(numbers)} are no polynomial of those of the arguments")

    def _array(self, arrays: Sequence[Array], where: str) -> Any:
        """A constant, whose sizes or values may depend on those of the arguments."""
        first = arrays[0]
        if all(_are_equal(each, first) for each in arrays):
            return {"array": self._keep(first)}
        if any(each.dtype != first.dtype or each.ndim != first.ndim for each in arrays):
            raise NoLineError(f"{where}: constants of several kinds")
        if all(each.shape == first.shape for each in arrays):
            if first.size <= 64 and first.dtype.kind in "iuf":
                values = [
                    list(map(int, each.reshape(-1))) for each in arrays if np.array_equal(each, each.astype("i8"))
                ]
                if len(values) == len(arrays):
                    elements = [self.merged(each, where) for each in zip(*values, strict=True)]
                    return {"elements": [elements, list(first.shape), first.dtype.name]}
                if all(map(_are_inverses, arrays)):  # such as of the gradient of a mean
                    values = [np.rint(1 / each.reshape(-1).astype("f8")).astype("i8").tolist() for each in arrays]
                    elements = [self.merged(each, where) for each in zip(*values, strict=True)]
                    return {"inverses": [elements, list(first.shape), first.dtype.name]}
            raise NoLineError(f"{where}: a constant's value depends on the sizes")
        shape = self.merged([list(each.shape) for each in arrays], where)
        dynamic = [axis for axis, size in enumerate(shape) if type(size) is dict]
        part = tuple(slice(0, 1) if axis in dynamic else slice(None) for axis in range(first.ndim))
        ones = [np.array(each[part]) for each in arrays]
        if all(_are_equal(np.broadcast_to(one, each.shape), each) for one, each in zip(ones, arrays, strict=True)):
            return {"filled": [self._array(ones, where), shape]}
        if first.ndim == 1 and first.dtype.kind in "iuf" and all(_is_range(each) for each in arrays):
            start, step = self.merged([int(each[0]) for each in arrays], where), int(first[1]) - int(first[0])
            if all(int(each[1]) - int(each[0]) == step for each in arrays):
                return {"range": [start, step, shape[0], first.dtype.name]}
        raise NoLineError(f"{where}: a constant depends on the sizes")


def _line(x: Sequence[int], y: Sequence[int]) -> tuple[int, int] | None:
    """The factor and the rest of ``y = factor * x + rest``, where there are whole ones."""
    pairs = [(a - x[0], b - y[0]) for a, b in zip(x, y, strict=True) if a != x[0]]
    if not pairs or pairs[0][1] % pairs[0][0]:
        return None
    factor = pairs[0][1] // pairs[0][0]
    rest = y[0] - factor * x[0]
    return (factor, rest) if all(factor * a + rest == b for a, b in zip(x, y, strict=True)) else None


def _are_inverses(array: Array) -> bool:
    """Whether all numbers are 1 / n."""
    if array.dtype.kind != "f" or not np.all((array > 0) & (array <= 1)):
        return False
    return bool(np.array_equal((1 / np.rint(1 / array.astype("f8"))).astype(array.dtype), array))


def _is_range(array: Array) -> bool:
    if len(array) < 2:
        return False
    whole = array.astype("i8")
    return bool(np.array_equal(array, whole)) and len(set(np.diff(whole).tolist())) == 1


def _are_equal(one: Array, other: Array) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(np.array_equal(one, other)) if one.dtype == object else one.tobytes() == other.tobytes()


def _shown(parts: Sequence[Any]) -> str:
    return ", ".join(str(each)[:40] for each in parts)
