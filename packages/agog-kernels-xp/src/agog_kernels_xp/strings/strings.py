"""Strings, on the host only: arrays of bytes objects."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array


def string_join(xp: Any, *inputs: Array, separator: bytes) -> Array:
    """Strings one after the other."""
    together = xp.broadcast_arrays(*inputs)
    return _array(xp, [separator.join(parts) for parts in zip(*(x.flat for x in together))], together[0].shape)  # noqa: B905  # of one shape


def reduce_join(xp: Any, inputs: Array, *, axes: tuple[int, ...], keepdims: bool, separator: bytes) -> Array:
    """Strings along axes one after the other; the axis that is named first changes fastest."""
    kept = tuple(axis for axis in range(inputs.ndim) if axis not in axes)
    sizes = tuple(inputs.shape[axis] for axis in kept)
    count = math.prod(sizes)
    rows = inputs.transpose(*kept, *reversed(axes)).reshape(count, inputs.size // count if count else 0)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(inputs.shape)) if keepdims else sizes
    return _array(xp, [separator.join(row) for row in rows], shape)


def string_split(xp: Any, source: Array, *, delimiter: bytes, skip_empty: bool) -> tuple[Array, Array, Array]:
    """The parts between delimiters, as a sparse matrix."""
    cut = re.compile(b"[" + re.escape(delimiter) + b"]").split if delimiter else _characters
    rows = [[part for part in cut(text) if part or not skip_empty] for text in source.tolist()]
    return _sparse(xp, rows)


def string_split_v2(xp: Any, source: Array, *, sep: bytes, maxsplit: int) -> tuple[Array, Array, Array]:
    """The parts between separators, or between runs of white space, as a sparse matrix."""
    return _sparse(xp, [text.split(sep or None, maxsplit) for text in source.tolist()])


def substr(xp: Any, input: Array, pos: Array, len: Array) -> Array:
    """Parts of strings; a negative position counts from the end."""
    texts, starts, counts = xp.broadcast_arrays(input, pos, len)
    parts = []
    for text, start, count in zip(texts.flat, starts.flat, counts.flat):  # noqa: B905  # of one shape
        size = builtins.len(text)
        if not -size <= start <= size:
            raise InvalidArgumentError(
                f"substr: pos {start} is out of range for string {text!r} of {size} bytes; use -{size} to {size}."
            )
        begin = int(start) % size if start < 0 else int(start)
        parts.append(text[begin : begin + max(int(count), 0)])
    return _array(xp, parts, texts.shape)


def regex_replace(xp: Any, input: Array, *, pattern: str, rewrite: str, replace_global: bool) -> Array:
    """Strings with what a pattern matches replaced."""
    compiled, pieces = re.compile(pattern, re.ASCII), re.split(r"\\([0-9\\])", rewrite)

    def replaced(encoded: bytes) -> bytes:
        text, end = _decoded(encoded), 0
        done: list[str] = []
        for match in compiled.finditer(text):
            # As in RE2, an empty match right after another match is none.
            if done and match.end() == match.start() == end:
                continue
            done += [text[end : match.start()], _expanded(match, pieces)]
            end = match.end()
            if not replace_global:
                break
        return "".join([*done, text[end:]]).encode("utf-8", "surrogateescape")

    return _each(xp, replaced, input)


def regex_full_match(xp: Any, input: Array, *, pattern: str) -> Array:
    """Whether a pattern matches whole strings."""
    matches = re.compile(pattern, re.ASCII).fullmatch
    return _each(xp, lambda text: matches(_decoded(text)) is not None, input, "bool")


def string_length(xp: Any, input: Array, *, unit: str) -> Array:
    """The number of bytes, or of characters: every byte of UTF-8 but those that continue one."""
    if unit == "BYTE":
        return _each(xp, len, input, "int32")
    return _each(xp, lambda text: sum(byte & 0xC0 != 0x80 for byte in text), input, "int32")


def string_strip(xp: Any, input: Array) -> Array:
    """Strings without the white space at their ends."""
    return _each(xp, bytes.strip, input)


def _decoded(text: bytes) -> str:
    """The characters of a string; each byte that is no UTF-8 is a character of its own."""
    return text.decode("utf-8", "surrogateescape")


def _expanded(match: re.Match[str], pieces: Sequence[str]) -> str:
    """A rewrite, which is cut at its references, with what a match has found in their places."""
    done = [pieces[0]]
    for reference, text in zip(pieces[1::2], pieces[2::2], strict=True):
        done += [reference if reference == "\\" else match[int(reference)] or "", text]
    return "".join(done)


def _characters(text: bytes) -> list[bytes]:
    return [text[place : place + 1] for place in range(len(text))]


def _sparse(xp: Any, rows: list[list[bytes]]) -> tuple[Array, Array, Array]:
    places = [(row, column) for row, parts in enumerate(rows) for column in range(len(parts))]
    shape = (len(rows), max(map(len, rows), default=0))
    values = [part for parts in rows for part in parts]
    return xp.array(places, "int64").reshape(-1, 2), _array(xp, values, (len(values),)), xp.array(shape, "int64")


def _each(xp: Any, function: Callable[[bytes], Any], texts: Array, dtype: str = "object") -> Array:
    return _array(xp, [function(text) for text in texts.flat], texts.shape, dtype)


def _array(xp: Any, items: list[Any], shape: tuple[int, ...], dtype: str = "object") -> Array:
    """An array of items; not made of the list at once, which would lose zero bytes at the ends of strings."""
    array = xp.empty(len(items), dtype)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(shape)
