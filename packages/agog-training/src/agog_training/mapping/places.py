"""Places: the groups of a model's weights, such as a layer's kernel and bias, in the model's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agog_core import Variable
from agog_layers import Bidirectional, Layer, Sequential, SpectralNormalization
from agog_layers.attention.multi_head_attention import MultiHeadAttention
from agog_layers.convolution.separable_convolution import SeparableConv
from agog_layers.recurrent.rnn import RNN
from agog_layers.recurrent.stacked_cells import StackedRNNCells

__all__ = ["Place", "places_of"]


class Place(NamedTuple):
    """Weights that belong together.

    Args:
        layer: the layer that computes with them; of a recurrent one its cell.
        path: what the names of the weights begin with.
        names: what the program calls the place: the layer's name, if it was given one, and the attributes that lead to
            it.
        variables: the weights by what they are there, such as ``"kernel"``.
        part: the part of a layer with several parts.
    """

    layer: Any
    path: str
    names: tuple[str, ...]
    variables: Mapping[str, Variable]
    part: str = ""


def places_of(model: Any) -> list[Place]:
    """The places of a model or layer, in the order of its layers.

    >>> from agog_layers import Dense
    >>> [place.path for place in places_of(Sequential([Dense(3, input_shape=(2,), name="a"), Dense(1, name="b")], "m"))]
    ['m/a', 'm/b']
    """
    return [place for place in _walk(model, model, "", set()) if place.variables]


def _walk(root: Any, layer: Any, attributes: str, seen: set[int]) -> Iterator[Place]:
    if id(layer) in seen:
        return
    seen.add(id(layer))
    names = _names(root, layer, attributes)
    if isinstance(layer, Bidirectional):
        halves = {"forward": layer.forward_layer, "backward": layer.backward_layer}
        roles = {
            f"{half}/{role}": variable
            for half, each in halves.items()
            for role, variable in _roles(each, f"{_path(layer)}/{each.name}").items()
        }
        yield Place(layer, _path(layer), names, roles)
    elif isinstance(layer, SpectralNormalization):
        roles = {"vector_u": layer.vector_u, **_roles(layer.layer, _path(layer.layer))}
        yield Place(layer.layer, _path(layer), (*names, *_names(root, layer.layer, f"{attributes}/layer")), roles)
    elif isinstance(layer, RNN) and isinstance(layer.cell, StackedRNNCells):
        for number, cell in enumerate(layer.cell.cells):
            path = f"{_path(layer)}/cell_{number}"
            yield Place(cell, path, tuple(f"{name}/{number}" for name in names), _roles(cell, path))
    elif isinstance(layer, RNN):
        yield Place(layer.cell, _path(layer), names, _roles(layer, _path(layer)))
    elif isinstance(layer, SeparableConv):
        roles = _roles(layer, _path(layer))
        yield Place(
            layer, _path(layer), names, {k: v for k, v in roles.items() if k == "depthwise_kernel"}, "depthwise"
        )
        yield Place(
            layer, _path(layer), names, {k: v for k, v in roles.items() if k != "depthwise_kernel"}, "pointwise"
        )
    else:
        inside = {id(v) for _, child in _children(layer) for v in child.weights}
        yield Place(layer, _path(layer), names, _roles(layer, _path(layer), inside))
        for attribute, child in _children(layer):
            yield from _walk(root, child, f"{attributes}/{attribute}".strip("/"), seen)


def _children(layer: Any) -> Iterator[tuple[str, Any]]:
    """The layers inside a layer, with the attributes that lead to them; in a list of all layers there are none."""
    if isinstance(layer, Sequential) or getattr(layer, "_graph", None) is not None:
        yield from (("", child) for child in layer.layers)
    elif not isinstance(layer, MultiHeadAttention):
        yield from _layers_in(layer.checkpoint_dependencies(), "")


def _layers_in(parts: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, part in parts.items() if isinstance(parts, Mapping) else enumerate(parts):
        if isinstance(part, Layer):
            yield f"{path}/{name}".strip("/"), part
        elif isinstance(part, (list, tuple, dict)):
            yield from _layers_in(part, f"{path}/{name}")


def _roles(layer: Any, path: str, without: set[int] | frozenset[int] = frozenset()) -> dict[str, Variable]:
    """A layer's weights, by their names less the path."""
    own = [variable for variable in layer.weights if id(variable) not in without]
    names = [variable.name.partition(":")[0] for variable in own]
    roles = [name.removeprefix(f"{path}/") if name.startswith(path) else name.rpartition("/")[2] for name in names]
    return dict(zip(roles, own, strict=True))


def _path(layer: Any) -> str:
    return str(layer._full_path())


def _names(root: Any, layer: Any, attributes: str) -> tuple[str, ...]:
    """The program's name of a layer. Names that the layer has given itself say nothing of other programs."""
    given = "" if layer._auto_named else _path(layer).removeprefix(_path(root)).strip("/")
    return tuple(dict.fromkeys(name for name in (given, attributes) if re.sub(r"[\d/]", "", name)))
