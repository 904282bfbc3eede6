"""Averages: the gradients of all processes, which become those of the whole batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import agog_core as ag
from agog_core import IndexedSlices, Tensor, nest
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor import wrap
from agog_core.tracers import present_tracer, tracing
from agog_distribute.agreement import texts_of
from agog_distribute.averaging import averager_of, check_forms, has_buckets
from agog_distribute.buckets import Form
from agog_distribute.groups import Group, everybody
from agog_distribute.ops import all_gather, all_reduce
from agog_distribute.place import line_of_program

__all__ = ["average_gradients"]

REDUCTIONS = ("mean", "sum")


def average_gradients(
    gradients: Any, variables: Any = None, *, group: Group | None = None, reduction: str = "mean"
) -> Any:
    """The mean of the processes' gradients, or their sum, in each process.

    A gradient that is None in some processes counts as zero there. Those of lookups, `IndexedSlices`, stay so where the
    rows of all processes are fewer than those of the variable.

    Args:
        gradients: a structure of tensors, `IndexedSlices` and None.
        variables: what they are the gradients of, in the same structure; needed where one is None here, and not in all
            processes.
        group: the processes; all, by default.
        reduction: ``"mean"`` or ``"sum"``.

    Returns:
        The same structure, with the same bits in all processes; None where all have None.

    Raises:
        InvalidArgumentError: there is no such reduction.
        AbortedError: the processes have gradients of unlike shapes or dtypes.

    >>> print(average_gradients(ag.constant([1.0, 2.0])))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    members = group or everybody()
    check_reduction("average_gradients", reduction)
    if members.size == 1:
        return gradients
    leaves = nest.flatten(gradients)
    owners = [None] * len(leaves) if variables is None else nest.flatten(variables)
    if len(owners) != len(leaves):
        raise InvalidArgumentError(
            f"average_gradients: there must be as many variables as gradients; got {len(owners)} and {len(leaves)}."
        )
    return nest.pack(gradients, averaged(leaves, owners, members, reduction))


def check_reduction(owner: str, reduction: str) -> None:
    """Refuse reductions that gradients have not."""
    if reduction not in REDUCTIONS:
        raise InvalidArgumentError(f"{owner}: reduction must be 'mean' or 'sum'; got {reduction!r}.")


def averaged(gradients: Sequence[Any], variables: Sequence[Any], group: Group, reduction: str) -> list[Any]:
    """`average_gradients` of lists."""
    kinds = _agreed_kinds(group, gradients, variables)
    found: list[Any] = list(gradients)
    dense: dict[Any, list[int]] = {}
    for position, (kind, gradient, variable) in enumerate(zip(kinds, gradients, variables, strict=True)):
        if kind == _NONE:
            continue
        if kind == _ROWS and (rows := _gathered(gradient, variable, group, reduction)) is not None:
            found[position] = rows
            continue
        if gradient is None and variable is None:
            raise InvalidArgumentError(
                f"average_gradients: gradient {position} is None here, but not in all processes; pass variables=, "
                "whose shapes the zeros can take."
            )
        tensor = ag.zeros_like(variable) if gradient is None else ag.convert_to_tensor(gradient)
        found[position] = tensor
        dense.setdefault((tensor.dtype.name, tensor.device), []).append(position)
    for positions in dense.values():
        parts = _reduced([found[position] for position in positions], group, reduction)
        for position, part in zip(positions, parts, strict=True):
            found[position] = part
    return found


_NONE, _DENSE, _ROWS = "none", "dense", "rows"


def _kind(gradient: Any) -> str:
    return _NONE if gradient is None else _ROWS if type(gradient) is IndexedSlices else _DENSE


def _agreed_kinds(group: Group, gradients: Sequence[Any], variables: Sequence[Any]) -> list[str]:
    """What each gradient is in all processes: rows only where it is dense in none of them."""
    forms = [_form(gradient, variable) for gradient, variable in zip(gradients, variables, strict=True)]
    own = "\n".join(f"{_kind(gradient)} {form}" for gradient, form in zip(gradients, forms, strict=True))
    place = line_of_program()
    what = f"average_gradients of {len(forms)} gradients"

    def kinds_now() -> list[str]:
        texts = texts_of(group, what, own, place)
        return [_combined(group, n, lines) for n, lines in enumerate(zip(*map(str.splitlines, texts), strict=True))]

    if not tracing or (tracer := present_tracer()) is None or not tracer.records:
        return kinds_now()
    # At each run, since another process may run Python anew where this one does not.
    codes = (_NONE, _DENSE, _ROWS)
    (agreed,) = tracer.python(lambda: [[codes.index(kind) for kind in kinds_now()]], [], [ag.int64])
    kinds = [codes[code] for code in tracer.known(agreed)._host()]
    return [_DENSE if kind == _ROWS else kind for kind in kinds]  # the number of rows is each run's


def _form(gradient: Any, variable: Any) -> str:
    what = gradient if variable is None else variable
    return "" if what is None else f"{what.dtype.name} {tuple(what.shape.as_list())}"


def _combined(group: Group, position: int, lines: Iterable[str]) -> str:
    """What all processes make of a gradient that is one thing here and another there."""
    kinds, forms = zip(*(line.split(" ", 1) for line in lines), strict=True)
    check_forms(group, position, forms)
    return _DENSE if _DENSE in kinds else _ROWS if _ROWS in kinds else _NONE


def _reduced(tensors: list[Tensor], group: Group, reduction: str) -> list[Tensor]:
    """The mean or sum of tensors of one dtype and device: in buckets, or by one op where tapes or traces see it."""
    if has_buckets(tensors):
        forms = [Form(x.dtype.name, x._shape) for x in tensors]
        averaging = averager_of(group).begin(forms, reduction, line_of_program())
        for position in reversed(range(len(tensors))):
            averaging.take(position, tensors[position]._array)
        averaging.finish()
        return [wrap(array, x._table, x._shape) for array, x in zip(averaging.averages(), tensors, strict=True)]
    whole = all_reduce(ag.concat([ag.reshape(x, [-1]) for x in tensors], 0), reduction, group)
    parts = ag.split(whole, [math.prod(x._shape) for x in tensors], 0)
    return [ag.reshape(part, x._shape) for part, x in zip(parts, tensors, strict=True)]


def _gathered(gradient: IndexedSlices | None, variable: Any, group: Group, reduction: str) -> IndexedSlices | None:
    """The rows of all processes, one behind the other; None where they are no fewer than those of the variable."""
    if gradient is None:
        if variable is None:
            return None
        none = ag.zeros((0, *variable.shape.as_list()[1:]), variable.dtype)
        gradient = IndexedSlices(none, ag.zeros([0], "int64"), variable.shape.as_list())
    shape = gradient._shape
    counts = [int(count) for count in all_gather(ag.constant([gradient.indices._shape[0]], "int64"), group).numpy()]
    if shape is None or sum(counts) >= shape[0]:
        return None
    # Collectives take equal shapes: all add rows up to the longest's number, which nobody keeps.
    more = max(counts) - gradient.indices._shape[0]
    rows = ag.pad(gradient.values, [[0, more], *([0, 0] for _ in shape[1:])])
    numbers = ag.pad(ag.cast(gradient.indices, "int64"), [[0, more]])
    values = ag.concat([part[:n] for part, n in zip(_parts(all_gather(rows, group), counts), counts, strict=True)], 0)
    indices = [part[:n] for part, n in zip(_parts(all_gather(numbers, group), counts), counts, strict=True)]
    if reduction == "mean":
        values = values / group.size
    return IndexedSlices(values, ag.concat(indices, 0), shape)


def _parts(whole: Tensor, counts: list[int]) -> list[Tensor]:
    found: list[Tensor] = ag.split(whole, len(counts), 0)
    return found
