"""Lookup of optimizers by name, as in ``tf.keras.optimizers``."""

from __future__ import annotations

from typing import Any

from agog_layers.base.arguments import shown
from agog_layers.base.custom_objects import custom_object, custom_object_scope
from agog_layers.base.description import classes

__all__ = ["deserialize", "get", "serialize"]

# What stands for no optimizer by its name alone: the base, and one that needs an inner optimizer.
_NOT_ALONE = ("KerasOptimizer", "LossScaleOptimizer")


def _by_name() -> dict[str, Any]:
    """Keras's optimizers by their names in small letters; a class is known as soon as it is defined."""
    known = classes.get("optimizer", {})
    return {name.lower(): known[name] for name in sorted(known) if name not in _NOT_ALONE}


def get(identifier: Any) -> Any:
    """The optimizer that an argument stands for.

    Args:
        identifier: a name in any case, an optimizer, or a dict with ``class_name`` and ``config``.

    Returns:
        The optimizer, or a new one.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> from agog_training import optimizers
    >>> optimizers.get("sgd").lr
    0.01
    """
    if isinstance(identifier, str):
        if own := custom_object(identifier):
            return own()
        known = _by_name()
        if identifier.lower() not in known:
            raise ValueError(f"Unknown optimizer {identifier!r}; the names are {', '.join(known)}.")
        return known[identifier.lower()]()
    if isinstance(identifier, dict):
        name = identifier["class_name"]
        kind = custom_object(name) or classes["optimizer"].get(name) or type(get(name))
        return kind.from_config(identifier["config"])
    if isinstance(identifier, type) or not hasattr(identifier, "apply_gradients"):
        raise TypeError(f"An optimizer is a name, or an object with apply_gradients; got {shown(identifier)}.")
    return identifier


def serialize(optimizer: Any) -> dict[str, Any]:
    """Describe an optimizer by data.

    Args:
        optimizer: the optimizer.

    Returns:
        A dict with ``class_name`` and ``config``.

    >>> from agog_training.optimizers import SGD
    >>> serialize(SGD(lr=0.5))["config"]["lr"]
    0.5
    """
    return {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """Make an optimizer from what `serialize` returned.

    Args:
        config: the description.
        custom_objects: names to optimizer classes of the program.

    Returns:
        A new optimizer; its slots are empty.

    Raises:
        ValueError: the class is unknown.

    >>> from agog_training.optimizers import SGD
    >>> deserialize(serialize(SGD(lr=0.5))).lr
    0.5
    """
    with custom_object_scope(custom_objects or {}):
        optimizer = get(config)
    if isinstance(config, dict) and config["class_name"].lower() in _by_name():
        config["class_name"] = config["class_name"].lower()  # as programs of Keras 2 find it afterwards
    return optimizer
