"""Ops: collectives, which all processes of a group call in the same order, with tensors of one shape and dtype.

A traced function calls them at each of its runs, in the order of the program: they are never merged, dropped or folded,
not even those of constants. Their gradients are those of the sum of what all processes compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Op, Tensor, call, convert_to_tensor, dtypes
from agog_core.shapes import Shape
from agog_core.tracers import present_recorder
from agog_distribute.collectives import kernels
from agog_distribute.faults.agreement import agree
from agog_distribute.faults.place import line_of_program
from agog_distribute.processes.groups import Group, everybody

__all__ = ["all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "reduce_scatter"]

REDUCTIONS = ("sum", "mean", "max", "min")


def all_reduce(x: Any, reduction: str = "sum", group: Group | None = None, name: str | None = None) -> Tensor:
    """The sum of the processes' tensors, or their mean, maximum or minimum, element by element, in each process.

    Args:
        x: a tensor of numbers.
        reduction: ``"sum"``, ``"mean"`` (of floats), ``"max"`` or ``"min"``.
        group: the processes; all, by default.

    Returns:
        A tensor of the same shape and dtype, with the same bits in all processes. Where several processes have the
        maximum or the minimum, they share its gradient.

    Raises:
        InvalidArgumentError: there is no such reduction, or it is a mean of integers.
        AbortedError: the processes are not about to do the same.

    >>> print(all_reduce([1.0, 2.0], "mean"))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    check_reduction("all_reduce", reduction, tensor, REDUCTIONS)
    return _collective(_all_reduce, kernels.all_reduce, tensor, reduction=reduction, group=group or everybody())


def all_gather(x: Any, group: Group | None = None, name: str | None = None) -> Tensor:
    """The processes' tensors one behind the other, along the first axis, in each process.

    Args:
        x: a tensor, not a scalar.
        group: the processes; all, by default.

    Returns:
        A tensor of shape ``(size * x.shape[0], *x.shape[1:])``.

    Raises:
        InvalidArgumentError: it is a scalar.
        AbortedError: the processes are not about to do the same.

    >>> print(all_gather([1.0, 2.0]))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return _collective(_all_gather, kernels.all_gather, convert_to_tensor(x), group=group or everybody())


def reduce_scatter(x: Any, reduction: str = "sum", group: Group | None = None, name: str | None = None) -> Tensor:
    """The part for this process, along the first axis, of the sum or mean of the processes' tensors.

    Args:
        x: a tensor whose first axis the number of processes divides.
        reduction: ``"sum"`` or ``"mean"`` (of floats).
        group: the processes; all, by default.

    Returns:
        A tensor of shape ``(x.shape[0] // size, *x.shape[1:])``.

    Raises:
        InvalidArgumentError: there is no such reduction, or the first axis cannot be divided.
        AbortedError: the processes are not about to do the same.

    >>> print(reduce_scatter([1.0, 2.0]))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    check_reduction("reduce_scatter", reduction, tensor, REDUCTIONS[:2])
    return _collective(_reduce_scatter, kernels.reduce_scatter, tensor, reduction=reduction, group=group or everybody())


def broadcast(x: Any, root: int = 0, group: Group | None = None, name: str | None = None) -> Tensor:
    """The tensor of one process, in each of them.

    Args:
        x: a tensor; in all processes of the shape and dtype of the root's.
        root: the rank, in the group, of the process whose tensor is taken.
        group: the processes; all, by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: there is no such rank.
        AbortedError: the processes are not about to do the same.

    >>> print(broadcast([1.0, 2.0]))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    members = group or everybody()
    if not 0 <= root < members.size:
        raise InvalidArgumentError(f"broadcast: root must be a rank from 0 to {members.size - 1}; got {root}.")
    return _collective(_broadcast, kernels.broadcast, convert_to_tensor(x), root=int(root), group=members)


def all_to_all(x: Any, group: Group | None = None, name: str | None = None) -> Tensor:
    """Give each process its part of a tensor, along the first axis, and get one from each.

    Args:
        x: a tensor whose first axis the number of processes divides: the part for rank 0, that for rank 1, and so on.
        group: the processes; all, by default.

    Returns:
        A tensor of the same shape and dtype: the part from rank 0, that from rank 1, and so on.

    Raises:
        InvalidArgumentError: the first axis cannot be divided.
        AbortedError: the processes are not about to do the same.

    >>> print(all_to_all([1.0, 2.0]))  # in one process
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    return _collective(_all_to_all, kernels.all_to_all, convert_to_tensor(x), group=group or everybody())


def barrier(group: Group | None = None) -> None:
    """Wait until all processes of a group are here; in a traced function at each run.

    Args:
        group: the processes; all, by default.

    Raises:
        AbortedError: the processes are not about to do the same.

    >>> barrier()
    """
    members, place = group or everybody(), line_of_program()

    def wait() -> list[Any]:
        agree(members, "barrier", place=place)
        members.communicator.barrier()
        return []

    recorder = present_recorder()
    if recorder is None:
        wait()
    else:
        recorder.python(wait, [], [])


def check_reduction(op: str, reduction: str, x: Tensor, known: tuple[str, ...]) -> None:
    """Refuse reductions that there are not, and means of integers."""
    if reduction not in known:
        raise InvalidArgumentError(f"{op}: reduction must be {', '.join(map(repr, known))}; got {reduction!r}.")
    if reduction in ("max", "min") and x.dtype.is_complex:
        raise InvalidArgumentError(f"{op}: complex numbers have no {reduction}; got x of {x.dtype.name}.")
    if reduction == "mean" and not (x.dtype.is_floating or x.dtype.is_complex):
        raise InvalidArgumentError(f"{op}: a mean of {x.dtype.name} is no {x.dtype.name}; cast x to a float, or sum.")


def _collective(op: Op, kernel: Callable[..., Any], x: Tensor, **attributes: Any) -> Tensor:
    """Call an op; in a traced function as a function of the program's, which runs at each run, behind all guards."""
    recorder = present_recorder()
    if recorder is None:
        return call(op, x, **attributes)
    place = line_of_program()  # at each run it would be the line that calls the traced function
    (edge,) = op.edges

    @ag.custom_gradient
    def traced(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        (out,) = recorder.python(lambda array: [kernel(array, **attributes, place=place)], [x], [x.dtype])
        kept = edge.keep(out, (x,), attributes, ())
        return out, lambda g: edge.vjp(g, *kept)

    found: Tensor = traced(x)
    return found


def _all_reduce_vjp(g: Tensor, x: Tensor | None, out: Tensor | None, reduction: str, group: Group) -> Tensor:
    if x is None or out is None:
        return all_reduce(g, reduction, group)
    hit = ag.cast(ag.equal(x, out), x.dtype)
    return all_reduce(g, "sum", group) * hit / all_reduce(hit, "sum", group)


def _reduce_scatter_vjp(g: Tensor, reduction: str, group: Group) -> Tensor:
    whole = all_gather(g, group)
    return whole / group.size if reduction == "mean" else whole


def _broadcast_vjp(g: Tensor, root: int, group: Group) -> Tensor:
    whole = all_reduce(g, "sum", group)
    # Zeros alone would not depend on anything, and other ranks would wait for this one at the second gradient.
    is_root = ag.fill(whole.shape, group.rank == root)
    return ag.where(is_root, whole, ag.zeros_like(whole))


def _gathered(x: Shape, group: Group) -> Shape:
    if not x:
        raise InvalidArgumentError("all_gather: x must have an axis along which tensors can be joined; got a scalar.")
    return (x[0] * group.size, *x[1:])


def _part(op: str, x: Shape, group: Group) -> int:
    if not x or x[0] % group.size:
        raise InvalidArgumentError(
            f"{op}: x must have a first axis that {group.size} processes can divide; got shape {x}."
        )
    return x[0] // group.size


_all_reduce = Op(
    "distribute_all_reduce",
    all_reduce,
    inputs=("x",),
    shape=lambda x, reduction, group: x,
    dtypes=dtypes.NUMERIC,
    vjp={"x": _all_reduce_vjp},
    unneeded=dict.fromkeys(("x", "out"), lambda attributes: attributes["reduction"] in ("sum", "mean")),
)
_all_gather = Op(
    "distribute_all_gather",
    all_gather,
    inputs=("x",),
    shape=_gathered,
    dtypes=dtypes.NUMERIC_OR_BOOL,
    vjp={"x": lambda g, group: reduce_scatter(g, "sum", group)},
)
_reduce_scatter = Op(
    "distribute_reduce_scatter",
    reduce_scatter,
    inputs=("x",),
    shape=lambda x, reduction, group: (_part("reduce_scatter", x, group), *x[1:]),
    dtypes=dtypes.NUMERIC,
    vjp={"x": _reduce_scatter_vjp},
)
_broadcast = Op(
    "distribute_broadcast",
    broadcast,
    inputs=("x",),
    shape=lambda x, root, group: x,
    dtypes=dtypes.NUMERIC_OR_BOOL,
    vjp={"x": _broadcast_vjp},
)
_all_to_all = Op(
    "distribute_all_to_all",
    all_to_all,
    inputs=("x",),
    shape=lambda x, group: (_part("all_to_all", x, group) * group.size, *x[1:]),
    dtypes=dtypes.NUMERIC_OR_BOOL,
    vjp={"x": lambda g, group: all_to_all(g, group)},
)

OPS = (_all_gather, _all_reduce, _all_to_all, _broadcast, _reduce_scatter)
