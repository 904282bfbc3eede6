"""Strings: joining, splitting and matching them. A string is a sequence of bytes; Python's str is taken as UTF-8."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import Op, define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape
from agog_core.shapes import Shape, TensorShape, broadcast_shapes, normalize_axis, reduced_shape
from agog_core.tensors import SparseTensor, Tensor, TensorLike
from agog_core.tensors.convert import convert_to_tensor, host_value

__all__ = ["reduce_join", "regex_replace", "string_join", "string_split", "string_strip", "substr"]

_STRING = frozenset({dtypes.string})
_SPARSE = [dtypes.int64, dtypes.string, dtypes.int64]


def string_join(inputs: Sequence[TensorLike], separator: str | bytes = "", name: str | None = None) -> Tensor:
    """Join the strings of several tensors, elementwise.

    Args:
        inputs: at least one tensor of strings; all of one shape, but for scalars.
        separator: what comes between two strings.

    Returns:
        A tensor of strings of that shape.

    Raises:
        ValueError: there is no tensor.
        InvalidArgumentError: the shapes differ, or the tensors are not of strings.

    >>> print(string_join([["a", "b"], "x"], "-"))
    tf.Tensor([b'a-x' b'b-x'], shape=(2,), dtype=string)
    """
    tensors = [convert_to_tensor(each) for each in inputs]
    if not tensors:
        raise ValueError("string_join: inputs is empty; give at least one tensor.")
    return call(_string_join, *tensors, separator=encoded(separator))


def _string_join_shape(*shapes: Shape, separator: bytes) -> Shape:
    found = [shape for shape in shapes if shape] or [()]
    if any(shape != found[0] for shape in found):
        raise InvalidArgumentError(
            f"string_join: the inputs must have one shape, but for scalars; got shapes {', '.join(map(str, shapes))}."
        )
    return found[0]


_string_join = Op(
    "string_join",
    string_join,
    inputs=["*inputs"],
    shape=_string_join_shape,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


def reduce_join(
    inputs: TensorLike,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str | bytes = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Join strings along axes.

    Args:
        inputs: a tensor of strings.
        axis: an axis or several, of which the first is joined first; None for all, beginning with the last. Its older
            name is ``reduction_indices``.
        keepdims: whether joined axes stay, with size 1. Its older name is ``keep_dims``.
        separator: what comes between two strings.

    Returns:
        A tensor of strings without those axes.

    Raises:
        InvalidArgumentError: an axis is out of range or named twice, or the tensor is not of strings.

    >>> print(reduce_join([["a", "b"], ["c", "d"]], 0))
    tf.Tensor([b'ac' b'bd'], shape=(2,), dtype=string)
    >>> print(reduce_join([["a", "b"], ["c", "d"]]))
    tf.Tensor(b'abcd', shape=(), dtype=string)
    """
    x = convert_to_tensor(inputs)
    rank = len(x._shape)
    axis = reduction_indices if axis is None else axis
    if axis is None:
        axes = tuple(reversed(range(rank)))
    else:
        axes = tuple(normalize_axis("reduce_join", int(each), rank) for each in host_value(axis).reshape(-1))
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"reduce_join: axis {axes} of a rank {rank} tensor names an axis twice.")
    return call(_reduce_join, x, axes=axes, keepdims=bool(keep_dims or keepdims), separator=encoded(separator))


_reduce_join = define(
    reduce_join, shape=lambda x, axes, keepdims, separator: reduced_shape(x, axes, keepdims), dtypes=_STRING, host=True
)


def string_split(
    source: TensorLike, delimiter: TensorLike = " ", skip_empty: bool = True, name: str | None = None
) -> SparseTensor:
    """Cut strings at delimiters.

    Args:
        source: a tensor of strings of shape (n,).
        delimiter: each of its bytes is a delimiter; the empty string cuts after every byte.
        skip_empty: whether empty parts are left out.

    Returns:
        A sparse matrix of n rows, whose row i holds the parts of string i.

    Raises:
        InvalidArgumentError: the source is not of rank 1, or not of strings.

    >>> print(string_split(["hello world", "a b c"]).values)
    tf.Tensor([b'hello' b'world' b'a' b'b' b'c'], shape=(5,), dtype=string)
    """
    given = host_value(delimiter).item()
    return SparseTensor(
        *call_several(_string_split, convert_to_tensor(source), delimiter=given, skip_empty=bool(skip_empty))
    )


def _parts_shape(op: str, source: Shape) -> list[Any]:
    if len(source) != 1:
        raise InvalidArgumentError(f"{op}: the source must be a tensor of rank 1; got shape {source}. Reshape it.")
    return [TensorShape([None, 2]), TensorShape([None]), (2,)]


_string_split = Op(
    "string_split",
    string_split,
    inputs=["source"],
    shape=lambda source, delimiter, skip_empty: _parts_shape("string_split", source),
    dtype=lambda dtype, delimiter, skip_empty: _SPARSE,
    dtypes=_STRING,
    host=True,
    host_reads=["source"],
)


def string_split_v2(
    source: TensorLike, sep: TensorLike = None, maxsplit: int = -1, name: str | None = None
) -> SparseTensor | Tensor:
    """Cut strings at a separator, as Python's ``split`` does.

    Args:
        source: a tensor of strings of shape (n,); or one string, as in TensorFlow 2.
        sep: the separator; None or the empty string for runs of white space.
        maxsplit: how many cuts to make at most in one string; -1 for no limit.

    Returns:
        A sparse matrix of n rows, whose row i holds the parts of string i. Of one string its parts, of shape (parts,).

    Raises:
        InvalidArgumentError: the source is of another rank, or not of strings.

    >>> print(string_split_v2(["a,b,,c"], sep=",").values)
    tf.Tensor([b'a' b'b' b'' b'c'], shape=(4,), dtype=string)
    >>> print(string_split_v2("a b"))
    tf.Tensor([b'a' b'b'], shape=(2,), dtype=string)
    """
    given = b"" if sep is None else host_value(sep).item()
    texts = convert_to_tensor(source)
    rows = texts if texts.ndim else reshape(texts, [1])
    parts = SparseTensor(*call_several(_string_split_v2, rows, sep=given, maxsplit=int(maxsplit)))
    return parts if texts.ndim else parts.values


_string_split_v2 = Op(
    "string_split_v2",
    string_split_v2,
    inputs=["source"],
    shape=lambda source, sep, maxsplit: _parts_shape("string_split_v2", source),
    dtype=lambda dtype, sep, maxsplit: _SPARSE,
    dtypes=_STRING,
    host=True,
    host_reads=["source"],
)


def substr(input: TensorLike, pos: TensorLike, len: TensorLike, name: str | None = None) -> Tensor:
    """Take parts of strings.

    Args:
        input: a tensor of strings.
        pos: where the parts begin, in bytes; integers, negative ones from the end.
        len: how many bytes the parts have at most. The three shapes broadcast.

    Returns:
        A tensor of strings of the broadcast shape.

    Raises:
        InvalidArgumentError: a position is outside of its string, or the shapes do not broadcast.

    >>> print(substr(["hello", "world"], 1, 3))
    tf.Tensor([b'ell' b'orl'], shape=(2,), dtype=string)
    """
    places, counts = convert_to_tensor(pos), convert_to_tensor(len)
    for which, given in (("pos", places), ("len", counts)):
        if not given.dtype.is_integer:
            raise InvalidArgumentError(
                f"substr: {which} must hold integers; got dtype {given.dtype.name} and shape {given._shape}."
            )
    return call(_substr, convert_to_tensor(input), places, counts)


_substr = define(
    substr,
    shape=lambda x, pos, count: broadcast_shapes("substr", broadcast_shapes("substr", x, pos), count),
    dtypes=_STRING,
    host=True,
    alike=["input"],
    elementwise=True,
    may_fail=True,
)


def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""Replace what a regular expression matches.

    Args:
        input: a tensor of strings.
        pattern: a regular expression in the syntax of Python's `re`, which has nearly all of TensorFlow's RE2. It
            matches characters of UTF-8; ``\w`` and other classes are of ASCII.
        rewrite: what to put in; ``\1`` to ``\9`` stand for the groups, ``\0`` for the whole match.
        replace_global: whether all matches are replaced, not only the first of each string.

    Returns:
        A tensor of strings of the same shape.

    Raises:
        InvalidArgumentError: the expression or the rewrite is wrong, or the input is not of strings.

    >>> print(regex_replace("a1b22", "[0-9]+", r"<\0>"))
    tf.Tensor(b'a<1>b<22>', shape=(), dtype=string)
    """
    expression, replacement = decoded(host_value(pattern).item()), decoded(host_value(rewrite).item())
    groups = _compiled("regex_replace", expression).groups
    for reference in re.findall(r"\\.?", replacement, re.DOTALL):
        if reference != r"\\" and not (reference[1:] in tuple("0123456789") and int(reference[1:]) <= groups):
            raise InvalidArgumentError(
                f"regex_replace: rewrite {replacement!r} may refer to groups 0 to {groups} of pattern {expression!r}; "
                f"it has {reference!r}."
            )
    tensor = convert_to_tensor(input)
    return call(_regex_replace, tensor, pattern=expression, rewrite=replacement, replace_global=bool(replace_global))


_regex_replace = Op(
    "regex_replace",
    regex_replace,
    inputs=["input"],
    shape=lambda x, pattern, rewrite, replace_global: x,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether a regular expression matches whole strings.

    Args:
        input: a tensor of strings.
        pattern: a regular expression, as for `regex_replace`.

    Returns:
        A bool tensor of the same shape.

    Raises:
        InvalidArgumentError: the expression is wrong, or the input is not of strings.

    >>> print(regex_full_match(["abc", "abcd"], "a.c"))
    tf.Tensor([ True False], shape=(2,), dtype=bool)
    """
    expression = decoded(host_value(pattern).item())
    _compiled("regex_full_match", expression)
    return call(_regex_full_match, convert_to_tensor(input), pattern=expression)


_regex_full_match = Op(
    "regex_full_match",
    regex_full_match,
    inputs=["input"],
    shape=lambda x, pattern: x,
    dtype=dtypes.bool_,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """How long strings are.

    Args:
        input: a tensor of strings.
        unit: ``"BYTE"``, or ``"UTF8_CHAR"`` to count the characters of UTF-8.

    Returns:
        An int32 tensor of the same shape.

    Raises:
        ValueError: the unit is neither.

    >>> print(string_length(["abc", ""]))
    tf.Tensor([3 0], shape=(2,), dtype=int32)
    """
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"string_length: unit must be 'BYTE' or 'UTF8_CHAR'; got {unit!r}.")
    return call(_string_length, convert_to_tensor(input), unit=unit)


_string_length = define(
    string_length, shape=lambda x, unit: x, dtype=dtypes.int32, dtypes=_STRING, host=True, elementwise=True
)


def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Remove the white space at both ends of strings.

    Args:
        input: a tensor of strings.

    Returns:
        A tensor of strings of the same shape.

    >>> print(string_strip([" a b ", "c"]))
    tf.Tensor([b'a b' b'c'], shape=(2,), dtype=string)
    """
    return call(_string_strip, convert_to_tensor(input))


_string_strip = define(string_strip, shape=lambda x: x, dtypes=_STRING, host=True, elementwise=True)


def encoded(text: str | bytes) -> bytes:
    """The UTF-8 of a text, or the bytes themselves."""
    return text.encode() if isinstance(text, str) else text


def decoded(text: bytes) -> str:
    """The characters of UTF-8; each byte that is none becomes a character of its own."""
    return text.decode("utf-8", "surrogateescape")


def _compiled(op: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"{op}: pattern {pattern!r} is no regular expression: {error}.") from None
