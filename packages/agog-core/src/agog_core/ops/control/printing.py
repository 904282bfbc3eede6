"""Printing: tensors as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.ops.array.reshaping import identity
from agog_core.tensors import SparseTensor, Tensor, TensorLike
from agog_core.tensors.convert import at_each_run, convert_to_tensor, is_tensor
from agog_core.tracers import Tracer, present_recorder

__all__ = ["Print", "print"]


def print(
    *inputs: Any, output_stream: Any = None, summarize: int = 3, end: str = "\n", name: str | None = None
) -> None:
    """Print tensors and other values, with blanks between them.

    Args:
        *inputs: tensors, structures of them, and any other values, which are printed as Python does.
        output_stream: an open file such as ``sys.stdout``; a function that takes the text, such as ``logging.info``; or
            ``"file://"`` and the path of a file to append to. None for ``sys.stderr``.
        summarize: how many elements are printed at either end of each axis; -1 for all.
        end: what follows the text.

    Raises:
        ValueError: the stream is none of these.

    >>> print("x is", convert_to_tensor([1, 2]), output_stream=sys.stdout)
    x is [1 2]
    """
    if (tracer := present_recorder()) is not None:
        _at_each_run(
            tracer, lambda *given: print(*given, output_stream=output_stream, summarize=summarize, end=end), inputs
        )
        return
    text = " ".join(formatted(each, summarize) for each in inputs) + end
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a") as file:
            file.write(text)
    elif output_stream is None or hasattr(output_stream, "write"):
        (output_stream or sys.stderr).write(text)
    elif callable(output_stream):
        output_stream(text.removesuffix("\n"))
    else:
        raise ValueError(
            f"print: output_stream must be an open file, a function, or 'file://' and a path; got {output_stream!r}."
        )


def Print(
    input_: TensorLike,
    data: Sequence[TensorLike],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Print tensors to ``sys.stderr`` and return another one.

    Args:
        input_: the tensor to return.
        data: the tensors to print, each in brackets.
        message: what the line begins with.
        summarize: how many elements of each tensor are printed; None for 3, -1 for all.

    Returns:
        The value of ``input_``; gradients flow through it.

    >>> print(Print([1.0], [[1, 2]], "x: "), output_stream=sys.stdout)  # and "x: [1 2]" on sys.stderr
    [1]
    """
    if (tracer := present_recorder()) is not None:
        _at_each_run(tracer, lambda *given: Print(0, given, message, summarize=summarize), data)
        return identity(input_)
    shown = []
    for each in data:
        items = np.asarray(convert_to_tensor(each).numpy()).reshape(-1)
        count = items.size if summarize == -1 else 3 if summarize is None else summarize
        words = [_element(item, quoted=False) for item in items[:count]]
        shown.append(f"[{' '.join(words)}{'...' if count < items.size else ''}]")
    sys.stderr.write(f"{message or ''}{''.join(shown)}\n")
    return identity(input_)


def _at_each_run(tracer: Tracer, show: Callable[..., Any], values: Sequence[Any]) -> None:
    """Print values at each run of a traced function: its tensors have others then."""
    leaves = nest.flatten(values)
    are_tensors = [is_tensor(leaf) for leaf in leaves]
    tensors = [convert_to_tensor(leaf) for leaf, is_one in zip(leaves, are_tensors, strict=True) if is_one]
    # What runs later holds none of them.
    form, leaves = nest.map_structure(lambda leaf: None, list(values)), [None if is_tensor(x) else x for x in leaves]

    def run(*arrays: Any) -> list[Any]:
        rest = iter(arrays)
        show(*nest.pack(form, [next(rest) if one else leaf for leaf, one in zip(leaves, are_tensors, strict=True)]))
        return []

    tracer.python(run, tensors, [])


_HERE = object()  # in the place of a tensor


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """Put tensors into a text.

    Args:
        template: the text.
        inputs: a tensor, or a list of as many values as the text has placeholders.
        placeholder: what stands for a tensor.
        summarize: how many elements are shown at either end of each axis; -1 for all.

    Returns:
        A scalar of string.

    Raises:
        ValueError: the number of values is not that of the placeholders.

    >>> format("x is {}", convert_to_tensor([1, 2])).numpy()
    b'x is [1 2]'
    """
    values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    first, *rest = template.split(placeholder)
    if len(values) != len(rest):
        raise ValueError(
            f"format: {len(rest)} placeholder(s) in template does not match {len(values)} tensor(s) provided as input; "
            f"give one for each {placeholder!r}."
        )

    tensors = [value for value in values if type(value) is Tensor]
    others = [_HERE if type(value) is Tensor else value for value in values]

    def text(*given: Tensor) -> Tensor:
        present = iter(given)
        shown = [next(present) if value is _HERE else value for value in others]
        pieces = [formatted(value, summarize) + piece for value, piece in zip(shown, rest, strict=True)]
        return convert_to_tensor("".join([first, *pieces]))

    return at_each_run(text, *tensors)


def formatted(value: Any, summarize: int, read: Callable[[Tensor], Any] = Tensor._host) -> str:
    """A value as `print` shows it: so many elements at either end of each axis, -1 for all. ``read`` gives the values
    of tensors."""
    if isinstance(value, SparseTensor):
        parts = zip(("indices", "values", "shape"), (value.indices, value.values, value.dense_shape), strict=True)
        return f"'SparseTensor({', '.join(f'{name}={formatted(part, summarize, read)}' for name, part in parts)})'"
    if nest.is_nested(value):
        return str(nest.map_structure(lambda leaf: _Shown(leaf, summarize, read), _sorted(value)))
    if isinstance(value, (Tensor, np.ndarray)) or hasattr(type(value), "__tensor__"):
        host = np.asarray(read(convert_to_tensor(value)))
        return _element(host[()], quoted=False) if not host.ndim else _array(host, summarize, 1)
    return str(value)


def _sorted(value: Any) -> Any:
    """A structure with sorted dicts, so that equal ones are printed alike."""
    if nest.is_mapping(value):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return type(value)(map(_sorted, value)) if type(value) in (list, tuple) else value


class _Shown:
    """A leaf of a structure, shown as a tensor where it is one and as Python does elsewhere."""

    def __init__(self, value: Any, summarize: int, read: Callable[[Tensor], Any]) -> None:
        self.value = value
        self.summarize = summarize
        self.read = read

    def __repr__(self) -> str:
        kind = type(self.value)
        is_tensor = issubclass(kind, (Tensor, np.ndarray, SparseTensor)) or hasattr(kind, "__tensor__")
        return formatted(self.value, self.summarize, self.read) if is_tensor else repr(self.value)


def _array(host: np.ndarray[Any, Any], summarize: int, depth: int) -> str:
    if host.ndim == 1:
        parts, between = [_element(item, quoted=True) for item in _ends(host, summarize)], " "
    else:
        parts = [_array(item, summarize, depth + 1) for item in _ends(host, summarize)]
        between = "\n" * (host.ndim - 1) + " " * depth
    if 0 <= 2 * summarize < len(host):
        parts.insert(summarize, "...")
    return f"[{between.join(parts)}]"


def _ends(host: np.ndarray[Any, Any], summarize: int) -> list[Any]:
    if not 0 <= 2 * summarize < len(host):
        return list(host)
    return [*host[:summarize], *host[len(host) - summarize :]]


def _element(item: Any, quoted: bool) -> str:
    if isinstance(item, bytes):
        text = item.decode(errors="replace")
        return f'"{text}"' if quoted else text
    if isinstance(item, (np.floating, float)):
        short = f"{item:.6g}"
        return short if type(item)(short) == item or item != item else str(item)
    return str(item)
