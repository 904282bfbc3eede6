"""Description: serialization of the arguments of `Model.compile` as JSON data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agog_core import nest
from agog_layers.losses import lookup as losses
from agog_layers.metrics import lookup as metrics
from agog_training.optimizers.description import describe_optimizer, revive_optimizer

_DESCRIPTIONS = {"function", "class_name"}


def describe_training(model: Any) -> dict[str, Any]:
    """Describe what a model was compiled with: its optimizer, its losses and its metrics.

    A NotImplementedError says what is no data.
    """
    described = {name: _mapped(given, _describe_function) for name, given in model.objective.given.items()}
    return {
        "optimizer": describe_optimizer(model.optimizer),
        **described,
        "jit_compile": model._compiled is not None,
    }


def revive_training(data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Model.compile` that `describe_training` described."""
    find = {"loss": losses.get, "metrics": metrics.get, "weighted_metrics": metrics.get}
    given = {name: _mapped(data[name], partial(_revive_function, get)) for name, get in find.items()}
    rest = {name: data[name] for name in ("loss_weights", "jit_compile")}
    return {"optimizer": revive_optimizer(data["optimizer"]), **given, **rest}


def _mapped(given: Any, convert: Callable[[Any], Any]) -> Any:
    """Arguments of `Model.compile` of one kind, as one, a list or a dict, with each loss or metric converted."""
    if isinstance(given, (list, tuple)):
        return [_mapped(part, convert) for part in given]
    if nest.is_mapping(given) and not _DESCRIPTIONS & set(given):
        return {name: _mapped(part, convert) for name, part in given.items()}
    return convert(given)


def _describe_function(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    name = getattr(value, "__name__", "")
    if not name.isidentifier():
        raise NotImplementedError(
            f"Model.save: {value!r}, a loss or metric of the model, has no name by which loading could find it; define "
            "it with def, or save with include_optimizer=False, and compile the model again after loading it."
        )
    return {"function": name}


def _revive_function(get: Callable[[Any], Any], data: Any) -> Any:
    if not nest.is_mapping(data):
        return data
    return get(data.get("function", data))
