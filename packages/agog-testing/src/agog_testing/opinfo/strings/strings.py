"""Strings: facts about the ops of agog_core.ops.strings.strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_core.ops.strings.strings import string_split, string_split_v2
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import SHAPES, Rng, rejected, uniform

STRINGS = "string"


def texts(*items: bytes) -> Array:
    """A vector of strings: an array of objects, which keeps zero bytes at the end."""
    return filled(list(items), (len(items),))


def filled(items: list[Any], shape: tuple[int, ...], dtype: Any = object) -> Array:
    """An array of given items, in row-major order."""
    array = np.empty(len(items), dtype)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(shape)


def each(function: Callable[..., Any], dtype: Any = object) -> Callable[..., Array]:
    """A reference that works on every string alone."""
    return lambda x, *args, **kwargs: filled([function(text, *args, **kwargs) for text in x.flat], x.shape, dtype)


def text_samples(*extra: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of an op on strings of any shape; each extra is a name, arguments after the strings, and keyword
    arguments.
    """

    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        odd = texts(b"", b" a b ", b"\t\n", b"a", b"abcabc", b"\x00\xff\x00", "grün \u20ac".encode(), b"x" * 70)
        for name, args, kwargs in extra or (("", (), {}),):
            for shape in SHAPES:
                yield Sample(f"{name} shape {shape}".strip(), (uniform(dtype, rng, shape), *args), kwargs)
            yield Sample(f"{name} odd strings".strip(), (odd, *args), kwargs)

    return samples


def _join_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shapes in ([(3,)], [(2, 3), (2, 3)], [(), (4,), ()], [(), ()], [(0,), (0,)], [(67,), ()]):
        for separator in ("", ", "):
            yield Sample(f"{shapes} with {separator!r}", ([uniform(dtype, rng, s) for s in shapes], separator))


def _join(inputs: list[Array], separator: str) -> Array:
    shape = max((x.shape for x in inputs), key=len)
    rows: list[list[Any]] = [[x[index] if x.shape else x[()] for x in inputs] for index in np.ndindex(shape)]
    return filled([separator.encode().join(row) for row in rows], shape)


def _reduce_join_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axis in (
        *(((), None), ((3,), 0), ((2, 3), None), ((2, 3), 0), ((2, 3), 1), ((2, 3), [0, 1]), ((2, 3), [1, 0])),
        *(((2, 3), []), ((2, 3, 4), [0, 2]), ((2, 3, 4), [-1, 0]), ((2, 0, 3), 1), ((0, 2), 1), ((67,), -1)),
    ):
        x = uniform(dtype, rng, shape)
        yield Sample(f"shape {shape} along {axis}", (x, axis), {"separator": "-"})
        yield Sample(f"shape {shape} along {axis}, axes kept", (x, axis), {"keepdims": True})


def _reduce_join(x: Array, axis: Any, separator: str = "", keepdims: bool = False) -> Array:
    axes = list(range(x.ndim))[::-1] if axis is None else [a % x.ndim for a in np.atleast_1d(axis).astype(int)]
    kept = [a for a in range(x.ndim) if a not in axes]
    joined = []
    for place in product(*(range(x.shape[a]) for a in kept)):
        parts = []
        for inner in product(*(range(x.shape[a]) for a in reversed(axes))):
            index = dict(zip([*kept, *reversed(axes)], [*place, *inner], strict=True))
            parts.append(x[tuple(index[a] for a in range(x.ndim))])
        joined.append(separator.encode().join(parts))
    shape = [1 if a in axes else size for a, size in enumerate(x.shape) if keepdims or a not in axes]
    return filled(joined, tuple(shape))


def _triple(split: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        sparse = split(*args, **kwargs)
        return sparse.indices, sparse.values, sparse.dense_shape

    return call


def _sources(dtype: str, rng: Rng) -> Iterator[tuple[str, Array]]:
    yield "one", texts(b"a b")
    yield "several", texts(b"a,b c", b"", b"  a,,b\x00 ", b",", b"none")
    yield "none", texts()
    yield "only empty ones", texts(b"", b"")
    yield "many", uniform(dtype, rng, (67,))


def _split_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, source in _sources(dtype, rng):
        for delimiter in (" ", ", ", "", "o"):
            for skip_empty in (True, False):
                yield Sample(f"{name} at {delimiter!r}, {skip_empty}", (source, delimiter, skip_empty))


def _rows(rows: list[list[bytes]]) -> tuple[Array, ...]:
    places = [(row, column) for row, parts in enumerate(rows) for column, _ in enumerate(parts)]
    values = [part for parts in rows for part in parts]
    width = max([len(parts) for parts in rows] or [0])
    return np.array(places, np.int64).reshape(len(values), 2), texts(*values), np.array([len(rows), width])


def _split(source: Array, delimiter: str, skip_empty: bool) -> tuple[Array, ...]:
    rows = []
    for text in source:
        parts = [b""]
        for code in text:
            letter = bytes([code])
            if not delimiter:
                parts.insert(-1, letter)
            elif letter in delimiter.encode():
                parts.append(b"")
            else:
                parts[-1] += letter
        parts = parts if delimiter else parts[:-1]
        rows.append([part for part in parts if part] if skip_empty else parts)
    return _rows(rows)


def _split_v2_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for name, source in _sources(dtype, rng):
        for sep in (None, "", ",", ", "):
            for maxsplit in (-1, 0, 1):
                yield Sample(f"{name} at {sep!r}, {maxsplit}", (source, sep, maxsplit))


def _substr_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    hello = texts(b"hello", b"abcdef", b"\x00\xff\x00\xfe\x00")
    yield Sample("scalars", (filled([b"hello"], ()), 1, 3))
    yield Sample("one position", (hello, 2, 2))
    yield Sample("from the end", (hello, -4, 2))
    yield Sample("too long", (hello, 3, 99))
    yield Sample("at the end", (hello, 5, 1))
    yield Sample("positions", (hello, np.array([0, 1, -2], np.int32), np.array([1, 2, 0], np.int64)))
    yield Sample("broadcast", (hello.reshape(3, 1), np.array([0, 2], np.int64), np.array([[3]], np.int64)))
    yield Sample("empty", (texts(), 0, 1))
    yield Sample("long", (uniform(dtype, rng, (67,)), 0, 2))


def _substr(x: Array, pos: Any, count: Any) -> Array:
    together = np.broadcast_arrays(x, pos, count)
    parts = [text[p:][:n] if p >= 0 else text[len(text) + p :][:n] for text, p, n in zip(*map(np.ravel, together))]  # noqa: B905  # of one shape
    return filled(parts, together[0].shape)


_REPLACE_WAYS: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("a to b", ("a", "b"), {}),
    ("first a", ("a", "b"), {"replace_global": False}),
    ("groups", (r"(b)(c)?", r"<\2\1\0\\>"), {}),
    ("nothing", (r"x*", "-"), {}),
)


def _replace(text: bytes, pattern: str, rewrite: str, replace_global: bool = True) -> bytes:
    if pattern == "a":
        return text.replace(b"a", b"b", -1 if replace_global else 1)
    if pattern == "x*":
        runs, done = text.split(b"x"), b""
        for position, run in enumerate(runs):
            if run or position in (0, len(runs) - 1):
                letters = b"-".join(
                    c.encode("utf-8", "surrogateescape") for c in run.decode("utf-8", "surrogateescape")
                )
                done += (b"-" if not done.endswith(b"-") else b"") + letters + (b"-" if letters else b"")
        return done
    done, place = b"", 0
    while place < len(text):
        if text[place : place + 2] == b"bc":
            done, place = done + b"<cbbc\\>", place + 2
        elif text[place : place + 1] == b"b":
            done, place = done + b"<bb\\>", place + 1
        else:
            done, place = done + text[place : place + 1], place + 1
    return done


_X = np.array([1.0], np.float32)


def _wrong(op: str, *args: Any, **kwargs: Any) -> ErrorSample:
    return rejected(op, "float32", STRINGS, (_X, *args), STRINGS, **kwargs)


def _error(text: str, *args: Any, error: type[Exception] = InvalidArgumentError, **kwargs: Any) -> ErrorSample:
    return ErrorSample(args, kwargs, error, text, STRINGS)


INFOS = (
    OpInfo(
        name="string_join",
        samples=_join_samples,
        reference=_join,
        differentiable=False,
        errors=(
            _error("string_join: inputs is empty; give at least one tensor.", [], error=ValueError),
            _error(
                "string_join: the inputs must have one shape, but for scalars; got shapes (1,), (2,).",
                [texts(b"a"), texts(b"a", b"b")],
            ),
            rejected("string_join", "float32", STRINGS, ([_X, _X],), STRINGS),
        ),
    ),
    OpInfo(
        name="reduce_join",
        samples=_reduce_join_samples,
        reference=_reduce_join,
        differentiable=False,
        errors=(
            _error("reduce_join: axis (0, 0) of a rank 1 tensor names an axis twice.", texts(b"a"), [0, -1]),
            _error("reduce_join: axis 1 is out of range for a tensor of rank 1; use -1 to 0.", texts(b"a"), 1),
            _wrong("reduce_join"),
        ),
    ),
    OpInfo(
        name="string_split",
        function=_triple(string_split),
        samples=_split_samples,
        reference=_split,
        differentiable=False,
        errors=(
            _error(
                "string_split: the source must be a tensor of rank 1; got shape (). Reshape it.", filled([b"a"], ())
            ),
            _wrong("string_split"),
        ),
    ),
    OpInfo(
        name="string_split_v2",
        function=_triple(string_split_v2),
        samples=_split_v2_samples,
        reference=lambda source, sep, maxsplit: _rows(
            [text.split(sep.encode() if sep else None, maxsplit) for text in source]
        ),
        differentiable=False,
        errors=(
            _error(
                "string_split_v2: the source must be a tensor of rank 1; got shape (1, 1). Reshape it.",
                filled([b"a"], (1, 1)),
            ),
            _wrong("string_split_v2"),
        ),
    ),
    OpInfo(
        name="substr",
        samples=_substr_samples,
        reference=_substr,
        differentiable=False,
        errors=(
            _error("substr: pos 2 is out of range for string b'a' of 1 bytes; use -1 to 1.", texts(b"a"), 2, 1),
            _error("substr: pos must hold integers; got dtype float32 and shape ().", texts(b"a"), 1.0, 1),
            _error(
                "substr: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. Reshape, tile "
                "or slice one of them.",
                texts(b"a", b"b"),
                np.zeros(3, np.int32),
                1,
            ),
            _wrong("substr", 0, 1),
        ),
    ),
    OpInfo(
        name="regex_replace",
        samples=text_samples(*_REPLACE_WAYS),
        reference=each(_replace),
        differentiable=False,
        errors=(
            _error(
                "regex_replace: pattern '(' is no regular expression: missing ), unterminated subpattern at "
                "position 0.",
                texts(b"a"),
                "(",
                "",
            ),
            _error(
                "regex_replace: rewrite '\\\\2' may refer to groups 0 to 1 of pattern '(a)'; it has '\\\\2'.",
                texts(b"a"),
                "(a)",
                r"\2",
            ),
            _wrong("regex_replace", "a", "b"),
        ),
    ),
    OpInfo(
        name="regex_full_match",
        samples=text_samples(("letters", ("[a-c]*",), {})),
        reference=each(lambda text, pattern: not text.strip(b"abc") and set(text) <= set(b"abc"), bool),
        differentiable=False,
        errors=(
            _error(
                "regex_full_match: pattern '[' is no regular expression: unterminated character set at position 0.",
                texts(b"a"),
                "[",
            ),
            _wrong("regex_full_match", "a"),
        ),
    ),
    OpInfo(
        name="string_length",
        samples=text_samples(("bytes", (), {}), ("characters", (), {"unit": "UTF8_CHAR"})),
        reference=each(
            lambda text, unit="BYTE": len(text) if unit == "BYTE" else len([c for c in text if not 128 <= c < 192]),
            np.int64,
        ),
        differentiable=False,
        errors=(
            _error(
                "string_length: unit must be 'BYTE' or 'UTF8_CHAR'; got 'WORD'.",
                texts(b"a"),
                unit="WORD",
                error=ValueError,
            ),
            _wrong("string_length"),
        ),
    ),
    OpInfo(
        name="string_strip",
        samples=text_samples(),
        reference=each(lambda text: text.strip(b" \t\n\r\v\f")),
        differentiable=False,
        errors=(_wrong("string_strip"),),
    ),
)
