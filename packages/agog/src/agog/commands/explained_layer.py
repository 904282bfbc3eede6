"""Explained layer: the ops of a layer, for `agog explain` with a layer's name."""

from __future__ import annotations

import inspect
from functools import partial
from itertools import product
from typing import Any

from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.ops.array.creation import zeros

# What a layer is made with that needs arguments, by their names; 2 for the others.
_ARGUMENTS = {"rate": 0.5, "alpha": 0.5, "stddev": 0.5, "dims": (1,), "target_shape": (-1,), "num_heads": 1}
_SHAPES = ([1, 8], [1, 8, 3], [1, 8, 8, 3], [1, 8, 8, 8, 3], [1, 8, 8, 8, 8, 3])


def ops_of_layer(name: str) -> tuple[str, list[str]] | None:
    """The name of a layer of ``tf.keras.layers``, and the ops that it runs when it is called, in their order.

    Args:
        name: the layer's name, or that of its function, such as ``"conv2d"``.

    Returns:
        The two; None where there is no such layer, or it takes no tensor of zeros.

    >>> ops_of_layer("dense")
    ('Dense', ['matmul_bias'])
    """
    from agog.keras import layers  # here, because the command needs them for such names only

    plain = name.replace("_", "").lower()
    found = next((each for each in layers.__all__ if each.lower() == plain), "")
    kind: Any = getattr(layers, found, None)
    if not isinstance(kind, type):
        return None
    for shape, count in product(_SHAPES, (1, 2)):
        inputs = [zeros(shape)] * count
        try:
            layer = _made(kind)
            layer(inputs if count > 1 else inputs[0])  # makes the variables, by ops that nobody asks for
            return found, _observed(partial(layer, inputs if count > 1 else inputs[0]))
        except Exception:  # inputs of another rank may do
            continue
    return None


def _made(kind: Any) -> Any:
    needed = [
        each.name
        for each in inspect.signature(kind).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    return kind(**{name: _ARGUMENTS.get(name, 2) for name in needed})


def _observed(function: Any) -> list[str]:
    ops: list[str] = []

    def note(call: KernelCall) -> None:
        ops.append(call.op.name)

    observe(note)
    try:
        function()
    finally:
        unobserve(note)
    return list(dict.fromkeys(ops))
