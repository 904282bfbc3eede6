"""Matching: whether a call has arguments of the kind of a trace, by a function written for that kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.masks import has_mask
from agog_core.tensors.masks import known as masked
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.source import Source
from agog_core.tracing.state.leaves import equals, exact, field_names, is_single, parts, tensors_of

# ``match(args, kwargs, tapes)``: the arrays and the tensors among the arguments of a call; None where they, or what its
# tapes watch, are of another kind.
Matcher = Callable[..., "tuple[list[Any], Sequence[Tensor]] | None"]
# Adds lines to such a function, of the tensors among the arguments and what it calls these.
Check = Callable[[Source, Sequence[Tensor], Sequence[str]], None]

_COMPARED = frozenset({bool, int, str, bytes})  # equal values of these types are the same
_NUMBERS = "biufc"  # kinds of arrays
_NO = "return None"


def matcher(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], has_signature: bool, also: Check | None = None
) -> Matcher | None:
    """What takes the arguments of a kind, which have the key of these; None where only the key can tell.

    Args:
        args: positional arguments, as a call has given them.
        kwargs: its other arguments.
        has_signature: whether the function makes tensors of arguments.
        also: adds lines that compare what else decides.

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
    given = nest.map_structure(
        lambda leaf: convert_to_tensor(leaf) if type(leaf) is np.ndarray else leaf, (args, kwargs)
    )
    return made.finish([name for name in names if name in made.tensors], tensors_of(given), also)


class _UnknownError(Exception):
    """An argument whose kind only its key tells."""


class _Source(Source):
    """The lines of such a function."""

    def __init__(self) -> None:
        names = {"Tensor": Tensor, "masked": masked, "has_mask": has_mask, "equals": equals, "exact": exact}
        names |= {"ndarray": np.ndarray, "convert": convert_to_tensor}
        super().__init__("match(args, kwargs, tapes=())", names)
        self.tensors: set[str] = set()  # the names of those among the arguments

    def finish(self, names: Sequence[str], tensors: Sequence[Tensor], also: Check | None) -> Matcher:
        """The function, where all lines of the arguments are there: of the names of the tensors among them."""
        same = equals(tensors)
        self.add(f"tensors = ({''.join(f'{name}, ' for name in names)})")
        if len(names) == 2 and same is None:
            self.add(f"if {names[0]} is {names[1]}: {_NO}")
        elif len(names) > 1:
            self.add(f"if equals(tensors) != {same}: {_NO}")
        if names:
            self.add(f"if masked and any(map(has_mask, tensors)): {_NO}")
        if also is not None:
            also(self, tensors, names)
        self.add(f"return [{''.join(f'{name}_array, ' for name in names)}], tensors")
        return self.function()

    def structure(self, value: Any, name: str) -> Any:
        """Add what holds of a part of the arguments, and return the names of its leaves in a structure like it."""
        kind = type(value)
        if not nest.is_nested(value):
            self._leaf(value, name)
            return name
        if kind not in (tuple, list, dict):
            raise _UnknownError
        if name not in ("args", "kwargs"):
            self._unless(f"type({name}) is {self.constant(kind)}")
        self._unless(f"len({name}) == {len(value)}" if value else f"not {name}")
        if kind is dict:
            if set(map(type, value)) - {str}:
                raise _UnknownError
            keys = [self.name() for _ in value]
            self._take(keys, name)
            for key, expected in zip(keys, value, strict=True):  # by the order, which the function may see
                self._unless(f"{key} == {expected!r} and type({key}) is str")
            names = {expected: self.name() for expected in value}
            for expected, each in names.items():
                self.add(f"{each} = {name}[{expected!r}]")
            return {expected: self.structure(value[expected], each) for expected, each in names.items()}
        each_name = [self.name() for _ in value]
        self._take(each_name, name)
        return [self.structure(*pair) for pair in zip(value, each_name, strict=True)]

    def _leaf(self, value: Any, name: str) -> None:
        kind = type(value)
        if is_single(value):
            self._unless(f"type({name}) is Tensor")
            self._tensor(value, name)
        elif kind is np.ndarray and value.dtype.kind in _NUMBERS:
            dtype, shape = self.constant(value.dtype), self.constant(value.shape)
            self._unless(f"type({name}) is ndarray and {name}.dtype == {dtype} and {name}.shape == {shape}")
            self.add(f"{name} = convert({name})")
            self._tensor(convert_to_tensor(value), name)
        elif parts(value) is not None or isinstance(value, np.ndarray) or field_names(value) is not None:
            raise _UnknownError  # it is made of tensors, or becomes one
        elif value is None or kind.__eq__ is object.__eq__:  # type: ignore[comparison-overlap]  # taken for bound
            self._unless(f"{name} is {self.constant(value)}")
        elif kind in _COMPARED or (kind is float and value != 0 and value == value):
            self._unless(f"type({name}) is {self.constant(kind)} and {name} == {self.constant(value)}")
        else:  # such as 0.0, NaN, and NumPy's numbers
            self._unless(f"type({name}) is {self.constant(kind)} and exact({name}) == {self.constant(exact(value))}")

    def _tensor(self, value: Tensor, name: str) -> None:
        table, shape = self.constant(value._table), self.constant(value._shape)
        self._unless(f"{name}._table is {table} and {name}._shape == {shape}")
        self.add(f"{name}_array = {name}._array")
        strides = getattr(value._array, "strides", None)
        if strides:  # what has rank 0 has none to look at
            self._unless(f"{name}_array.strides == {self.constant(strides)}")
        self.tensors.add(name)

    def _take(self, names: Sequence[str], structure: str) -> None:
        if names:
            self.add(f"{''.join(f'{name}, ' for name in names)} = {structure}")

    def _unless(self, condition: str) -> None:
        self.add(f"if not ({condition}): {_NO}")
