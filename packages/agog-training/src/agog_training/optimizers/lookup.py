"""Lookup of optimizers by name, as in ``tf.keras.optimizers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_layers.serialization.custom_objects import custom_object
from agog_layers.serialization.lookup import Lookup
from agog_layers.serialization.registry import classes

__all__ = ["deserialize", "get", "serialize"]

# What stands for no optimizer by its name alone: the base, and one that needs an inner optimizer.
_NOT_ALONE = ("KerasOptimizer", "LossScaleOptimizer")


class Optimizers(Lookup):
    """Optimizers by their names in any case; a class is known as soon as it is defined."""

    def deserialize(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """See `Lookup.deserialize`; the slots of the optimizer are empty."""
        optimizer = super().deserialize(config, custom_objects)
        if isinstance(config, dict) and config["class_name"].lower() in self._known():
            config["class_name"] = config["class_name"].lower()  # as programs of Keras 2 find it afterwards
        return optimizer

    def fits(self, value: Any) -> bool:
        """Whether an object takes gradients."""
        return hasattr(value, "apply_gradients")

    def _known(self) -> dict[str, Any]:
        known = classes.get("optimizer", {})
        return {name.lower(): known[name] for name in sorted(known) if name not in _NOT_ALONE}

    def _by_name(self, name: str) -> Any:
        make = custom_object(name) or self._known().get(name.lower())
        if make is None:
            raise self._unknown(name, self._known())
        return make()

    def _by_description(self, data: Mapping[str, Any]) -> Any:
        name = data["class_name"]
        kind = custom_object(name) or classes["optimizer"].get(name) or type(self._by_name(name))
        return kind.from_config(data["config"])

    def _what(self) -> str:
        return "a name, or an object with apply_gradients"


OPTIMIZERS = Optimizers("optimizer")
get, serialize, deserialize = OPTIMIZERS.get, OPTIMIZERS.serialize, OPTIMIZERS.deserialize
