"""Optimizers as files of Keras 3 describe them, with the state that these hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agog_checkpoint.regular_file import open_local
from agog_checkpoint.warning import CheckpointWarning
from agog_core import Variable
from agog_training import optimizers
from agog_training.optimizers import schedules
from agog_training.saving.keras.files import datasets_at, hdf5_in, value_of, variables_in_order
from agog_training.saving.keras.schema import is_object, settings_of

__all__ = ["load_optimizer_state", "made_optimizer"]

Description = Mapping[str, Any]

_OF_ADAM = (("m", "v"),)
_SLOTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "Lamb", "Nadam"), _OF_ADAM),
    "Adadelta": (("accum", "accum_update"),),
    "Adagrad": (("accumulator",),),
    "Lion": (("m",),),
    "RMSprop": (("rms",), ("momentum",), ("mg",)),
    "SGD": (("velocity",),),
}


def made_optimizer(data: Any) -> Any:
    """The optimizer of a file, with Keras 3's formula."""
    if not is_object(data):
        return optimizers.get(data)
    name, config = str(data["class_name"]), data["config"]
    kind = type(optimizers.get(name))
    small = config.get("epsilon", 1e-7)
    if name == "RMSprop":  # under the root
        config = {**config, "epsilon": math.sqrt(small)}
    if name == "Adagrad":  # under the root, beside what the sum begins with
        config = {**config, "epsilon": math.sqrt(config.get("initial_accumulator_value", 0.1) + small)}
        config.pop("initial_accumulator_value", None)
    settings, unknown = settings_of({**data, "config": config}, kind)
    if unknown:
        raise ValueError(f"{name} has no {', '.join(f'{k}={v!r}' for k, v in unknown.items())}")
    rate = settings.get("learning_rate")
    if is_object(rate):
        settings["learning_rate"] = getattr(schedules, rate["class_name"])(**rate["config"])
    return kind.from_config({name: value for name, value in settings.items() if value is not None})


def load_optimizer_state(model: Any, path: str, description: Description) -> None:
    """Give a model's optimizer the state in a file of Keras 3; if it does not fit, a warning says so."""
    import h5py

    try:
        with open_local(path) as stream, h5py.File(hdf5_in(path, stream), "r") as file:
            datasets = datasets_at(file, "optimizer")
            trained = [v for v in variables_in_order(model, path, file) if v.trainable] if datasets else []
            described = description["compile_config"]["optimizer"]
            state = list(_state(path, model.optimizer, trained, datasets, described)) if datasets else []
    except Exception as error:  # h5py raises errors of many kinds on damaged files
        reason = str(error).removeprefix("load_weights: ")
        warnings.warn(
            f"load_model: the optimizer of the model of {path!r} begins anew, since its state in the file cannot be "
            f"used: {reason}",
            CheckpointWarning,
            stacklevel=4,
        )
        return
    for variable, value in state:
        variable.assign(value)


def _state(
    path: str, optimizer: Any, trained: Sequence[Variable], datasets: Sequence[Any], data: Any
) -> Iterator[tuple[Variable, Any]]:
    """The optimizer's variables and their values: the count of steps, the learning rate, and slots."""
    kind, config = str(data["class_name"]), data["config"]
    numbers = 1 if is_object(config["learning_rate"]) else 2
    if len(datasets) <= numbers and not int(value_of(path, optimizer.iterations, datasets[0])):
        return  # no step was made
    groups = _slots_of(kind, optimizer)
    places = [(variable, name) for names in groups for variable in trained for name in names]
    last = 1 if kind == "Nadam" else 0  # the product of its momenta
    count = numbers + len(places) + last
    if len(datasets) != count:
        raise ValueError(f"{kind} of this model has {count} variables, and the file {len(datasets)}.")
    steps = int(value_of(path, optimizer.iterations, datasets[0]))
    yield optimizer.iterations, steps
    for (variable, name), dataset in zip(places, datasets[numbers : count - last], strict=True):
        slot = (optimizer._slots.of.get(variable) or optimizer._make_slots(variable))[name]
        value = value_of(path, slot, dataset)
        if kind == "Adagrad":
            value = value + config.get("epsilon", 1e-7)
        yield slot, value
    for name, value in optimizer.values_after_steps(steps).items():
        yield getattr(optimizer, name), value
    if last:
        yield optimizer.m_schedule, value_of(path, optimizer.m_schedule, datasets[-1])


def _slots_of(kind: str, optimizer: Any) -> list[tuple[str, ...]]:
    """The names of the slots that Keras keeps too, in its order."""
    if kind not in _SLOTS:
        raise ValueError(f"agog does not know what Keras keeps of {kind}.")
    unused = {
        *(() if getattr(optimizer, "centered", False) else ("mg",)),
        *(() if getattr(optimizer, "momentum", 0) else ("momentum", "velocity")),
    }
    amsgrad = [("vhat",)] if getattr(optimizer, "amsgrad", False) else []
    return [*(names for names in _SLOTS[kind] if not unused & set(names)), *amsgrad]
