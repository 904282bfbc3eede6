"""Matching: whether a call has arguments of the kind of a trace, by a function written for that kind."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.masks import has_mask
from agog_core.tensors.masks import known as masked
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.state.leaves import equals, exact, field_names, is_single, parts, tensors_of

# Of the arguments of a call: the arrays and the tensors among them, or None where they are of another kind.
Matcher = Callable[[tuple[Any, ...], Mapping[str, Any]], "tuple[list[Any], Sequence[Tensor]] | None"]

_COMPARED = frozenset({bool, int, str, bytes})  # equal values of these types are the same
_NUMBERS = "biufc"  # kinds of arrays
_NO = "return None"


def matcher(args: tuple[Any, ...], kwargs: Mapping[str, Any], has_signature: bool) -> Matcher | None:
    """What takes the arguments of a kind, which have the key of these; None where only the key can tell.

    Args:
        args: positional arguments, as a call has given them.
        kwargs: its other arguments.
        has_signature: whether the function makes tensors of arguments.

    >>> from agog_core.tensors.constant import constant
    >>> match = matcher((constant(1.0), 3), {}, has_signature=False)
    >>> match((constant(2.0), 3), {})[0], match((constant(2.0), True), {}), match((constant(2),), {})
    ([array(2., dtype=float32)], None, None)
    """
    leaves = nest.flatten((args, kwargs))
    if has_signature and not {Tensor, np.ndarray}.issuperset(map(type, leaves)):
        return None
    made = _Source()
    try:
        names = nest.flatten((made.structure(args, "args"), made.structure(kwargs, "kwargs")))
    except _UnknownError:
        return None
    tensors = [name for name in names if name in made.tensors]
    given = nest.map_structure(
        lambda leaf: convert_to_tensor(leaf) if type(leaf) is np.ndarray else leaf, (args, kwargs)
    )
    return made.function(tensors, equals(tensors_of(given)))


class _UnknownError(Exception):
    """An argument whose kind only its key tells."""


class _Source:
    """The lines of such a function, with what they compare to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tensors: set[str] = set()  # the names of those among the arguments
        self._scope: dict[str, Any] = {"Tensor": Tensor, "masked": masked, "has_mask": has_mask, "equals": equals}
        self._scope |= {"exact": exact, "pack": struct.pack, "ndarray": np.ndarray, "convert": convert_to_tensor}
        self._count = 0

    def function(self, tensors: Sequence[str], same: tuple[int, ...] | None) -> Matcher:
        """The function, where all lines are there."""
        one = "".join(f"{name}, " for name in tensors)
        self._add(f"    tensors = ({one})")
        if len(tensors) == 2 and same is None:
            self._add(f"    if {tensors[0]} is {tensors[1]}: {_NO}")
        elif len(tensors) > 1:
            self._add(f"    if equals(tensors) != {same}: {_NO}")
        if tensors:
            self._add(f"    if masked and any(map(has_mask, tensors)): {_NO}")
        self._add(f"    return [{''.join(f'{name}_array, ' for name in tensors)}], tensors")
        source = "\n".join(["def match(args, kwargs):", *self.lines])
        exec(compile(source, "<matcher of arguments>", "exec"), self._scope)
        found: Matcher = self._scope["match"]
        return found

    def structure(self, value: Any, name: str) -> Any:
        """Add what holds of a part of the arguments, and return the names of its leaves in a structure like it."""
        kind = type(value)
        if not nest.is_nested(value):
            self._leaf(value, name)
            return name
        if kind not in (tuple, list, dict):
            raise _UnknownError
        if name not in ("args", "kwargs"):
            self._unless(f"type({name}) is {self._constant(kind)}")
        self._unless(f"len({name}) == {len(value)}" if value else f"not {name}")
        if kind is dict:
            if set(map(type, value)) - {str}:
                raise _UnknownError
            keys = [self._name() for _ in value]
            self._take(keys, name)
            for key, expected in zip(keys, value, strict=True):  # by the order, which the function may see
                self._unless(f"{key} == {expected!r} and type({key}) is str")
            names = {expected: self._name() for expected in value}
            for expected, each in names.items():
                self._add(f"    {each} = {name}[{expected!r}]")
            return {expected: self.structure(value[expected], each) for expected, each in names.items()}
        each_name = [self._name() for _ in value]
        self._take(each_name, name)
        return [self.structure(*pair) for pair in zip(value, each_name, strict=True)]

    def _leaf(self, value: Any, name: str) -> None:
        kind = type(value)
        if is_single(value):
            self._unless(f"type({name}) is Tensor")
            self._tensor(value, name)
        elif kind is np.ndarray and value.dtype.kind in _NUMBERS:
            dtype, shape = self._constant(value.dtype), self._constant(value.shape)
            self._unless(f"type({name}) is ndarray and {name}.dtype == {dtype} and {name}.shape == {shape}")
            self._add(f"    {name} = convert({name})")
            self._tensor(convert_to_tensor(value), name)
        elif parts(value) is not None or isinstance(value, np.ndarray) or field_names(value) is not None:
            raise _UnknownError  # it is made of tensors, or becomes one
        elif value is None or kind.__eq__ is object.__eq__:  # type: ignore[comparison-overlap]  # taken for bound
            self._unless(f"{name} is {self._constant(value)}")
        elif kind in _COMPARED or (kind is float and value != 0 and value == value):
            self._unless(f"type({name}) is {self._constant(kind)} and {name} == {self._constant(value)}")
        else:  # such as 0.0, NaN, and NumPy's numbers
            self._unless(f"type({name}) is {self._constant(kind)} and exact({name}) == {self._constant(exact(value))}")

    def _tensor(self, value: Tensor, name: str) -> None:
        table, shape = self._constant(value._table), self._constant(value._shape)
        self._unless(f"{name}._table is {table} and {name}._shape == {shape}")
        self._add(f"    {name}_array = {name}._array")
        strides = getattr(value._array, "strides", None)
        if strides:  # what has rank 0 has none to look at
            self._unless(f"{name}_array.strides == {self._constant(strides)}")
        self.tensors.add(name)

    def _take(self, names: Sequence[str], structure: str) -> None:
        if names:
            self._add(f"    {''.join(f'{name}, ' for name in names)} = {structure}")

    def _unless(self, condition: str) -> None:
        self._add(f"    if not ({condition}): {_NO}")

    def _add(self, line: str) -> None:
        self.lines.append(line)

    def _name(self) -> str:
        self._count += 1
        return f"x{self._count}"

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._scope)}"
        self._scope[name] = value
        return name
