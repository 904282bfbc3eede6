"""Rules: how each op is said in ONNX; a room for each room of ops, and a function with the name of the op.

A rule is ``rule(op, *inputs, **attributes)``, as kernels are: ``op`` is the `agog_export.writer.Writer`, the inputs are
operands, and it returns the result, or a list of them with None for those that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_export.rules import (
    array,
    conv,
    image,
    indexing,
    linalg,
    math,
    nn,
    recurrent,
    reduce,
    signal,
    sorting,
    special,
)
from agog_export.rules.direct import NODES
from agog_export.rules.reasons import REASONS

_ROOMS = (array, conv, image, indexing, linalg, math, nn, recurrent, reduce, signal, sorting, special)


def _direct(kind: str) -> Callable[..., Any]:
    return lambda op, *inputs: getattr(op, kind)(*inputs)


RULES: dict[str, Callable[..., Any]] = {
    **{name: _direct(kind) for name, kind in NODES.items()},
    **{name: getattr(room, name) for room in _ROOMS for name in room.__all__},
}

__all__ = ["REASONS", "RULES"]
