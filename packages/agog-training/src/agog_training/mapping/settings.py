"""Settings: layers' settings that differ from PyTorch's with the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agog_layers import Bidirectional, GRUCell, LSTMCell, activations
from agog_layers.normalization.layer_normalization import Normalizing
from agog_training.mapping.places import Place

__all__ = ["differing_settings"]

_GATES = {"recurrent_activation": "sigmoid", "activation": "tanh"}


def differing_settings(places: Iterable[Place]) -> list[str]:
    """A sentence for each setting by which layers compute other numbers than PyTorch's do, or may do so."""
    found: dict[str, list[str]] = {}
    for place in places:
        for sentence in _of(place.layer):
            found.setdefault(sentence, []).append(place.path)
    return [sentence.format(_listed(paths)) for sentence, paths in found.items()]


def _of(layer: Any) -> Iterator[str]:
    if isinstance(layer, Bidirectional):
        yield from _of(getattr(layer.forward_layer, "cell", None))
    elif isinstance(layer, (GRUCell, LSTMCell)):
        for setting, wanted in _GATES.items():
            function = getattr(layer, setting)
            if function is not activations.get(wanted):
                name = getattr(function, "__name__", repr(function))
                yield f"{setting} is {name!r} in {{}}, and {wanted!r} in PyTorch; make the layer with that."
    elif isinstance(layer, Normalizing) and layer.epsilon != 1e-5:
        yield (
            f"epsilon is {layer.epsilon} in {{}}, and 1e-05 in PyTorch unless told otherwise; make the layer with the "
            "epsilon of the other program."
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
