"""Sizes: the fit of numbers that differ between traces, as lines of the sizes of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import prod
from typing import NamedTuple, NoReturn

import numpy as np

from agog_export.refusal import Refusal

# The sizes that stand for unknown ones. They leave many different rests, so that what rounds sizes is no line of them,
# and one of them is large, so that what limits them is none either.
_STAND_INS = (3, 4, 17, 6, 11, 8, 13, 5, 15, 7, 19, 10)


class Symbol(NamedTuple):
    """An unknown size of the arguments.

    Args:
        name: its name.
        place: the number of the first argument that has it.
        axis: the axis there.
        sizes: what stands for it, in each trace.
    """

    name: str
    place: int
    axis: int
    sizes: tuple[int, ...]


class Size:
    """A number that depends on unknown sizes: a sum of multiples of products of them.

    Args:
        numbers: what it is in each trace.
        terms: the products of symbols, each with its factor; None where there is no such sum.
    """

    __slots__ = ("numbers", "terms")

    def __init__(self, numbers: Sequence[int], terms: Mapping[tuple[Symbol, ...], int] | None) -> None:
        self.numbers, self.terms = tuple(numbers), terms

    @property
    def symbol(self) -> Symbol | None:
        """The unknown size that it is, if it is one."""
        if self.terms is not None and list(self.terms.values()) == [1]:
            (product,) = self.terms
            return product[0] if len(product) == 1 else None
        return None

    def __add__(self, other: int) -> Size:
        terms = None if self.terms is None else {**self.terms, (): self.terms.get((), 0) + other}
        return Size([number + other for number in self.numbers], terms)

    __radd__ = __add__

    def __sub__(self, other: int) -> Size:
        return self + -other

    def __mul__(self, factor: int) -> Size:
        terms = None if self.terms is None else {product: k * factor for product, k in self.terms.items()}
        return Size([number * factor for number in self.numbers], terms)

    __rmul__ = __mul__

    def _refuse(self, *_: object) -> NoReturn:
        raise Refusal(f"it needs a size that is known, and one is {', '.join(map(str, self.numbers))} in the traces")

    __index__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __floordiv__ = __mod__ = __neg__ = _refuse

    def __repr__(self) -> str:
        return f"Size({', '.join(map(str, self.numbers))})"


Number = int | Size


def stand_ins(count: int, traces: int) -> list[tuple[int, ...]]:
    """What stands for each of some unknown sizes, in each of some traces."""
    return [tuple(_STAND_INS[(n + m) % len(_STAND_INS)] for m in range(traces)) for n in range(count)]


def fitted(numbers: Sequence[int], symbols: Sequence[Symbol]) -> Number:
    """A number that all traces agree in, or how it depends on the unknown sizes."""
    return numbers[0] if len(set(numbers)) == 1 else Size(numbers, _terms(numbers, symbols))


def _terms(numbers: Sequence[int], symbols: Sequence[Symbol]) -> dict[tuple[Symbol, ...], int] | None:
    """The simplest sum of products that gives the numbers; more traces than factors prove it."""
    for products in _candidates(symbols):
        if len(products) >= len(numbers):
            continue
        rows = np.array([[prod(s.sizes[n] for s in product) for product in products] for n in range(len(numbers))])
        factors = np.rint(np.linalg.lstsq(rows, np.array(numbers), rcond=None)[0]).astype(np.int64)
        if np.array_equal(rows @ factors, numbers):
            return {product: int(k) for product, k in zip(products, factors, strict=True) if k}
    return None


def _candidates(symbols: Sequence[Symbol]) -> Iterator[list[tuple[Symbol, ...]]]:
    for symbol in symbols:
        yield [(), (symbol,)]
    for pair in combinations_with_replacement(symbols, 2):
        yield [(), pair]
    yield [(), *((symbol,) for symbol in symbols)]
