"""Pooling code: channels lie side by side in vectors, up to four of which go through a window together.

A gradient takes an image at a time, in which windows that overlap add to what is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from agog_cpu_llvm.kernels.channels import each_chunk
from agog_cpu_llvm.kernels.pooling import FIELDS
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Pointer, Vector, Words, entry

_KINDS = {
    **dict.fromkeys(("images", "planes", "rows", "columns", "channels"), "index"),
    **dict.fromkeys(("planes_out", "rows_out", "columns_out"), "index"),
    **dict.fromkeys(("plane_step", "row_step", "column_step"), "index"),
    **dict.fromkeys(("plane_table", "row_table", "column_table"), "*int64"),
}


def write(module: ir.Module, dtype: str, lanes: Lanes, is_gradient: bool) -> None:
    """The functions of all pools, or of their gradients."""
    if not is_gradient:
        _write_pool(module, "max_pool", dtype, lanes, _largest)
        _write_pool(module, "avg_pool", dtype, lanes, _mean)
        _write_pool(module, "max_pool_with_argmax", dtype, lanes, _largest_with_place)
        return
    for is_added in (False, True):
        suffix = "_added" if is_added else ""
        _write_grad(module, f"max_pool_grad{suffix}", ("g", "x", "maxima"), dtype, lanes, is_added)
        _write_grad(module, f"avg_pool_grad{suffix}", ("g",), dtype, lanes, is_added)


class _Window:
    """The places of the input in the window of a place along an axis, where code is written for it."""

    def __init__(self, words: Words, axis: str, place: Index) -> None:
        line = words[f"{axis}_table"] + place * FIELDS
        self.first, self.end, self.size, self.is_before = [(line + field).integer() for field in range(FIELDS)]
        self.step: Index = words[f"{axis}_step"]


def _each_tap(
    code: Code, words: Words, windows: list[_Window], carried: list[Any], body: Callable[[Index, list[Any]], list[Any]]
) -> list[Any]:
    """Write ``body(place, carried)`` for each place of the input in a window; ``place`` counts pixels of an image."""

    def nest(depth: int, pixel: Index, values: list[Any]) -> list[Any]:
        if depth == len(windows):
            return body(pixel, values)
        window = windows[depth]
        pitch = (words.rows * words.columns, words.columns, code.number(1))[depth]
        with code.loop(window.first, window.end, window.step, values, may_be_empty=True) as loop:
            loop.carry(*nest(depth + 1, pixel + loop.index * pitch, loop.carried))
        return loop.results

    return nest(0, code.number(0), carried)


def _write_pool(module: ir.Module, name: str, dtype: str, lanes: Lanes, reduced: Callable[..., list[Vector]]) -> None:
    """A pool: each turn is a row of the output. Vectors that are more than the output's are places of the input."""
    has_places = reduced is _largest_with_place
    arrays = {"x": f"*{dtype}", "out": f"*{dtype}", **({"places": "*int64"} if has_places else {})}
    with entry(module, name, {**arrays, **_KINDS}, flushes=False) as (code, words, _):
        channels = words.channels
        with code.turns(words.counter, words.images * words.planes_out * words.rows_out) as turn:
            row, rest = turn % words.rows_out, turn // words.rows_out
            plane, image = rest % words.planes_out, rest // words.planes_out
            start = image * (words.planes * words.rows * words.columns * channels)
            line = turn * (words.columns_out * channels)
            outer = [_Window(words, "plane", plane), _Window(words, "row", row)]

            def chunk(channel: Index, masks: list[Mask | None]) -> None:
                with code.loop(0, words.columns_out) as column:
                    windows = [*outer, _Window(words, "column", column.index)]

                    def read(pixel: Index) -> list[Vector]:
                        place = words.x + start + pixel * channels + channel
                        return [lanes.load(place + n * lanes.count, mask) for n, mask in enumerate(masks)]

                    vectors = reduced(code, words, lanes, windows, len(masks), read)
                    here = line + column.index * channels + channel
                    for n, mask in enumerate(masks):
                        lanes.store(vectors[n], words.out + here + n * lanes.count, mask)
                    for n, (numbers, mask) in enumerate(zip(vectors[len(masks) :], masks, strict=False)):
                        first = start + channel + n * lanes.count
                        lanes.store_places(numbers, channels, first, words.places + here + n * lanes.count, mask)

            each_chunk(code, channels, lanes, chunk)


def _largest(
    code: Code, words: Words, lanes: Lanes, windows: list[_Window], count: int, read: Callable[[Index], list[Vector]]
) -> list[Vector]:
    def tap(pixel: Index, best: list[Any]) -> list[Any]:
        return [((new > old) | new.is_nan()).select(new, old) for new, old in zip(read(pixel), best, strict=True)]

    return _each_tap(code, words, windows, [lanes.splat(code, -math.inf)] * count, tap)


def _largest_with_place(
    code: Code, words: Words, lanes: Lanes, windows: list[_Window], count: int, read: Callable[[Index], list[Vector]]
) -> list[Vector]:
    """The largest numbers, then the pixels of the image where the first of each is; NaN where that is the largest."""

    def tap(pixel: Index, carried: list[Any]) -> list[Any]:
        here = lanes.splat(code, lanes.whole(pixel))
        best, places = [], []
        for new, old, place in zip(read(pixel), carried[:count], carried[count:], strict=True):
            best.append(((new > old) | new.is_nan()).select(new, old))
            places.append(new.is_nan().select(new, ((new > old) | (place < 0)).select(here, place)))
        return [*best, *places]

    none = [lanes.splat(code, -math.inf)] * count + [lanes.splat(code, -1)] * count
    return _each_tap(code, words, windows, none, tap)


def _mean(
    code: Code, words: Words, lanes: Lanes, windows: list[_Window], count: int, read: Callable[[Index], list[Vector]]
) -> list[Vector]:
    def tap(pixel: Index, sums: list[Any]) -> list[Any]:
        return [old + new for new, old in zip(read(pixel), sums, strict=True)]

    size = _size(code, lanes, windows)
    return [total / size for total in _each_tap(code, words, windows, [lanes.splat(code, 0)] * count, tap)]


def _size(code: Code, lanes: Lanes, windows: list[_Window]) -> Vector:
    """How many places of the input are in a window, or 1."""
    return lanes.splat(code, lanes.whole((windows[0].size * windows[1].size * windows[2].size).most(1)))


def _write_grad(
    module: ir.Module, name: str, inputs: tuple[str, ...], dtype: str, lanes: Lanes, is_added: bool
) -> None:
    """A gradient: each turn is an image. Where something is added, planes are zeros before windows reach them."""
    kinds = dict.fromkeys((*inputs, "out"), f"*{dtype}")
    with entry(module, name, {**kinds, **_KINDS}, flushes=False) as (code, words, _):
        channels, zero = words.channels, lanes.splat(code, 0)
        plane_size = words.rows * words.columns * channels
        with code.turns(words.counter, words.images) as image:
            start, start_out = (
                image * (words.planes * plane_size),
                image * (words.planes_out * words.rows_out * words.columns_out * channels),
            )
            out, g = words.out + start, words.g + start_out
            with code.loop(0, words.planes_out, carried=[code.number(0)], may_be_empty=True) as plane:
                (cleared,) = plane.carried
                over_planes = _Window(words, "plane", plane.index)
                if is_added:
                    _clear(code, lanes, out, cleared * plane_size, over_planes.end * plane_size)
                plane.carry(cleared.most(over_planes.end))
                with code.loop(0, words.rows_out, may_be_empty=True) as row:
                    over_rows = _Window(words, "row", row.index)
                    line = (plane.index * words.rows_out + row.index) * words.columns_out

                    def chunk(channel: Index, masks: list[Mask | None]) -> None:
                        with code.loop(0, words.columns_out, may_be_empty=True) as column:
                            windows = [over_planes, over_rows, _Window(words, "column", column.index)]
                            offset = (line + column.index) * channels + channel
                            places = [n * lanes.count for n in range(len(masks))]
                            given = [lanes.load(g + offset + n, m) for n, m in zip(places, masks, strict=True)]

                            def add(pixel: Index, parts: list[Vector]) -> None:
                                at = out + pixel * channels + channel
                                for n, mask, part in zip(places, masks, parts, strict=True):
                                    lanes.store(part + lanes.load(at + n, mask) if is_added else part, at + n, mask)

                            if "x" not in inputs:
                                size = _size(code, lanes, windows)
                                each = [vector / size for vector in given]

                                def spread(pixel: Index, carried: list[Any]) -> list[Any]:
                                    add(pixel, each)
                                    return carried

                                _each_tap(code, words, windows, [], spread)
                                return
                            x, maxima = words.x + start, words.maxima + start_out
                            best = [lanes.load(maxima + offset + n, m) for n, m in zip(places, masks, strict=True)]
                            # Padding is minus infinity; where that is the maximum, the first place in it takes all.
                            outside = windows[0].is_before + windows[1].is_before + windows[2].is_before
                            padding = lanes.splat(code, lanes.whole(outside))
                            left = [(each > -math.inf) | padding.equals(0) for each in best]

                            def tap(pixel: Index, left: list[Any]) -> list[Any]:
                                at = x + pixel * channels + channel
                                here = [
                                    lanes.load(at + n, mask).equals(top) & is_left
                                    for n, mask, top, is_left in zip(places, masks, best, left, strict=True)
                                ]
                                add(
                                    pixel, [mask.select(vector, zero) for mask, vector in zip(here, given, strict=True)]
                                )
                                return [old & ~new for old, new in zip(left, here, strict=True)]

                            _each_tap(code, words, windows, left, tap)

                    each_chunk(code, channels, lanes, chunk)
            if is_added:
                (cleared,) = plane.results
                _clear(code, lanes, out, cleared * plane_size, words.planes * plane_size)


def _clear(code: Code, lanes: Lanes, out: Pointer, first: Index, end: Index) -> None:
    """Write zeros from one element up to another."""
    zero = lanes.splat(code, 0)
    with code.loop(first, end, lanes.count, may_be_empty=True) as loop:
        lanes.store(zero, out + loop.index, lanes.first(end - loop.index))
