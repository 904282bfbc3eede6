"""Proposal: the candidate modules of a file for each layer of a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from agog_checkpoint import load_tensors
from agog_layers import MultiHeadAttention
from agog_training.mapping.flow import flow_of
from agog_training.mapping.forms import Forms, fitting, of_another_kind, of_its_kind
from agog_training.mapping.mapping import WeightMapping
from agog_training.mapping.modules import Module, attentions_of, is_sorted, modules_of
from agog_training.mapping.pairing import groups_of, pair
from agog_training.mapping.parametrizations import with_computed_weights
from agog_training.mapping.places import Place, places_of

__all__ = ["propose_mapping"]

# How the matrices of Dense layers may lie in a file: as PyTorch's do, as here, or some so and some so.
_MATRICES = ("turned", "plain", "either")


def propose_mapping(model: Any, tensors: Mapping[str, Any] | str | os.PathLike[str]) -> WeightMapping:
    """Propose a mapping from tensors of another program's file to the weights of a model.

    A layer takes the tensors of one module, such as ``fc1.weight`` and ``fc1.bias``, in the shapes of PyTorch or of
    agog. The module must have all tensors of this kind of layer. Where several modules would do, names decide, if the
    program has named its layers or attributes so; else the order does, if one run of the model shows that each layer
    follows on the one before. Whatever stays unclear gets no tensor, and `assign` says so. The run also finds flattened
    images; PyTorch has their channels first.

    Args:
        model: a model, or a layer, whose weights exist.
        tensors: a safetensors file, such as one of Hugging Face's, or an index of several; or names to arrays, such as
            a ``state_dict`` of PyTorch's with arrays in place of tensors.

    Returns:
        A `WeightMapping`, whose `repr` shows what was found.

    Raises:
        ValueError: the model has no weights yet.
        NotFoundError: there is no such file.
        DataLossError: it is damaged.

    >>> import numpy as np
    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> model = Sequential([Dense(3, input_shape=(2,), name="first"), Dense(1, name="last")], name="net")
    >>> shapes = {"fc1.weight": (3, 2), "fc1.bias": (3,), "fc2.weight": (1, 3), "fc2.bias": (1,)}
    >>> mapping = propose_mapping(model, {name: np.ones(shape) for name, shape in shapes.items()})
    >>> mapping
    <WeightMapping
      net/first/kernel  (2, 3)  fc1.weight  axes (1, 0)
      net/first/bias    (3,)    fc1.bias
      net/last/kernel   (3, 1)  fc2.weight  axes (1, 0)
      net/last/bias     (1,)    fc2.bias>
    >>> mapping.assign()
    """
    if not model.weights:
        raise ValueError(
            f"propose_mapping: {model.name!r} has no weights, since it was not built: call it on a batch, or call "
            "build(input_shape)."
        )
    if not isinstance(tensors, Mapping):
        tensors = load_tensors(tensors)
    dtypes = [str(getattr(array, "dtype", "")) for array in tensors.values()]
    in_order = not is_sorted(list(tensors), dtypes)
    tensors, doubts = with_computed_weights(tensors)
    places = places_of(model)
    groups = [list(place.variables.values()) for place in places]
    modules = modules_of(tensors)
    attentions = attentions_of(modules)
    mapping = WeightMapping(places, tensors, [*modules, *attentions], partial(flow_of, model, groups), doubts)
    modules = _with_attentions(places, modules, attentions)
    mapping._matrices = max(_MATRICES, key=lambda matrices: _fits(places, modules, matrices).any(1).sum())
    pairs = pair(
        places,
        modules,
        _fits(places, modules, mapping._matrices),
        (lambda one, other: False) if mapping._flow is None else mapping._flow.comes_before,
        in_order,
    )
    for p, m in pairs.certain.items():
        forms = fitting(places[p], modules[m].shapes, mapping._matrices)
        assert forms is not None
        mapping._enter(places[p], modules[m], forms)
    for p, rivals in pairs.unclear.items():
        reason = " or ".join(modules[m].name for m in rivals)
        mapping._unclear.update(dict.fromkeys(mapping._names(places[p]).values(), f"of {reason}"))
    return mapping


def _with_attentions(places: Sequence[Place], modules: list[Module], attentions: Sequence[Module]) -> list[Module]:
    """The modules; the projections of an attention count as one if the model has one layer for them."""
    layers = [place for place in places if isinstance(place.layer, MultiHeadAttention)]
    whole = [each for each in attentions if any(fitting(place, each.shapes) for place in layers)]
    parts = {key for attention in whole for key in attention.leaves.values()}
    rest = [module for module in modules if not parts & set(module.leaves.values())]
    number = {key: n for n, module in enumerate(modules) for key in module.leaves.values()}
    return sorted([*rest, *whole], key=lambda module: min(number[key] for key in module.leaves.values()))


def _fits(places: Sequence[Place], modules: Sequence[Module], matrices: str) -> Any:
    """Whether the module of each column may be the place's of each row: one of another kind only if there are too few
    modules of its own kind for the places.
    """

    def table(rule: Callable[..., Forms | None]) -> Any:
        found = [[rule(place, module.shapes, matrices) is not None for module in modules] for place in places]
        return np.array(found, bool).reshape(len(places), len(modules))

    fits = table(of_its_kind)
    settled = [group for group in groups_of(fits) if fits[group].any(0).sum() == len(group)]
    for_others = np.ones_like(fits)
    for group in settled:
        for_others[group] = False
        for_others[:, fits[group].any(0)] = False
    return fits | for_others & table(of_another_kind)
