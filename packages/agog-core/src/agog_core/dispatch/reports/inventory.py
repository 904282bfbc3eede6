"""Inventory: what ops there are; for each its inputs, its gradient, its dtypes, and who brings kernels for it."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from agog_core import dtypes
from agog_core.dispatch.kernels.candidates import candidates_of_all_ops
from agog_core.dispatch.op import Op, all_ops
from agog_core.dtypes import DType

_GROUPS = {
    "floats": dtypes.FLOATING,
    "complex": dtypes.DIFFERENTIABLE - dtypes.FLOATING,
    "integers": dtypes.INTEGERS,
}


class Entry(NamedTuple):
    """One op.

    Args:
        name: its name.
        sentence: what it does.
        inputs: the names of its inputs; that of an op with any number of inputs starts with ``*``.
        differentiable: those that have a gradient.
        dtypes: names of dtypes and of groups of them.
        kernels: who brings kernels, such as ``"cpu (cpu-numpy)"``.
    """

    name: str
    sentence: str
    inputs: tuple[str, ...]
    differentiable: tuple[str, ...]
    dtypes: tuple[str, ...]
    kernels: tuple[str, ...]


def inventory(plugins: Collection[str] | None = None) -> list[Entry]:
    """List the ops by name, with the kernels of some plugins, or of all that are installed.

    >>> entry = next(entry for entry in inventory(["cpu-numpy"]) if entry.name == "gather")
    >>> entry.inputs, entry.differentiable, entry.kernels
    (('params', 'indices'), ('params',), ('cpu (cpu-numpy)',))
    """
    kernels = candidates_of_all_ops()  # first, because plugins bring ops too
    found = []
    for name, op in sorted(all_ops().items()):
        brought = [(c.kernel, c.plugin.name) for c in kernels.get(name, [])]
        shown = {_shown(op, *each): None for each in brought if plugins is None or each[1] in plugins}
        found.append(Entry(name, first_sentence(op.function), *_inputs(op), grouped(op.dtypes), tuple(sorted(shown))))
    return found


def _inputs(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    star = "*" if op.variadic else ""
    ordered = [name for name in op.inputs if name in op.differentiable_inputs]
    return tuple(star + name for name in op.inputs), tuple(star + name for name in ordered)


def _shown(op: Op, kernel: Any, plugin: str) -> str:
    served = op.dtypes if kernel.dtypes is None else {each for each in op.dtypes if each.name in kernel.dtypes}
    only = "" if served == op.dtypes else f": {', '.join(grouped(served))}"
    return f"{kernel.device} ({plugin}{only})"


def grouped(members: Iterable[DType]) -> tuple[str, ...]:
    """Name a set of dtypes by groups, where it holds a whole group.

    >>> grouped(dtypes.FLOATING | {dtypes.int32, dtypes.int64})
    ('floats', 'int32', 'int64')
    """
    members = set(members)
    if members == dtypes.ALL:
        return ("all",)
    names = [name for name, group in _GROUPS.items() if group <= members]
    rest = members.difference(*(_GROUPS[name] for name in names))
    return (*names, *(dtype.name for dtype in sorted(rest, key=lambda dtype: (dtype.name[0], dtype.size, dtype.name))))


def first_sentence(function: Any) -> str:
    """The first sentence of a docstring, as one line.

    >>> first_sentence(first_sentence)
    'The first sentence of a docstring, as one line.'
    """
    paragraph = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + stop.strip()
