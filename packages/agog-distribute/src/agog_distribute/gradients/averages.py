"""Averages: the gradients of all processes, which become those of the whole batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, Variable, nest
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor import wrap
from agog_core.tracers import present_recorder
from agog_distribute.collectives.ops import all_reduce
from agog_distribute.faults.agreement import texts_of
from agog_distribute.faults.place import line_of_program
from agog_distribute.gradients.buckets import forms_of
from agog_distribute.gradients.kinds import KINDS, NONE, ROWS, common_kind, kind_of
from agog_distribute.gradients.rows import gathered, rows_only
from agog_distribute.gradients.settings import Settings, check_settings
from agog_distribute.gradients.transfers import averager_of, check_forms, has_buckets
from agog_distribute.processes.groups import Group, everybody

__all__ = ["average_gradients"]


def average_gradients(
    gradients: Any,
    variables: Any = None,
    *,
    group: Group | None = None,
    reduction: str = "mean",
    compression: str | None = None,
    bucket_bytes: int | None = None,
) -> Any:
    """The mean of the processes' gradients, or their sum, in each process.

    A gradient that is None in some processes counts as zero there. Those of lookups, `IndexedSlices`, stay so where the
    rows of all processes are fewer than those of the variable.

    Args:
        gradients: a structure of tensors, `IndexedSlices` and None; or (gradient, variable) pairs, as `apply_gradients`
            takes them.
        variables: what they are the gradients of, in the same structure; needed where one is None here, and not in all
            processes. Pairs have them.
        group: the processes; all, by default.
        reduction: ``"mean"`` or ``"sum"``.
        compression: ``"bfloat16"`` sends the gradients of ``variables`` in half the bytes, and adds what that takes off
            one to the next one of the variable (F. Seide et al., Interspeech 2014; S. P. Karimireddy et al., ICML
            2019). In traced functions, and where tapes record, they are sent as they are.
        bucket_bytes: how many bytes are sent at once, at most; the first are a megabyte or less, unless all fit. By
            default it is a quarter of all, but no less than 1 MB and no more than 4 MB.

    Returns:
        The same structure, with the same bits in all processes; None where all have None.

    Raises:
        InvalidArgumentError: there is no such reduction, compression or size.
        AbortedError: the processes have gradients of unlike shapes or dtypes, or unlike arguments.

    >>> print(average_gradients(ag.constant([1.0, 2.0])))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    check_settings("average_gradients", reduction, compression, bucket_bytes)
    settings = Settings(group or everybody(), reduction, compression, bucket_bytes)
    if settings.group.size == 1:
        return gradients
    if variables is None and _are_pairs(gradients):
        parts, owners = map(list, zip(*gradients, strict=True))
        return list(zip(averaged(parts, owners, settings), owners, strict=True))
    leaves = nest.flatten(gradients)
    owners = [None] * len(leaves) if variables is None else nest.flatten(variables)
    if len(owners) != len(leaves):
        raise InvalidArgumentError(
            f"average_gradients: there must be as many variables as gradients; got {len(owners)} and {len(leaves)}."
        )
    return nest.pack(gradients, averaged(leaves, owners, settings))


def _are_pairs(gradients: Any) -> bool:
    return (
        isinstance(gradients, list)
        and len(gradients) > 0
        and all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Variable) for pair in gradients)
    )


def averaged(gradients: Sequence[Any], variables: Sequence[Any], settings: Settings) -> list[Any]:
    """`average_gradients` of lists."""
    group, reduction = settings.group, settings.reduction
    kinds = _agreed_kinds(group, gradients, variables)
    is_traced = present_recorder() is not None
    found: list[Any] = list(gradients)
    dense: dict[Any, list[int]] = {}
    for position, (kind, gradient, variable) in enumerate(zip(kinds, gradients, variables, strict=True)):
        if kind == NONE:
            continue
        if kind == ROWS and not is_traced and (rows := gathered(gradient, variable, group, reduction)) is not None:
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
        owners = [variables[position] for position in positions]
        parts = _reduced([found[position] for position in positions], owners, settings)
        for position, part in zip(positions, parts, strict=True):
            found[position] = rows_only(part, gradients[position], group) if kinds[position] == ROWS else part
    return found


def _agreed_kinds(group: Group, gradients: Sequence[Any], variables: Sequence[Any]) -> list[str]:
    """What each gradient is in all processes: rows only where it is dense in none of them."""
    forms = [_form(gradient, variable) for gradient, variable in zip(gradients, variables, strict=True)]
    own = "\n".join(f"{kind_of(gradient)} {form}" for gradient, form in zip(gradients, forms, strict=True))
    place = line_of_program()
    what = f"average_gradients of {len(forms)} gradients"

    def kinds_now() -> list[str]:
        texts = texts_of(group, what, own, place)
        return [_combined(group, n, lines) for n, lines in enumerate(zip(*map(str.splitlines, texts), strict=True))]

    recorder = present_recorder()
    if recorder is None:
        return kinds_now()
    # At each run, since another process may run Python anew where this one does not.
    (agreed,) = recorder.python(lambda: [[KINDS.index(kind) for kind in kinds_now()]], [], [ag.int64])
    return [KINDS[code] for code in recorder.known(agreed)._host()]


def _form(gradient: Any, variable: Any) -> str:
    what = gradient if variable is None else variable
    return "" if what is None else f"{what.dtype.name} {tuple(what.shape.as_list())}"


def _combined(group: Group, position: int, lines: Iterable[str]) -> str:
    """What all processes make of a gradient that is one thing here and another there."""
    kinds, forms = zip(*(line.split(" ", 1) for line in lines), strict=True)
    check_forms(group, position, forms)
    return common_kind(kinds)


def _reduced(tensors: list[Tensor], owners: Sequence[Any], settings: Settings) -> list[Tensor]:
    """The mean or sum of tensors of one dtype and device: in buckets, or by one op where tapes or traces see it."""
    if has_buckets(tensors):
        averaging = averager_of(settings.group).begin(settings, forms_of(tensors), owners, line_of_program())
        for position in reversed(range(len(tensors))):
            averaging.take(position, tensors[position]._array)
        averaging.finish()
        return [wrap(array, x._table, x._shape) for array, x in zip(averaging.averages(), tensors, strict=True)]
    whole = all_reduce(ag.concat([ag.reshape(x, [-1]) for x in tensors], 0), settings.reduction, settings.group)
    parts = ag.split(whole, [math.prod(x._shape) for x in tensors], 0)
    return [ag.reshape(part, x._shape) for part, x in zip(parts, tensors, strict=True)]
