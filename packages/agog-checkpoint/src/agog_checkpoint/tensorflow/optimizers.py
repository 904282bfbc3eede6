"""Optimizers: the slots, counts of steps and hyperparameters of TensorFlow's and Keras's, under the names of agog's."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import numpy as np

from agog_checkpoint.graph import Graph, Node, SavedVariable, Slot
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_checkpoint.tensorflow.object_graph import SavedObject

# The count of steps: of Keras 2, and of Keras from 2.11 on.
STEPS = ("iter", "iterations", "_iterations")
POWERS = ("beta1_power", "beta2_power")
# Hyperparameters that Keras keeps in variables; its own names are without the first underscore.
_HYPERPARAMETERS = ("learning_rate", "_learning_rate", "decay", "beta_1", "beta_2", "momentum", "rho")
# The lists of slots in Keras from 2.11 on, and the slots in which agog's optimizers keep the same.
_LISTS: dict[str, tuple[str, ...]] = {
    "_momentums": ("m", "momentum"),
    "momentums": ("velocity",),
    "_velocities": ("v", "rms"),
    "_velocity_hats": ("vhat",),
    "_average_gradients": ("mg",),
    "_accumulators": ("accumulator", "accum"),
    "_linears": ("linear",),
    "_accumulated_grads": ("accum",),
    "_accumulated_delta_vars": ("accum_update",),
    "_m": ("m",),
    "_u": ("v",),
}
# Slots of Keras 2 that have other names in agog.
_SLOTS: dict[str, tuple[str, ...]] = {"accum_grad": ("accum",), "accum_var": ("accum_update",)}


class Optimizers:
    """The optimizers among the objects of a checkpoint, and the nodes and arrays that are made of them."""

    def __init__(self, objects: list[SavedObject], nodes: list[Node], arrays: dict[str, Array]) -> None:
        self._objects = objects
        self._nodes = nodes
        self._arrays = arrays
        self._by_name: dict[str, list[int]] = {}
        for number, each in enumerate(objects):
            for tensor in each.tensors:
                self._by_name.setdefault(tensor.name, []).append(number)

    def slots(self) -> list[Slot]:
        """The slots of all optimizers, under each name that agog has for them."""
        found = []
        for number, each in enumerate(self._objects):
            counts = any(name in each.children for name in STEPS)
            names = {slot.name for slot in each.slots}
            for slot in each.slots:
                if self._nodes[slot.slot_variable].variable is not None:
                    for name in _names(slot.name, names, counts):
                        found.append(Slot(number, name, slot.variable, slot.slot_variable))
            if counts:
                found += self._slots_in_lists(number)
                found += self._unused_momentum(number, found)
        return found

    def cast_counts(self) -> None:
        """Give the counts of steps and the powers of betas the dtypes that agog has."""
        for each in self._objects:
            for name in STEPS:
                self._cast(each.children.get(name), "int64")
            if each.slots:
                for name in POWERS:
                    self._cast(each.children.get(name), "float64")

    def _slots_in_lists(self, optimizer: int) -> Iterator[Slot]:
        children = self._objects[optimizer].children
        trained = self._members(children.get("_trainable_variables"))
        for part, names in _LISTS.items():
            members = self._members(children.get(part))
            variables = trained if trained else self._named_in(members)
            for place, slot in members.items():
                if place in variables:
                    for name in names:
                        yield Slot(optimizer, name, variables[place], slot)

    def _members(self, number: int | None) -> dict[int, int]:
        """The variables in a list, by their places."""
        children = {} if number is None else self._objects[number].children
        return {
            int(place): child for place, child in children.items() if place.isdigit() and self._objects[child].tensors
        }

    def _named_in(self, slots: dict[int, int]) -> dict[int, int]:
        """The variables of slots, which Keras 2.11 and later name ``Adam/m/dense/kernel``; of several variables of a
        name the first has the first slot."""
        found, counts = {}, dict[str, int]()
        for place, slot in sorted(slots.items()):
            name = "/".join(self._objects[slot].tensors[0].name.split("/")[2:])
            owners = self._by_name.get(name, [])
            count = counts[name] = counts.get(name, -1) + 1
            if count < len(owners):
                found[place] = owners[count]
        return found

    def _unused_momentum(self, optimizer: int, slots: list[Slot]) -> Iterator[Slot]:
        """Zeros for the momentum that RMSprop of agog always has, where that of Keras has none."""
        own = [slot for slot in slots if slot.optimizer == optimizer]
        if any(slot.name in ("momentum", "m") for slot in own):
            return
        for slot in [slot for slot in own if slot.name == "rms"]:
            mean = self._nodes[slot.slot_variable].variable
            if mean is not None:
                key = f"{mean.key} (no momentum)"
                self._arrays[key] = np.zeros_like(self._arrays[mean.key])
                self._nodes.append(Node({}, SavedVariable(key, mean.dtype, mean.shape)))
                yield Slot(optimizer, "momentum", slot.variable, len(self._nodes) - 1)

    def _cast(self, number: int | None, dtype: str) -> None:
        saved = None if number is None else self._nodes[number].variable
        if saved is not None and saved.shape == ():
            self._arrays[saved.key] = self._arrays[saved.key].astype(dtype)
            saved.dtype = dtype


def drop_lists(optimizer: Node) -> None:
    """Take an optimizer's lists away, under each name: their members have places elsewhere, or are slots."""
    for name in (*_LISTS, "_variables", "_trainable_variables"):
        optimizer.children.pop(name, None)
        optimizer.children.pop(name.lstrip("_"), None)


def steps_of(graph: Graph, arrays: Mapping[str, Array], optimizer: Node) -> int | None:
    """The number of steps that an optimizer has made; None for what is no optimizer, or does not count them."""
    for name in STEPS:
        saved = _number(graph, optimizer, name)
        if saved is not None:
            return int(arrays[saved.key])
    return None


def take_hyperparameters(
    graph: Graph, arrays: Mapping[str, Array], optimizer: Node, steps: int, kept: Container[str]
) -> None:
    """Make the number of steps and hyperparameters in variables the optimizer's state, without those that have a
    variable in the program, too."""
    state: dict[str, float] = {"steps": steps}
    for name in _HYPERPARAMETERS:
        saved = _number(graph, optimizer, name)
        if saved is not None and name not in kept:
            # The shortest decimal of that precision, which is what the program has said.
            state[name.lstrip("_")] = float(str(arrays[saved.key][()]))
            graph.nodes[optimizer.children[name]].variable = None
    optimizer.state = state


def _number(graph: Graph, optimizer: Node, name: str) -> SavedVariable | None:
    number = optimizer.children.get(name)
    saved = None if number is None else graph.nodes[number].variable
    return saved if saved is not None and saved.shape == () else None


def _names(name: str, beside: set[str], of_keras: bool) -> tuple[str, ...]:
    """The names in agog of a slot of an optimizer that has others beside it: SGD of Keras keeps steps, and no sum of
    gradients."""
    if name == "momentum" and of_keras and not beside & {"rms", "m"}:
        return ("velocity",)
    return _SLOTS.get(name, (name,))
