"""Map and scan: functions applied along the first axis of tensors, and folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core import nest
from agog_core.calls.docstrings import documented
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import stack, stop_gradient, zeros
from agog_core.tensors import Tensor, convert_to_tensor
from agog_core.tracers import over_rows

__all__ = ["foldl", "foldr", "map_fn", "scan"]

_PYTHON_VALUES = (bool, int, float, complex, str, bytes)


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """Apply a function to each slice along the first axis, and stack the results.

    Args:
        fn: takes a slice of ``elems``, in its structure, and returns a tensor or a structure of them.
        elems: a tensor of shape (n, ...), or a structure of those. Where n is 0, the result has the shape of
            ``elems``.
        dtype: the dtypes of what ``fn`` returns, in its structure; None for the structure and dtypes of ``elems``.
        back_prop: whether gradients flow through the result.

    Returns:
        A tensor of shape (n, ...), or a structure of those.

    Raises:
        TypeError: ``fn`` is not a function, or returns a list where ``dtype`` has a tuple, or the other way round.
        ValueError: ``fn`` returns another structure than that of ``dtype``.
        InvalidArgumentError: ``elems`` is empty or of different lengths, or ``fn`` returns other dtypes.

    >>> print(map_fn(lambda x: x * x, [1, 2, 3]))
    tf.Tensor([1 4 9], shape=(3,), dtype=int32)
    """
    _check_callable("map_fn", fn)
    tensors = nest.map_structure(convert_to_tensor, _as_elems(elems))
    form = nest.map_structure(lambda x: x.dtype, tensors) if dtype is None else nest.map_structure(as_dtype, dtype)
    leaves = nest.flatten(tensors)
    if leaves and all(leaf._shape[:1] == (0,) for leaf in leaves):
        return nest.map_structure(lambda kind: zeros(leaves[0]._shape, kind), form)
    rows = over_rows(lambda _, row: _checked("map_fn", form, fn(row)), (), _slices("map_fn", tensors), carries=False)
    return _stacked(rows, back_prop)


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices along the first axis one after the other, and stack all intermediate results.

    Args:
        fn: takes the result so far and a slice of ``elems``, and returns the next result.
        elems: a tensor of shape (n, ...), n > 0, or a structure of those.
        initializer: what the first call of ``fn`` takes as the result so far; None for the first slice, which is then
            the first result as well.
        back_prop: whether gradients flow through the result.
        reverse: whether it begins with the last slice. The results stay in the order of the slices.

    Returns:
        A tensor of shape (n, ...), or a structure of those.

    Raises:
        TypeError: ``fn`` is not a function.
        ValueError: ``fn`` returns another structure than it takes.
        InvalidArgumentError: ``elems`` is empty or of different lengths, or ``fn`` returns other dtypes.

    >>> print(scan(lambda total, x: total + x, [1, 2, 3]))
    tf.Tensor([1 3 6], shape=(3,), dtype=int32)
    """
    _check_callable("scan", fn)
    results = _results("scan", fn, elems, initializer, reverse)
    return _stacked(results[::-1] if reverse else results, back_prop)


_FOLD = """
    Args:
        fn: takes the result so far and a slice of ``elems``, and returns the next result.
        elems: a tensor of shape (n, ...), n > 0, or a structure of those.
        initializer: what the first call takes as the result so far; None for the {first} slice.
        back_prop: whether gradients flow through the result.

    Returns:
        The last result.

    Raises:
        TypeError: ``fn`` is not a function.
        ValueError: ``fn`` returns another structure than it takes.
        InvalidArgumentError: ``elems`` is empty or of different lengths, or ``fn`` returns other dtypes.
"""


@documented(_FOLD, first="first")
def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices along the first axis, from the first to the last.

    >>> print(foldl(lambda total, x: total - x, [1, 2, 3]))
    tf.Tensor(-4, shape=(), dtype=int32)
    """
    _check_callable("foldl", fn)
    last = _results("foldl", fn, elems, initializer, reverse=False)[-1]
    return last if back_prop else nest.map_structure(stop_gradient, last)


@documented(_FOLD, first="last")
def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices along the first axis, from the last to the first.

    >>> print(foldr(lambda total, x: total - x, [1, 2, 3]))
    tf.Tensor(0, shape=(), dtype=int32)
    """
    _check_callable("foldr", fn)
    last = _results("foldr", fn, elems, initializer, reverse=True)[-1]
    return last if back_prop else nest.map_structure(stop_gradient, last)


def _results(op: str, fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> list[Any]:
    """All intermediate results, in the order in which they are computed."""
    rows = _slices(op, nest.map_structure(convert_to_tensor, _as_elems(elems)))
    if reverse:
        rows.reverse()
    if initializer is None:
        results, rows = [rows[0]], rows[1:]
        result = results[0]
    else:
        results, result = [], nest.map_structure(convert_to_tensor, initializer)
    form = nest.map_structure(lambda x: x.dtype, result)
    return results + over_rows(lambda result, row: _checked(op, form, fn(result, row)), result, rows, carries=True)


def _as_elems(elems: Any) -> Any:
    """A list of Python numbers is a tensor; any other list, and every tuple and dict, is a structure of tensors."""
    if isinstance(elems, tuple) and not hasattr(elems, "_fields"):
        return tuple(map(_as_elems, elems))
    is_plain = isinstance(elems, list) and all(isinstance(leaf, _PYTHON_VALUES) for leaf in nest.flatten(elems))
    return convert_to_tensor(elems) if is_plain else elems


def _slices(op: str, tensors: Any) -> list[Any]:
    """The slices along the first axis, each in the structure of the tensors."""
    leaves: list[Tensor] = nest.flatten(tensors)
    for leaf in leaves:
        if not leaf._shape:
            raise InvalidArgumentError(f"{op}: elems must have a first axis; got a tensor of shape ().")
    lengths = sorted({leaf._shape[0] for leaf in leaves})
    if len(lengths) != 1 or lengths == [0]:
        shapes = ", ".join(str(leaf._shape) for leaf in leaves)
        raise InvalidArgumentError(f"{op}: elems must have first axes of one size, at least 1; got shapes {shapes}.")
    return [nest.map_structure(lambda leaf, row=row: leaf[row], tensors) for row in range(lengths[0])]


def _checked(op: str, form: Any, result: Any) -> Any:
    """The result of ``fn`` as tensors, in the structure of the dtypes ``form``."""
    wanted: list[DType] = nest.flatten(form)
    leaves = nest.flatten(result) if nest.is_nested(form) else [result]
    is_other_type = nest.is_nested(form) and nest.is_nested(result) and not _are_alike(form, result)
    is_structure = not nest.is_nested(form) and any(isinstance(leaf, Tensor) for leaf in nest.flatten([result])[1:])
    if len(leaves) != len(wanted) or is_other_type or is_structure:
        returned = f"a {type(result).__name__}" if is_other_type else f"{len(nest.flatten(result))} values"
        error = TypeError if is_other_type else ValueError
        raise error(
            f"{op}: fn must return the structure {_shown(form)}; it returned {returned}. The two structures don't have "
            "the same nested structure. "
            + ("Pass dtype= with the structure that fn returns." if op == "map_fn" else "It is the structure it takes.")
        )
    tensors = [
        convert_to_tensor(leaf, None if hasattr(leaf, "dtype") else kind)
        for leaf, kind in zip(leaves, wanted, strict=True)
    ]
    for tensor, kind in zip(tensors, wanted, strict=True):
        if tensor.dtype is not kind:
            advice = "pass dtype= with what fn returns" if op == "map_fn" else "cast it in fn"
            raise InvalidArgumentError(
                f"{op}: fn must return dtype {kind.name}; it returned dtype {tensor.dtype.name} (shape "
                f"{tensor._shape}); {advice}."
            )
    return nest.pack(form, tensors)


def _are_alike(form: Any, result: Any) -> bool:
    return (nest.is_mapping(form) and nest.is_mapping(result)) or isinstance(result, list) == isinstance(form, list)


def _shown(form: Any) -> str:
    return str(nest.map_structure(lambda dtype: dtype.name, form))


def _stacked(results: Sequence[Any], back_prop: bool) -> Any:
    joined = nest.map_structure(lambda *leaves: stack(leaves), *results)
    return joined if back_prop else nest.map_structure(stop_gradient, joined)


def _check_callable(op: str, fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{op}: fn must be a function; got {fn!r} of type {type(fn).__name__}.")
