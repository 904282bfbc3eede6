"""Leaves: what structures of arguments and results hold: tensors, sparse tensors, and Python values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields
from numbers import Number
from operator import itemgetter
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.masks import has_mask, own_mask, with_mask
from agog_core.tensors.masks import known as masked
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.source import Source
from agog_core.tracing.state.device import untraced

_PLAIN = frozenset({bool, int, str, bytes, type(None)})  # whose equal values are the same

# The tensors that a leaf is made of, and what makes a leaf like it of others.
Parts = tuple[list[Tensor], Callable[[Sequence[Tensor]], Any]]


def parts(leaf: Any) -> Parts | None:
    """The tensors of a leaf, and how to make one like it; None where it is a Python value."""
    if isinstance(leaf, Tensor):
        mask = own_mask(leaf) if masked else None
        if mask is None:
            return [leaf], lambda tensors: tensors[0]
        return [leaf, mask], lambda tensors: with_mask(tensors[0], tensors[1])
    if isinstance(leaf, IndexedSlices):
        shape = leaf._shape
        return [leaf.values, leaf.indices], lambda tensors: IndexedSlices(tensors[0], tensors[1], shape)
    if isinstance(leaf, SparseTensor):
        size = untraced(leaf.dense_shape)
        return [leaf.indices, leaf.values], lambda tensors: SparseTensor(tensors[0], tensors[1], size)
    if (names := field_names(leaf)) is not None:
        packing = Packing([getattr(leaf, name) for name in names])
        if packing.tensors:
            tensors, empty = packing.tensors, with_fields(leaf, dict.fromkeys(names))
            packing.release()
            return tensors, lambda tensors: with_fields(empty, dict(zip(names, packing(tensors), strict=True)))
    return None


def field_names(value: Any) -> list[str] | None:
    """The names of the fields of a dataclass's object, or of one that the package attrs knows; None for any other, and
    for those that equal themselves alone."""
    kind = type(value)
    if kind.__eq__ is object.__eq__:  # type: ignore[comparison-overlap]  # mypy takes one for bound
        return None
    if hasattr(kind, "__dataclass_fields__"):
        return [each.name for each in fields(value)]
    return [each.name for each in kind.__attrs_attrs__] if hasattr(kind, "__attrs_attrs__") else None


def with_fields(value: Any, changed: Mapping[str, Any]) -> Any:
    """A copy of such an object in which some fields have other values."""
    made = copy(value)
    for name, each in changed.items():
        object.__setattr__(made, name, each)  # also where it is frozen
    return made


def is_single(leaf: Any) -> bool:
    """Whether a leaf is a tensor without a mask."""
    return type(leaf) is Tensor and not (masked and has_mask(leaf))


def is_eager(leaf: Any) -> bool:
    """Whether it is such a tensor of eager code."""
    return is_single(leaf) and not leaf._table.traces


def tensors_of(structure: Any) -> list[Tensor]:
    """The tensors of a structure's leaves, in the order that a `Packing` has them in."""
    found: list[Tensor] = []
    for leaf in nest.flatten(structure):
        if is_single(leaf):
            found.append(leaf)
        elif (made := parts(leaf)) is not None:
            found += made[0]
    return found


def equals(tensors: Sequence[Tensor]) -> tuple[int, ...] | None:
    """The first place of each tensor; None where none comes twice."""
    if len(tensors) < 2 or (len(tensors) == 2 and tensors[0] is not tensors[1]):
        return None
    if len(set(map(id, tensors))) == len(tensors):
        return None
    places = {id(x): place for place, x in reversed(list(enumerate(tensors)))}
    return tuple([places[id(x)] for x in tensors])


def key_of_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """What of a tensor decides which trace it takes: device and dtype, shape, and strides where there are any."""
    return tensor._table, tensor._shape, getattr(tensor._array, "strides", None)


def key_of_leaf(leaf: Any) -> Any:
    """What of an argument decides which trace it takes; of Python values see `exact`."""
    found = parts(leaf)
    if found is None:
        return exact(leaf)
    if (names := field_names(leaf)) is not None:
        values = [getattr(leaf, name) for name in names]
        return type(leaf), key_of_structure(values), *map(key_of_leaf, nest.flatten(values))
    size = tuple(leaf.shape.as_list()) if isinstance(leaf, (IndexedSlices, SparseTensor)) else None
    return type(leaf), size, *map(key_of_tensor, found[0])


def exact(value: Any) -> Any:
    """A stand-in for a Python value that equals those of the same type and bits alone: Python takes 1, 1.0 and True for
    equal, and so it does 0.0 and -0.0, and no NaN for equal to itself.

    >>> exact(0.0) == exact(-0.0), exact(1) == exact(True), exact(frozenset([1.0])) == exact(frozenset([1.0]))
    (False, False, True)
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, np.generic):
        return kind, (value.dtype.str, value.tobytes())
    if isinstance(value, float):
        return kind, struct.pack("d", value)
    if isinstance(value, complex):
        return kind, struct.pack("dd", value.real, value.imag)
    if isinstance(value, tuple):
        return kind, tuple(map(exact, value))
    if isinstance(value, frozenset):
        return kind, frozenset(map(exact, value))
    if isinstance(value, (Number, range)):  # such as Decimal, of which two may be equal and have other digits
        return kind, repr(value)
    if (names := field_names(value)) is not None:
        return kind, tuple([exact(getattr(value, name)) for name in names])
    return kind, value


def key_of_structure(structure: Any) -> Any:
    """The form of a structure, without its leaves."""
    if nest.is_mapping(structure):
        return type(structure), tuple([(exact(key), key_of_structure(each)) for key, each in structure.items()])
    if isinstance(structure, (tuple, list)):
        return type(structure), tuple(map(key_of_structure, structure))
    return None


class Packing:
    """A structure whose tensors are taken out, to make others like it.

    >>> from agog_core.tensors.constant import constant
    >>> packing = Packing({"x": constant(1.0), "n": 3})
    >>> len(packing.tensors), packing([constant(2.0)])["x"].numpy(), packing([constant(2.0)])["n"]
    (1, np.float32(2.0), 3)
    """

    def __init__(self, structure: Any) -> None:
        self.single = is_single(structure)
        # Whether it is a flat list or tuple of tensors.
        self.are_tensors = type(structure) in (list, tuple) and all(type(x) is Tensor for x in structure)
        self.tensors: list[Tensor] = []
        self.is_plain = True  # whether it is of lists, tuples and dicts, of tensors without masks and of other values
        self._make = self._maker(structure)
        if self.are_tensors and len(self.tensors) == len(structure):  # without masks
            self._make = type(structure)

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        return self._make(tensors)

    def _maker(self, part: Any) -> Callable[[Sequence[Tensor]], Any]:
        """What makes a part like this one; its tensors are taken out."""
        if not nest.is_nested(part):
            return self._maker_of_leaf(part)
        if type(part) is dict:
            known = {key: self._maker(part[key]) for key in sorted(part)}  # in the order that `nest` has
            items = [(key, known[key]) for key in part]
            return lambda tensors: {key: make(tensors) for key, make in items}
        if type(part) in (tuple, list):
            kind, makers = type(part), list(map(self._maker, part))
            return lambda tensors: kind([make(tensors) for make in makers])
        self.is_plain = False
        makers = list(map(self._maker_of_leaf, nest.flatten(part)))
        form = nest.map_structure(lambda leaf: None, part)
        return lambda tensors: nest.pack(form, [make(tensors) for make in makers])

    def _maker_of_leaf(self, leaf: Any) -> Callable[[Sequence[Tensor]], Any]:
        found = parts(leaf)
        if found is None:
            return lambda tensors: leaf
        start = len(self.tensors)
        self.tensors += found[0]
        if is_single(leaf):
            return itemgetter(start)
        self.is_plain = False
        stop, make = len(self.tensors), found[1]
        return lambda tensors: make(tensors[start:stop])

    def release(self) -> None:
        """Let go of the tensors."""
        self.tensors = []


class _Name(str):
    """The name of a tensor in a function that is written."""

    __slots__ = ()


def written(pack: Callable[[Any], Any], names: Sequence[str], source: Source) -> str:
    """The text of what is packed of tensors that have names in a function that is written.

    >>> from agog_core.tensors.constant import constant
    >>> written(Packing({"x": constant(1.0), "y": [None, constant(2.0)]}), ["a", "b"], Source("f()", {}))
    '{c2: a, c3: [c4, b]}'
    """
    if not getattr(pack, "is_plain", False):
        return f"{source.constant(pack)}([{', '.join(names)}])"

    def text(part: Any) -> str:
        if type(part) is dict:
            return f"{{{', '.join(f'{source.constant(key)}: {text(each)}' for key, each in part.items())}}}"
        if type(part) is tuple:
            return f"({''.join(f'{text(each)}, ' for each in part)})"
        if type(part) is list:
            return f"[{', '.join(map(text, part))}]"
        return part if type(part) is _Name else source.constant(part)

    return text(pack([_Name(each) for each in names]))
