"""Mapping: the tensors of another program's file for the weights of a model, with their layout."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agog_checkpoint.warning import CheckpointWarning
from agog_core import Variable
from agog_layers import Dense
from agog_layers.convolution.convolution import Convolution
from agog_training.mapping.features import UNCLEAR, Order, of_images
from agog_training.mapping.flow import Flow
from agog_training.mapping.forms import IN_FOUR, Form, Forms, fitting, of_pytorch, plain, shape_of
from agog_training.mapping.modules import Module
from agog_training.mapping.places import Place
from agog_training.mapping.settings import differing_settings

__all__ = ["WeightMapping"]

Axes = tuple[int, ...]


class _Entry(NamedTuple):
    keys: tuple[str, ...]
    form: Form
    orders: tuple[Order, ...]  # of the features along each axis


class WeightMapping:
    """The tensors for each weight, and their layout: a proposal, to be looked at and corrected.

    `repr` is a table. ``mapping["net/fc"] = "classifier.0"`` matches a module of the file with a layer,
    ``mapping["net/fc/kernel"] = "fc.weight"`` which tensor to a weight, and None in place of a name takes it out.
    `assign` gives the weights their values. Ambiguous weights are in `unclear`, and have no tensor until the program
    chooses one.

    Attributes:
        variables: the model's weights by their names.
        tensors: the arrays by their keys; weights with a norm of PyTorch's by the keys that they have without.
        unclear: why weights have no tensor although some would fit, by the weights' names.
        notes: settings of layers that differ from those of PyTorch's layers.
    """

    def __init__(
        self,
        places: Sequence[Place],
        tensors: Mapping[str, Any],
        modules: Sequence[Module],
        flow_with: Callable[[Mapping[int, str]], Flow | None],
        doubts: Mapping[str, str],
    ) -> None:
        self._places = places
        self._of_name: dict[str, tuple[Place, str]] = {}
        for place in places:
            for role, variable in place.variables.items():
                name = base = variable.name.removesuffix(":0")
                number = 0
                while name in self._of_name:
                    number += 1
                    name = f"{base}_{number}"
                self._of_name[name] = (place, role)
        self.variables: dict[str, Variable] = {
            name: place.variables[role] for name, (place, role) in self._of_name.items()
        }
        self.tensors = dict(tensors)
        self._modules = {module.name: module for module in modules}
        self._flow_with = flow_with
        self._layouts: dict[int, str] = {}
        self._flow = flow_with(self._layouts)
        self._doubts = doubts
        self._matrices = "turned"
        self._entries: dict[str, _Entry] = {}
        self._unclear: dict[str, str] = {}

    def __getitem__(self, variable: str) -> str | tuple[str, ...]:
        keys = self._entries[variable].keys
        return keys[0] if len(keys) == 1 else keys

    def __setitem__(self, name: str, key: str | Sequence[str] | None) -> None:
        places = [place for place in self._places if place.path == name]
        if name in self.variables or not places:
            self.take(name, key)
        elif key is None:
            for place in places:
                for each in self._names(place).values():
                    self.take(each, None)
        else:
            self._take_module(name, places, str(key))

    def take(
        self,
        name: str,
        key: str | Sequence[str] | None,
        axes: Sequence[int] | None = None,
        flattened: Sequence[int] | None = None,
    ) -> None:
        """Match a tensor with a weight, with its layout if that is unclear.

        Args:
            name: the weight's name.
            key: the tensor's key; a tuple of them for a weight that is made of several; None for no tensor.
            axes: the order of the tensor's axes, as for `numpy.transpose`; None for what the layer's kind says.
            flattened: the shape (height, width, channels) of the images whose features, in PyTorch with the channels in
                front, are along the weight's first axis; () for features in the same order. None for what the model
                says.

        Raises:
            KeyError: there is no such weight or tensor.
            ValueError: the shapes do not fit; or it is unclear how the tensor lies, and neither argument says it.
        """
        keys = () if key is None else (key,) if isinstance(key, str) else tuple(key)
        known: tuple[tuple[str, Sequence[str], Mapping[str, Any]], ...] = (
            ("weight", (name,), self.variables),
            ("tensor", keys, self.tensors),
        )
        for kind, given, there in known:
            for each in given:
                if each not in there:
                    raise KeyError(f"WeightMapping: there is no {kind} {each!r}; there are {', '.join(there)}.")
        self._entries.pop(name, None)
        self._unclear.pop(name, None)
        if not keys:
            return
        form = self._form(name, keys) if axes is None else self._as_told(name, keys, tuple(axes))
        orders = self._orders(name, form)
        if flattened is not None:
            orders = (self._of_images(name, tuple(flattened)), *orders[1:])
        doubt = self._doubt(keys, form, orders)
        if doubt:
            raise ValueError(f"WeightMapping: {name} from {' and '.join(keys)}: {doubt}; say so with mapping.take.")
        self._entries[name] = _Entry(keys, form, orders)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.variables if name in self._entries)

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def unclear(self) -> dict[str, str]:
        """Why weights have no tensor although some would fit, by their names."""
        return {name: self._unclear[name] for name in self.variables if name in self._unclear}

    @property
    def unmatched(self) -> list[str]:
        """The weights for which there is no tensor."""
        return [name for name in self.variables if name not in self._entries and name not in self._unclear]

    @property
    def unused(self) -> list[str]:
        """The tensors that no weight takes."""
        used = {key for name in self for key in self._entries[name].keys}
        return [key for key in self.tensors if key not in used]

    @property
    def notes(self) -> list[str]:
        """Settings of layers that differ from PyTorch's, and that a file of weights does not hold."""
        from_pytorch = {id(self._of_name[name][0]) for name in self if self._entries[name].form.by_pytorch}
        return differing_settings([place for place in self._places if id(place) in from_pytorch])

    def axes(self, variable: str) -> Axes:
        """The order of the tensor's axes that makes it the weight's value, as for `numpy.transpose`."""
        return self._entries[variable].form.axes

    def assign(self) -> None:
        """Give each weight that has an entry its value; a warning tells of `notes`.

        Raises:
            ValueError: a weight has no entry; take none for granted: correct the mapping, or train the rest after
                ``mapping.variables.pop(name)``.
        """
        if self.unclear:
            reasons = "".join(f"\n  {name}: {reason}" for name, reason in self.unclear.items())
            raise ValueError(
                "WeightMapping: it is unclear which tensors belong to some weights; set mapping[layer] = module or "
                f"mapping[name] = key, or leave weights out by mapping.variables.pop(name):{reasons}"
            )
        if self.unmatched:
            raise ValueError(
                f"WeightMapping: there is no tensor for {', '.join(self.unmatched)}; set mapping[name] = key, or leave "
                "weights out by mapping.variables.pop(name)."
            )
        for name in self:
            self.variables[name].assign(self._value(name))
        for note in self.notes:
            warnings.warn(f"WeightMapping: {note}", CheckpointWarning, stacklevel=2)

    def _value(self, name: str) -> Any:
        keys, form, orders = self._entries[name]
        value = form.value(*(np.transpose(self.tensors[key], form.axes) for key in keys))
        for axis, order in enumerate(orders):
            if order is not None:
                value = np.take(value, order, axis)
        return np.asarray(value).astype(self.variables[name].dtype.as_numpy_dtype)

    def _names(self, place: Place) -> dict[str, str]:
        """The names of the weights of a place, by what they are there; without those that were taken out."""
        return {role: name for name, (each, role) in self._of_name.items() if each is place and name in self.variables}

    def _take_module(self, name: str, places: Sequence[Place], key: str) -> None:
        module = self._modules.get(key)
        if module is None:
            raise KeyError(f"WeightMapping: there is no module {key!r}; there are {', '.join(self._modules)}.")
        for place in places:
            forms = fitting(place, module.shapes, self._matrices)
            if forms is not None:
                return self._enter(place, module, forms)
        has = " and ".join(_listed({r: shape_of(v) for r, v in place.variables.items()}) for place in places)
        raise ValueError(
            f"WeightMapping: {name} has {has}; {key!r} has {_listed(module.shapes)}, which is not the same layer's."
        )

    def _enter(self, place: Place, module: Module, forms: Forms) -> None:
        """Let the weights of a place have tensors of a module, but those of which it is unclear how they lie."""
        self._say_layout(place, next((form.layout for form in forms.values() if form.layout), ""))
        for role, name in self._names(place).items():
            form = forms[role]
            self._let(name, tuple(module.leaves[leaf] for leaf in form.leaves), form)

    def _say_layout(self, place: Place, layout: str) -> None:
        """Run the model again where a place takes a module of another kind, or does no longer: features of other places
        may be in another order then, unless the program has said which."""
        number = next(number for number, each in enumerate(self._places) if each is place)
        if self._layouts.get(number, "") == layout:
            return
        as_found = [name for name in self if self._entries[name].orders == self._orders(name, self._entries[name].form)]
        self._layouts = (
            {**self._layouts, number: layout} if layout else {n: v for n, v in self._layouts.items() if n != number}
        )
        self._flow = self._flow_with(self._layouts)
        for name in as_found:
            keys, form, _ = self._entries.pop(name)
            self._let(name, keys, form)

    def _let(self, name: str, keys: tuple[str, ...], form: Form) -> None:
        """Let a weight have tensors, unless it is unclear how they lie."""
        orders = self._orders(name, form)
        doubt = self._doubt(keys, form, orders)
        self._entries.pop(name, None)
        self._unclear.pop(name, None)
        if doubt:
            self._unclear[name] = f"{' and '.join(keys)}: {doubt}"
        else:
            self._entries[name] = _Entry(keys, form, orders)

    def _orders(self, name: str, form: Form) -> tuple[Order, ...]:
        variable = self.variables[name]
        axes = range(len(shape_of(variable)))
        if not form.by_pytorch or self._flow is None:
            unknown = form.by_pytorch and self._may_be_of_images(name)
            return tuple(UNCLEAR if unknown and axis == 0 else None for axis in axes)
        return tuple(self._flow.order(variable, axis) for axis in axes)

    def _may_be_of_images(self, name: str) -> bool:
        """Whether a kernel's inputs may be flattened images, of a model that could not be run."""
        place, role = self._of_name[name]
        channels = {shape_of(p.layer.weights[0])[-1] for p in self._places if isinstance(p.layer, Convolution)}
        if not isinstance(place.layer, Dense) or role != "kernel":
            return False
        count = shape_of(self.variables[name])[0]
        return any(count > each and count % each == 0 for each in channels)

    def _doubt(self, keys: Sequence[str], form: Form, orders: Sequence[Order]) -> str:
        for key in keys:
            if key in self._doubts:
                return self._doubts[key]
        if form.doubt:
            return f"{form.doubt}: axes={form.axes} or axes={tuple(range(len(form.axes)))}"
        if UNCLEAR in orders:
            return (
                "its features may be images that were flattened, with the channels in front in PyTorch: "
                "flattened=(height, width, channels), or flattened=() if not"
            )
        return ""

    def _form(self, name: str, keys: tuple[str, ...]) -> Form:
        """How a weight comes of tensors that the program names: as its place has it, else as the shapes fit."""
        place, role = self._of_name[name]
        shapes = {tuple(np.shape(self.tensors[key])) for key in keys}
        homes = [module for module in self._modules.values() if set(keys) <= set(module.leaves.values())]
        as_module = fitting(place, homes[0].shapes, self._matrices) if homes else None
        rest = of_pytorch(place, homes[0].shapes if homes else {}, self._matrices)
        as_it_is = plain(shape_of(self.variables[name]), keys[0], by_pytorch=False)
        leaves = {leaf for home in homes for leaf, key in home.leaves.items() if key in keys}
        same_layout = [as_it_is] if leaves & {role, "kernel", "embedding", "scale", "w"} else []
        alone = [of_pytorch(place, {}), of_pytorch(place, IN_FOUR)]
        others = [*_of(rest, role), *_of(alone[0], role), *_of(alone[1], role), as_it_is]
        for form in (*_of(as_module, role), *same_layout, *others):
            if shapes == {form.shape} and len(keys) == len(form.leaves):
                return form
        raise ValueError(
            f"WeightMapping: {name} has shape {as_it_is.shape}, which {' and '.join(map(repr, keys))} of shape "
            f"{' and '.join(map(str, shapes))} has in no order of axes."
        )

    def _as_told(self, name: str, keys: tuple[str, ...], axes: Axes) -> Form:
        shape = shape_of(self.variables[name])
        theirs = tuple(np.shape(self.tensors[keys[0]]))
        if sorted(axes) != list(range(len(theirs))) or tuple(theirs[axis] for axis in axes) != shape or keys[1:]:
            raise ValueError(
                f"WeightMapping: {name} has shape {shape}, which {' and '.join(map(repr, keys))} of shape {theirs} has "
                f"not with axes={axes}."
            )
        return Form(keys, theirs, axes)

    def _of_images(self, name: str, sizes: tuple[int, ...]) -> Order:
        count = shape_of(self.variables[name])[0]
        if sizes and math.prod(sizes) != count:
            raise ValueError(
                f"WeightMapping: {name} has {count} features along its first axis; flattened={sizes} are "
                f"{math.prod(sizes)}."
            )
        return of_images(sizes) if sizes else None

    def __repr__(self) -> str:
        rows = [
            (name, str(shape_of(self.variables[name])), " and ".join(entry.keys), _how(entry))
            for name, entry in ((name, self._entries[name]) for name in self)
        ]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
        lines += [f"unclear: {name}: {reason}" for name, reason in self.unclear.items()]
        lines += [f"without a tensor: {', '.join(self.unmatched)}"] if self.unmatched else []
        lines += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(["<WeightMapping", *(f"  {line.rstrip()}" for line in lines)]) + ">"


def _of(forms: Forms | None, role: str) -> list[Form]:
    return [] if forms is None else [forms[role]]


def _listed(shapes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def _how(entry: _Entry) -> str:
    axes = "" if list(entry.form.axes) == sorted(entry.form.axes) else f"axes {entry.form.axes}"
    images = [f"features of axis {axis} reordered" for axis, order in enumerate(entry.orders) if order is not None]
    return ", ".join(part for part in (axes, entry.form.how, *images) if part)
