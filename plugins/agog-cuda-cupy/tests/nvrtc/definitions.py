"""Definitions: what each CUDA C source is compiled with, all modules that a program can come to need."""

from __future__ import annotations

from agog_cuda_cupy.cuda.modules import INDEXES, ITEMS

_FLOATS = [{"AGOG_NUMBER": name} for name in ("half_t", "bfloat_t", "float", "double")]
_COPIED = [{"AGOG_ITEM": item} for item in ITEMS.values()]
_INDEXED = [{"AGOG_INDEX": index} for index in INDEXES.values()]
_NUMBERS = [*_FLOATS, {"AGOG_NUMBER": "i32"}, {"AGOG_NUMBER": "i64"}]
DEFINITIONS: dict[str, list[dict[str, str]]] = {
    "affine": _FLOATS,
    "convolution": _NUMBERS,
    "ctc": _FLOATS[2:],
    "distributions": [{}],
    "elementwise": _FLOATS,
    "gather": [*_COPIED, *_INDEXED],
    "gru": _FLOATS[2:],
    "lstm": _FLOATS[2:],
    "optimizers": _FLOATS,
    "philox": [*_FLOATS, *[{"AGOG_INTEGER": name} for name in (*INDEXES.values(), "u8", "u16", "u32", "u64")]],
    "pooling": _NUMBERS,
    "reduce": _NUMBERS,
    "scatter": _NUMBERS,
    "softmax": [*_FLOATS, *_INDEXED],
    "sorting": _NUMBERS,
    "standardize": _FLOATS,
    "transpose": _COPIED,
}
"""By source."""
