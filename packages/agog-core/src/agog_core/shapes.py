"""Shapes: static shapes, and shape rules of several families of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, overload

from agog_core.errors import InvalidArgumentError
from agog_core.tracers import present_tracer, tracing

__all__ = ["Dimension", "TensorShape"]

Shape = tuple[int, ...]

# The one tuple for each shape: `intern_shape` adds to it.
_interned: dict[Shape, Shape] = {}


def intern_shape(shape: Shape) -> Shape:
    """The interned tuple of a shape, so that equal shapes are nearly always the same object.

    Ops compare shapes by identity first; equal tuples that are different objects only take a slower path.
    """
    if len(_interned) > 10_000:
        _interned.clear()
    return _interned.setdefault(shape, shape)


class Dimension(int):
    """A known size along one axis; an ``int`` that also has TensorFlow's ``.value``.

    >>> Dimension(3) + 1, Dimension(3).value
    (4, 3)
    """

    __slots__ = ()

    def __new__(cls, value: Any = 0) -> Any:
        """A size; None if it is unknown, as in shapes."""
        return None if value is None else super().__new__(cls, value)

    @property
    def value(self) -> int:
        """The size as a plain int."""
        return int(self)

    def __repr__(self) -> str:
        return f"Dimension({int(self)})"

    def __str__(self) -> str:
        return str(int(self))


class TensorShape:
    """The sizes along a tensor's axes, some of which may be unknown (None).

    Args:
        dims: an iterable of sizes (int or None), one int for rank 1, or None for an unknown rank.

    Raises:
        ValueError: a size is negative.
        TypeError: a size is not an integer.

    >>> TensorShape([None, 3]).is_compatible_with((2, 3))
    True
    >>> TensorShape((2, 3)) == (2, 3), TensorShape((2, 3)).as_list()
    (True, [2, 3])
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims: tuple[int | None, ...] | None = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            sizes = dims if isinstance(dims, Iterable) else (dims,)
            self._dims = tuple(None if size is None else _size(size) for size in sizes)

    @property
    def ndims(self) -> int | None:
        """The rank, or None when it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def rank(self) -> int | None:
        """The rank, or None when it is unknown."""
        return self.ndims

    @property
    def dims(self) -> list[Dimension | None] | None:
        """The sizes as a list of `Dimension` (None for unknown ones), or None for an unknown rank."""
        return None if self._dims is None else [None if d is None else Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """The sizes as a list.

        Returns:
            A list of int, with None for unknown sizes.

        Raises:
            ValueError: the rank is unknown.
        """
        return list(self._known_rank("as_list()"))

    def num_elements(self) -> int | None:
        """The product of the sizes.

        Returns:
            The number of elements, or None when a size is unknown.
        """
        if self._dims is None:
            return None
        product = 1
        for size in self._dims:
            if size is None:
                return None
            product *= size
        return product

    def is_fully_defined(self) -> bool:
        """Whether every size is known.

        Returns:
            True when the rank and all sizes are known.
        """
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one tensor could have both shapes.

        Args:
            other: a `TensorShape` or what its constructor takes.

        Returns:
            True when the ranks agree and no two known sizes differ.
        """
        theirs = TensorShape(other)._dims
        if self._dims is None or theirs is None:
            return True
        pairs = zip(self._dims, theirs, strict=False)
        return len(self._dims) == len(theirs) and all(a is None or b is None or a == b for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise when no tensor could have both shapes.

        Args:
            other: a `TensorShape` or what its constructor takes.

        Raises:
            ValueError: the shapes are incompatible.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def _known_rank(self, what: str) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError(f"{what} is not defined on a TensorShape of unknown rank.")
        return self._dims

    @overload
    def __getitem__(self, key: int) -> Dimension | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> Dimension | TensorShape | None:
        dims = self._known_rank("Indexing")
        if isinstance(key, slice):
            return TensorShape(dims[key])
        size = dims[key]
        return None if size is None else Dimension(size)

    def __iter__(self) -> Iterator[Dimension | None]:
        return iter(None if d is None else Dimension(d) for d in self._known_rank("Iteration"))

    def __len__(self) -> int:
        return len(self._known_rank("len()"))

    def index(self, size: int | None, start: int = 0, stop: int | None = None) -> int:
        """The first axis of a size.

        Args:
            size: the size.
            start: the first axis to look at.
            stop: the axis to stop before; None for the rank.

        Returns:
            The axis.

        Raises:
            ValueError: no axis has that size.
        """
        dims = self._known_rank("index()")
        return dims.index(size, start, len(dims) if stop is None else stop)

    def count(self, size: int | None) -> int:
        """How many axes have a size.

        Args:
            size: the size.

        Returns:
            The number of axes.
        """
        return self._known_rank("count()").count(size)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, list)):
            return self._dims == tuple(other)
        if not isinstance(other, TensorShape):
            try:
                other = TensorShape(other)
            except (TypeError, ValueError):
                return NotImplemented
        return self._dims == other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __add__(self, other: Any) -> TensorShape:
        return TensorShape(self._known_rank("+") + TensorShape(other)._known_rank("+"))

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other) + self

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inside = ", ".join("?" if size is None else str(size) for size in self._dims)
        return f"({inside},)" if len(self._dims) == 1 else f"({inside})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"


# Not a base class: its metaclass would make every isinstance slow.
Sequence.register(TensorShape)


def _size(size: Any) -> int:
    try:
        known = int(size.__index__())
    except AttributeError:
        raise TypeError(f"A shape's sizes are integers or None; got {size!r} of type {type(size).__name__}.") from None
    if known < 0:
        raise ValueError(f"A shape's sizes are not negative; got {known}.")
    return known


@lru_cache(maxsize=4096)
def broadcast_shapes(op: str, x: Shape, y: Shape) -> Shape:
    """The shape that two shapes broadcast to, by NumPy's rules.

    Args:
        op: the op's name, for the error.
        x: a shape.
        y: a shape.

    Returns:
        The common shape.

    Raises:
        InvalidArgumentError: two sizes differ and neither is 1.

    >>> broadcast_shapes("add", (4, 1), (3,))
    (4, 3)
    """
    long, short = (x, y) if len(x) >= len(y) else (y, x)
    sizes = list(long)
    for axis, size in enumerate(short, len(long) - len(short)):
        if sizes[axis] == 1:
            sizes[axis] = size
        elif size not in (1, sizes[axis]):
            raise InvalidArgumentError(
                f"{op}: Incompatible shapes: {_listed(x)} vs. {_listed(y)}: sizes {sizes[axis]} and {size} differ and "
                "neither is 1. Reshape, tile or slice one of them."
            )
    return intern_shape(tuple(sizes))


def _listed(shape: Shape) -> str:
    """A shape as TensorFlow's errors show it, which programs look for."""
    return f"[{','.join(map(str, shape))}]"


def normalize_axis(op: str, axis: Any, rank: int) -> int:
    """Turn an axis, possibly negative, into one that counts from the front.

    >>> normalize_axis("concat", -1, 3)
    2
    """
    try:
        index = int(axis.__index__())
    except AttributeError:
        raise TypeError(f"{op}: axis must be an integer; got {axis!r} of type {type(axis).__name__}.") from None
    if not -rank <= index < rank:
        allowed = f"use -{rank} to {rank - 1}" if rank else "it has no axes"
        raise InvalidArgumentError(f"{op}: axis {index} is out of range for a tensor of rank {rank}; {allowed}.")
    return index % rank


def normalize_axes(op: str, axes: Any, rank: int, may_repeat: bool = False) -> Shape:
    """Turn the ``axis`` argument of a reduction (None for all, an integer, or several) into sorted axes.

    >>> normalize_axes("reduce_sum", -1, 3), normalize_axes("reduce_sum", None, 2)
    ((2,), (0, 1))
    """
    if axes is None:
        return tuple(range(rank))
    if type(axes) is int and -rank <= axes < rank:  # the most frequent one
        return (axes % rank,)
    if hasattr(axes, "numpy"):
        tracer = present_tracer() if tracing else None
        axes = (axes.numpy() if tracer is None else tracer.fixed(axes)).tolist()
    listed: tuple[Any, ...] = tuple(axes) if isinstance(axes, Iterable) else (axes,)
    found = tuple(sorted(normalize_axis(op, axis, rank) for axis in listed))
    if len(set(found)) != len(found):
        if may_repeat:
            return tuple(sorted(set(found)))
        raise InvalidArgumentError(f"{op}: axis {listed} names an axis of a rank {rank} tensor twice; name each once.")
    return found


@lru_cache(maxsize=4096)
def reduced_shape(shape: Shape, axes: Shape, keepdims: bool) -> Shape:
    """The shape that is left when axes are reduced.

    >>> reduced_shape((2, 3, 4), (1,), False), reduced_shape((2, 3, 4), (1,), True)
    ((2, 4), (2, 1, 4))
    """
    if keepdims:
        return intern_shape(tuple(1 if axis in axes else size for axis, size in enumerate(shape)))
    return intern_shape(tuple(size for axis, size in enumerate(shape) if axis not in axes))
