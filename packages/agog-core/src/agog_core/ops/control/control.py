"""Control flow: Python's own, under the names for graphs.

Ops run at once, so these functions call what they are given as Python does, and tapes record the ops inside.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agog_core import nest
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import identity, stop_gradient
from agog_core.ops.control.tensor_array import TensorArray
from agog_core.shapes import TensorShape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tracers import chosen, iterated, present_tracer, tracing

__all__ = [
    "case",
    "colocate_with",
    "cond",
    "control_dependencies",
    "group",
    "identity_n",
    "init_scope",
    "no_op",
    "tuple",
    "while_loop",
]


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """Call one of two functions.

    Args:
        pred: a scalar of bool; a tensor, or a Python value.
        true_fn: called without arguments when ``pred`` is true.
        false_fn: called without arguments otherwise.
        strict: whether a list or tuple of one element is returned as it is, not the element.
        Older names: ``fn1``, ``fn2``.

    Returns:
        What the function returns.

    Raises:
        TypeError: one of the two is not a function.

    >>> cond(convert_to_tensor(True), lambda: "yes", lambda: "no")
    'yes'
    """
    branches = {"true_fn": true_fn or fn1, "false_fn": false_fn or fn2}
    for which, branch in branches.items():
        _check_callable("cond", which, branch)
    result = chosen(pred, {True: branches["true_fn"], False: branches["false_fn"]})  # type: ignore[dict-item]  # checked
    return result if strict else _without_list(result)


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the function of the first condition that holds.

    Args:
        pred_fn_pairs: a list of pairs (scalar of bool, function without arguments), or a dict of them.
        default: called when no condition holds.
        exclusive: whether it is an error that several conditions hold.
        strict: whether a list or tuple of one element is returned as it is, not the element.

    Returns:
        What the function returns.

    Raises:
        TypeError: ``pred_fn_pairs`` does not hold pairs, or something in it is not a function.
        InvalidArgumentError: no condition holds and there is no default, or several hold and ``exclusive`` is true.

    >>> x = convert_to_tensor(3)
    >>> case([(x < 2, lambda: "small"), (x < 5, lambda: "medium")], default=lambda: "large")
    'medium'
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (builtins.tuple, list)) or len(pair) != 2:
            raise TypeError(f"case: pred_fn_pairs must hold pairs (condition, function); got {pair!r}.")
        _check_callable("case", "the second of each pair", pair[1])
    if default is not None:
        _check_callable("case", "default", default)
    holding = [position for position, (pred, _) in enumerate(pairs) if bool(pred)] if exclusive else []
    if len(holding) > 1:
        raise InvalidArgumentError(
            f"case: at most one condition may hold when exclusive is True; conditions {holding} of {len(pairs)} do."
        )
    result = _first(pairs, default, len(pairs))
    return result if strict else _without_list(result)


def _first(pairs: Sequence[Any], default: Callable[[], Any] | None, count: int) -> Any:
    """The result of the function of the first true condition."""
    if pairs:
        (pred, function), *others = pairs
        return chosen(pred, {True: function, False: lambda: _first(others, default, count)})
    if default is None:
        raise InvalidArgumentError(
            f"case: none of the {count} conditions holds, and there is no default; pass default=."
        )
    return default()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """Call a function again and again while a condition holds.

    Args:
        cond: takes the loop variables and returns a scalar of bool.
        body: takes the loop variables and returns as many new ones; where there is one only, it may return it bare.
        loop_vars: a list or tuple of the first loop variables: tensors, Python values, or structures of those.
        shape_invariants: what the shapes of the loop variables must stay compatible with, in the same structure; None
            for no check.
        back_prop: whether gradients flow through the loop.
        maximum_iterations: the loop ends after so many iterations; None for no limit.
        return_same_structure: whether a single loop variable that ``body`` returns bare is put into a list again.

    Returns:
        The last loop variables, as ``body`` returns them.

    Raises:
        TypeError: ``cond`` or ``body`` is not a function.
        ValueError: there are no loop variables, ``body`` returns another number of them, or a shape does not fit its
            invariant.

    >>> i, total = while_loop(lambda i, total: i < 4, lambda i, total: (i + 1, total + i), [0, 0])
    >>> i, total
    (4, 6)
    """
    _check_callable("while_loop", "cond", cond)
    _check_callable("while_loop", "body", body)
    if not loop_vars:
        raise ValueError("while_loop: loop_vars is empty; give at least one loop variable.")
    count, limit = len(loop_vars), None if maximum_iterations is None else int(maximum_iterations)
    invariants = None if shape_invariants is None else _invariants(shape_invariants)
    is_bare = False

    def step(values: Any, number: int) -> Any:
        nonlocal is_bare
        values = body(*values)
        if count == 1 and not isinstance(values, (list, builtins.tuple)):
            values, is_bare = [values], True
        if not isinstance(values, (list, builtins.tuple)) or len(values) != count:
            got = len(values) if isinstance(values, (list, builtins.tuple)) else f"a {type(values).__name__}"
            raise ValueError(f"while_loop: body must return {count} loop variables, as it takes; it returned {got}.")
        if invariants is not None:
            _check_invariants(values, invariants, number)
        return values

    def is_same(values: Any) -> bool:
        return type(values) is type(loop_vars) and (not is_bare or return_same_structure)

    values = iterated(cond, step, loop_vars, limit, is_same)
    if not back_prop:
        values = nest.map_structure(_detached, values)
    return values[0] if is_bare and not return_same_structure else values


def _invariants(shapes: Any) -> list[TensorShape]:
    """The shapes in a structure of them; a shape may be a `TensorShape` only, since a list of sizes is a structure."""
    return [TensorShape(shape) for shape in nest.flatten(shapes)]


def _check_invariants(values: Any, invariants: list[TensorShape], iteration: int) -> None:
    leaves = nest.flatten(values)
    if len(leaves) != len(invariants):
        raise ValueError(
            f"while_loop: shape_invariants must hold one TensorShape for each tensor; got {len(invariants)} for "
            f"{len(leaves)}."
        )
    for position, (leaf, wanted) in enumerate(zip(leaves, invariants, strict=True)):
        if isinstance(leaf, TensorArray):  # its elements have the shape
            continue
        shape = convert_to_tensor(leaf).shape
        if not wanted.is_compatible_with(shape):
            raise ValueError(
                f"while_loop: loop variable {position} has shape {shape} after iteration {iteration}; its shape "
                f"invariant is {wanted}."
            )


def group(*inputs: Any, name: str | None = None) -> None:
    """Do nothing: the ops have run already.

    Args:
        *inputs: what they returned.

    >>> group(convert_to_tensor(1.0))
    """


def no_op(name: str | None = None) -> None:
    """Do nothing.

    >>> no_op()
    """


def tuple(tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None) -> Sequence[Any]:
    """Return tensors as they are: the ops have run already.

    Args:
        tensors: tensors, or None in places.

    Returns:
        ``tensors``.

    >>> tuple([1, 2])
    [1, 2]
    """
    return tensors


def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Return the same values as new tensors.

    Args:
        input: tensors.

    Returns:
        One tensor for each.

    >>> [int(x) for x in identity_n([1, 2])]
    [1, 2]
    """
    return [identity(x) for x in input]


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Run the ops inside after others: that is so already, since ops run in the order of the program.

    Args:
        control_inputs: tensors, which have been computed already; functions among them are called. None for none.

    Returns:
        A context manager.

    >>> with control_dependencies([lambda: print("first")]):
    ...     print("second")
    first
    second
    """
    for each in control_inputs or ():
        if callable(each):
            each()
    yield


@contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """Do nothing: ops run where their inputs are, or where `tf.device` says.

    Args:
        op: anything.

    Returns:
        A context manager.

    >>> with colocate_with(None):
    ...     pass
    """
    yield


@contextmanager
def init_scope() -> Iterator[None]:
    """Lift what is done out of a traced function: it is done then, not at later calls.

    Returns:
        A context manager, which does nothing where no function is being traced.

    >>> with init_scope():
    ...     pass
    """
    tracer = present_tracer() if tracing else None
    if tracer is None:
        yield
        return
    with tracer.eager_scope() as scope:
        before, scope.lifts = scope.lifts, True
        try:
            yield
        finally:
            scope.lifts = before


def _check_callable(op: str, which: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"{op}: {which} must be a function; got {value!r} of type {type(value).__name__}.")


def _without_list(result: Any) -> Any:
    is_single = isinstance(result, (list, builtins.tuple)) and not hasattr(result, "_fields") and len(result) == 1
    return result[0] if is_single else result


def _detached(value: Any) -> Any:
    return stop_gradient(value) if isinstance(value, Tensor) else value
