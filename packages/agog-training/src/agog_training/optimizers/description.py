"""Description: serialization of Keras's and ``tf.train``'s optimizers as JSON data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import agog_optimizers
from agog_layers.serialization.custom_objects import custom_object
from agog_layers.serialization.description import describe
from agog_optimizers import Optimizer
from agog_training.optimizers.lookup import deserialize

_BY_NAME = {
    name: value
    for name in dir(agog_optimizers)
    if isinstance(value := getattr(agog_optimizers, name), type)
    and issubclass(value, Optimizer)
    and name != "LossScaleOptimizer"  # Keras's has a description
}


def describe_optimizer(optimizer: Any) -> dict[str, Any]:
    """Describe an optimizer by its class and its constructor's arguments.

    >>> describe_optimizer(agog_optimizers.MomentumOptimizer(0.1, 0.9))["config"]
    {'learning_rate': 0.1, 'momentum': 0.9, 'name': 'Momentum', 'use_nesterov': False}
    """
    kind = type(optimizer)
    if hasattr(optimizer, "get_config"):
        return {"class_name": kind.__name__, "config": optimizer.get_config()}
    names = [name for name in inspect.signature(kind).parameters if name != "use_locking"]  # has no effect
    config = {}
    for name in names:
        try:
            value = getattr(optimizer, "_name" if name == "name" else name)
            config[name] = describe(value)
        except (AttributeError, TypeError):
            raise NotImplementedError(
                f"Model.save: the argument {name!r} of the optimizer {kind.__name__} is no data that a file can hold; "
                "save with include_optimizer=False, and compile the model again after loading it."
            ) from None
    return {"class_name": kind.__name__, "config": config}


def revive_optimizer(data: Mapping[str, Any]) -> Any:
    """The optimizer that `describe_optimizer` described."""
    name = data["class_name"]
    if custom_object(name) is None and name in _BY_NAME:
        return _BY_NAME[name](**data["config"])
    return deserialize(dict(data))
