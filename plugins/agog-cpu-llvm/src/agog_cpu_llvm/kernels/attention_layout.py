"""Attention layout: the words of the compiled functions, and where a turn's copies and sums lie in scratch memory."""

from __future__ import annotations

from typing import NamedTuple

from agog_cpu_llvm.registers import Register

FORWARD = ("query", "key", "value", "bias", "out")
"""The arrays of ``attention``; the address of the bias is 0 where there is none."""

BACKWARD = ("gradients", "query", "key", "value", "bias", "of_query", "of_key", "of_value")
"""The arrays of ``attention_grad``; the address of a gradient is 0 where nobody asks for it."""

SCRATCH = {
    "attention": ("turned_keys", "value_rows", "query_rows", "scores", "sums"),
    "attention_grad": (
        *("turned_keys", "turned_values", "key_rows", "query_rows", "gradient_rows", "scores", "slopes", "sums"),
        *("key_sums", "value_sums"),
    ),
}
"""Places of the scratch memory, in elements from its start."""

_WAYS = ("batch", "head", "row")  # elements of an array from one to the next
_SIZES = ("heads", "query_count", "key_count", "depth", "width", "rows", "chunk", "chunks", "turns", "is_causal")
_PITCHES = ("score_pitch", "key_pitch", "value_pitch")


def words(entry: str) -> tuple[str, ...]:
    """The names of an entry's words of sizes, in order: they follow the addresses and the factor."""
    arrays = FORWARD if entry == "attention" else BACKWARD
    return (*[f"{array}_{way}" for array in arrays for way in _WAYS], *_SIZES, *_PITCHES, *SCRATCH[entry])


def tile(register: Register) -> tuple[int, int]:
    """The rows of a tile, and its columns."""
    return (8 if register.bytes == 64 else 4), 2 * register.count


class Sizes(NamedTuple):
    """Of a head: its queries, its keys, their depth, and the width of values."""

    queries: int
    keys: int
    depth: int
    width: int


def pitches(register: Register, sizes: Sizes) -> tuple[int, int, int]:
    """Elements from one row of scores, keys and values to the next: rows begin at different lines of the cache."""
    _, columns = tile(register)
    gap = 64 // register.itemsize
    score, key, value = (-(-size // columns) * columns + gap for size in (sizes.keys, sizes.depth, sizes.width))
    return score, key, value


def places(register: Register, entry: str, sizes: Sizes, rows: int) -> tuple[list[int], int]:
    """The places of `SCRATCH` for blocks of some rows, and the bytes of all."""
    score, key, value = pitches(register, sizes)
    keys, depth, width = (-(-size // register.count) * register.count for size in sizes[1:])
    elements = {
        "turned_keys": depth * score,
        "turned_values": width * score,
        "key_rows": keys * key,
        "value_rows": keys * value,
        "query_rows": rows * max(key, value),
        "gradient_rows": rows * value,
        "scores": rows * score,
        "slopes": rows * score,
        "sums": rows + register.count,
        "key_sums": keys * key,
        "value_sums": keys * value,
    }
    found, end, line = [], 0, 64 // register.itemsize
    for name in SCRATCH[entry]:
        found.append(end)
        end += -(-elements[name] // line) * line
    return found, end * register.itemsize
