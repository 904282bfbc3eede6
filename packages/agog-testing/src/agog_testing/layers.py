"""Layers: checks that hold for every class of layers; they need agog-layers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_layers import Input, Layer, Model, MultiHeadAttention, model_from_json

__all__ = ["called", "check_description", "check_model", "check_shapes", "outputs"]


def called(layer: Any, x: Any, **options: Any) -> Any:
    """What a layer gives for an input or a list of them; those of `MultiHeadAttention` are arguments of their own."""
    return layer(*x, **options) if isinstance(layer, MultiHeadAttention) else layer(x, **options)


def outputs(layer: Any, x: Any) -> ag.Tensor:
    """What a layer gives, with the same random numbers each time."""
    ag.set_random_seed(7)
    found: ag.Tensor = called(layer, x)
    return found


def check_description(layer: Layer, x: Any) -> None:
    """Check that `get_config` gives data, and that `from_config` makes an equal layer of them."""
    config = layer.get_config()
    again: Any = type(layer).from_config(json.loads(json.dumps(config)))
    assert again.get_config() == config
    expected = outputs(layer, x)
    outputs(again, x)  # makes the weights
    again.set_weights(layer.get_weights())
    _check_equal(outputs(again, x), expected)


def check_shapes(make: Callable[[], Layer], x: Any, out: tuple[int, ...]) -> None:
    """Check that the shape of the output is known before the call; ``out`` is that of an example."""
    several = isinstance(x, list)
    batches: Any = [[None, *each.shape[1:]] for each in x] if several else [None, *x.shape[1:]]
    layer = make()
    if not isinstance(layer, MultiHeadAttention):
        assert layer.compute_output_shape(batches).as_list() == [None, *out]
    assert called(make(), _symbols(x)).shape.as_list() == [None, *out]
    assert called(layer, x).shape.as_list() == [(x[0] if several else x).shape[0], *out]


def check_model(layer: Layer, x: Any) -> None:
    """Check that a model of the layer gives what the layer gives, and so does a model that is made of its JSON."""
    symbols = _symbols(x)
    model: Any = Model(symbols, called(layer, symbols))
    again: Any = model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    expected = outputs(layer, x)
    for each in (model, again):
        ag.set_random_seed(7)
        _check_equal(each(x), expected)


def _symbols(x: Any) -> Any:
    return [_symbols(each) for each in x] if isinstance(x, list) else Input(x.shape[1:], dtype=x.dtype.name)


def _check_equal(x: ag.Tensor, y: ag.Tensor) -> None:
    np.testing.assert_array_equal(x.numpy(), y.numpy())
