"""Convolution plan: how a convolution is divided into turns, as the sizes that the compiled code takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agog_cpu_llvm.registers import BYTES, computed, height, register

Shape = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

SIZES = (
    *("turns", "images", "bands", "band"),  # a turn is some blocks of channels of a band of rows
    *("planes", "rows", "columns", "tiles"),  # of the output, of whose columns there are so many tiles
    *("window_planes", "window_rows", "taps", "run"),  # of the window, whose rows have runs of numbers
    *("groups", "group_inputs", "group_outputs", "group_blocks", "turn_blocks"),  # a block is a tile's channels
    *("filter_pitch", "filter_block", "filter_group"),  # numbers of the filter from one row, block, group to the next
    *("plane_stride", "row_stride", "plane_dilation", "row_dilation", "front", "top"),
    *("depth", "height", "row", "pitch", "left", "copied"),  # of the input; a row's numbers, and those of a padded one
    *("pixel", "tap", "image", "out_pixel", "out_row", "out_plane", "out_image"),  # numbers from one to the next
    *("last_image", "out_last_image"),  # numbers from the first image to the last, which may begin in the one before it
)
"""The words that are sizes. ``copied`` is 0, or the numbers of scratch memory that a turn copies its input to."""

_FILTER = 768 << 10  # bytes of a filter's part that stays in the second cache while an image is computed
_ROWS_APART = 256 << 10  # bytes of a filter whose blocks of columns need not lie together
_INPUT = 512 << 10  # bytes of input that a turn copies to scratch memory
_LONG_ROW = 240  # pixels of a turn where the window is one pixel, a multiple of a tile's
_TURNS = 4  # for each thread, where there are several, so that all end at about the same time
LEAST = 1 << 15
"""Products from which on a call of compiled code is faster than the reference."""

_LONGEST = (
    1 << 13
)  # products of one sum in single precision; longer ones have lost digits that BLAS's sums of sums keep
_LARGE, _LEAST_PIXELS = 1 << 16, 64  # numbers of a filter for whose packing so few pixels do not pay
_LEAST_COLUMNS = 8  # of a product of matrices


@dataclass(frozen=True)
class Plan:
    """How a convolution is computed.

    Args:
        sizes: the words `SIZES`.
        turns: how many there are.
        scratch: bytes of memory for each thread.
        shape: the result's.
        tile: the pixels of the largest one, and its vectors.
        packing: rows, columns and blocks of a group, and groups of a filter that is packed; else empty.
    """

    sizes: Shape
    turns: int
    scratch: int
    shape: Shape
    tile: tuple[int, int]
    packing: Shape


@dataclass(frozen=True)
class _Form:
    """A convolution over three axes; ``last`` is the pixel that the last image begins at, where it overlaps another."""

    dtype: str
    input: Shape
    filter: Shape
    strides: Shape
    paddings: Pairs
    dilations: Shape
    groups: int
    places: Shape
    steps: Shape
    last: int | None = None


def steps(out: Any) -> Shape | None:
    """Numbers from one image, plane, row and pixel of ``out`` to the next, or None where no kernel writes such ones.

    They are empty where ``out`` is C-contiguous, or None and to be made.
    """
    if out is None or out.flags.c_contiguous:
        return ()
    *axes, channel = out.strides
    if min(axes) < 0 or any(step % out.itemsize for step in axes) or channel != out.itemsize:
        return None
    return tuple([step // out.itemsize for step in axes])


def packed_steps(places: Shape, channels: int) -> Shape:
    """The steps of a C-contiguous array."""
    return tuple([math.prod(places[axis:]) * channels for axis in range(len(places) + 1)])


@lru_cache(maxsize=1024)
def plan(
    dtype: str,
    input: Shape,
    filter: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    threads: int,
    steps: Shape = (),
) -> Plan | None:
    """The plan of a convolution, or None where it is not taken; its result has the ``steps``, or is C-contiguous."""
    axes = len(input) - 2
    is_depthwise = groups > 1 and filter[-2] == 1
    if axes > 3 or is_depthwise or min(map(min, paddings), default=0) < 0 or 0 in (*input, *filter):
        return None
    if math.prod(filter[:-1]) > _LONGEST and dtype != "float64":
        return None
    sizes = zip(input[1:-1], filter[:-2], strides, paddings, dilations, strict=True)
    places = [(size + low + high - (n - 1) * rate - 1) // step + 1 for size, n, step, (low, high), rate in sizes]
    if min(places) < 1:
        return None
    if math.prod(filter[:-2]) == math.prod(strides) == groups == 1 and not any(map(any, paddings)) and not steps:
        form = _long_row(dtype, input, filter)
    else:
        before = (1,) * (3 - axes)
        form = _Form(
            dtype,
            (input[0], *before, *input[1:]),
            (*before, *filter),
            (*before, *strides),
            (*[(0, 0)] * len(before), *paddings),
            (*before, *dilations),
            groups,
            (*before, *places),
            over_three_axes(steps or packed_steps(tuple(places), filter[-1])),
        )
    if not _pays(form):
        return None
    return _plan(form, (input[0], *places, filter[-1]), 1 if threads == 1 else _TURNS * threads)


def over_three_axes(steps: Shape) -> Shape:
    """The steps with axes of one place before the others."""
    return steps[0], *(0,) * (4 - len(steps)), *steps[1:]


def _pays(form: _Form) -> bool:
    """Whether compiled code is faster than the reference."""
    pixels = form.input[0] * math.prod(form.places)
    is_large = math.prod(form.filter) > _LARGE
    is_narrow = form.last is not None and form.filter[-1] < _LEAST_COLUMNS
    return pixels * math.prod(form.filter) >= LEAST and not (is_narrow or (is_large and pixels < _LEAST_PIXELS))


def _long_row(dtype: str, input: Shape, filter: Shape) -> _Form:
    """A window of one pixel makes a product of matrices: some of the first one's rows are an image with one row."""
    pixels = math.prod(input[:-1])
    images = -(-pixels // _LONG_ROW)
    columns = -(-pixels // images)
    ones = (1, 1, 1)
    none = ((0, 0),) * 3
    sizes = (images, 1, 1, columns, input[-1])
    places, last = (1, 1, columns), pixels - columns
    steps = packed_steps(places, filter[-1])
    return _Form(dtype, sizes, (*ones, *filter[-2:]), ones, none, ones, 1, places, steps, last)


def _plan(form: _Form, shape: Shape, least: int) -> Plan:
    """The plan of a form, with a least number of turns where it has so many rows."""
    images, depth, rows_in, columns, channels = form.input
    window_planes, window_rows, window_columns, inputs, outputs = form.filter
    planes, rows, out_columns = form.places
    itemsize, count = BYTES[computed(form.dtype)], register(form.dtype).count

    group_outputs = outputs // form.groups
    vectors = _vectors(form, count)
    block = vectors * count
    tiles = -(-out_columns // height(register(form.dtype), vectors))
    blocks = -(-group_outputs // block)
    filter_rows = math.prod(form.filter[:4])
    block_bytes = filter_rows * block * itemsize
    turn_blocks = blocks
    if form.groups == 1 and blocks * block_bytes > _FILTER:
        turn_blocks = max(1, _FILTER // block_bytes)
    parts = -(-blocks // turn_blocks)

    padding = form.paddings[2]
    is_copied = any(padding) or BYTES[form.dtype] < itemsize
    pitch = (columns + sum(padding)) * channels
    band = max(1, min(rows, rows * images * parts // least))
    extent = (window_rows - 1) * form.dilations[1] + 1
    if is_copied:
        band = max(1, min(band, (_INPUT // (pitch * itemsize * depth) - extent) // form.strides[1] + 1))
    bands = -(-rows // band)
    copied = depth * min(rows_in, (band - 1) * form.strides[1] + extent) * pitch if is_copied else 0
    turns = images * bands * parts
    is_packed = (
        group_outputs % block > 0 or filter_rows * outputs * itemsize > _ROWS_APART or itemsize != BYTES[form.dtype]
    ) and not (form.groups == blocks == 1 and group_outputs == block and itemsize == BYTES[form.dtype])
    is_run = form.dilations[2] == form.groups == 1
    image = depth * rows_in * columns
    out_image, out_plane, out_row, out_pixel = form.steps
    last, out_last = (images - 1) * image, (images - 1) * out_image
    if form.last is not None:
        last, out_last = form.last, form.last * outputs
    sizes = {
        "turns": turns,
        "images": images * bands,
        "bands": bands,
        "band": band,
        "planes": planes,
        "rows": rows,
        "columns": out_columns,
        "tiles": tiles,
        "window_planes": window_planes,
        "window_rows": window_rows,
        "taps": 1 if is_run else window_columns,
        "run": window_columns * inputs if is_run else inputs,
        "groups": form.groups,
        "group_inputs": inputs,
        "group_outputs": group_outputs,
        "group_blocks": blocks,
        "turn_blocks": turn_blocks,
        "filter_pitch": block if is_packed else outputs,
        "filter_block": filter_rows * block if is_packed else block,
        "filter_group": blocks * filter_rows * block if is_packed else group_outputs,
        "plane_stride": form.strides[0],
        "row_stride": form.strides[1],
        "plane_dilation": form.dilations[0],
        "row_dilation": form.dilations[1],
        "front": form.paddings[0][0],
        "top": form.paddings[1][0],
        "depth": depth,
        "height": rows_in,
        "row": columns * channels,
        "pitch": pitch,
        "left": padding[0] * channels,
        "copied": copied,
        "pixel": form.strides[2] * channels,
        "tap": form.dilations[2] * channels,
        "image": image * channels,
        "out_pixel": out_pixel,
        "out_row": out_row,
        "out_plane": out_plane,
        "out_image": out_image,
        "last_image": last * channels,
        "out_last_image": out_last,
    }
    return Plan(
        sizes=tuple([sizes[name] for name in SIZES]),
        turns=turns,
        scratch=(copied + 64) * itemsize if copied else 0,
        shape=shape,
        tile=(-(-out_columns // tiles), vectors),
        packing=(filter_rows, group_outputs, form.groups, blocks) if is_packed else (),
    )


def _vectors(form: _Form, count: int) -> int:
    """The vectors of a tile: the fewest that hold a group's channels, and many where the window is one pixel."""
    outputs = form.filter[-1] // form.groups
    if outputs <= count:
        return 1
    is_pixel = math.prod(form.filter[:3]) == 1
    return 4 if is_pixel and count * BYTES[computed(form.dtype)] == 64 and outputs % (4 * count) == 0 else 2
