"""Mapping: which tensor of another program's file belongs to which weight of a model, proposed by shapes and names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np

from agog_checkpoint import load_tensors
from agog_core import Variable

__all__ = ["WeightMapping", "propose_mapping"]

Axes = tuple[int, ...]

# How axes may lie in other programs' files, by rank; the first is agog's own order. PyTorch has (out, in) for matrices,
# (out, in, *window) for convolutions, and (channels, 1, *window) for depthwise ones.
_ORDERS: dict[int, tuple[Axes, ...]] = {
    2: ((0, 1), (1, 0)),
    3: ((0, 1, 2), (2, 1, 0)),
    4: ((0, 1, 2, 3), (2, 3, 1, 0), (2, 3, 0, 1)),
    5: ((0, 1, 2, 3, 4), (2, 3, 4, 1, 0)),
}
# What other programs call the weights that end with these names.
_ALSO = {
    "kernel": ("kernel", "weight", "w"),
    "depthwise_kernel": ("depthwise_kernel", "weight"),
    "embeddings": ("embeddings", "embedding", "weight"),
    "gamma": ("gamma", "weight", "scale"),
    "beta": ("beta", "bias", "offset"),
    "bias": ("bias", "b"),
    "moving_mean": ("moving_mean", "running_mean", "mean"),
    "moving_variance": ("moving_variance", "running_var", "running_variance", "variance", "var"),
}


class _Entry(NamedTuple):
    key: str
    axes: Axes


class WeightMapping:
    """Which tensor belongs to which weight, and how its axes lie: a proposal, to be looked at and corrected.

    `repr` is a table. ``mapping["dense/kernel"] = "fc.weight"`` corrects an entry, ``mapping["dense/kernel"] = None``
    takes one out, and `assign` gives the weights their values.

    Attributes:
        variables: the model's weights by their names.
        tensors: the arrays by their keys.
    """

    def __init__(self, variables: Mapping[str, Variable], tensors: Mapping[str, Any]) -> None:
        self.variables = dict(variables)
        self.tensors = dict(tensors)
        self._entries: dict[str, _Entry] = {}

    def __getitem__(self, variable: str) -> str:
        return self._entries[variable].key

    def __setitem__(self, variable: str, key: str | None) -> None:
        for kind, name, known in (("weight", variable, self.variables), ("tensor", key, self.tensors)):
            if name is not None and name not in known:
                raise KeyError(f"WeightMapping: there is no {kind} {name!r}; there are {', '.join(known)}.")
        self._entries.pop(variable, None)
        if key is None:
            return
        shape, of_variable = np.shape(self.tensors[key]), _shape(self.variables[variable])
        orders = list(fitting(of_variable, shape))
        if not orders:
            raise ValueError(
                f"WeightMapping: {variable} has shape {of_variable}, which {key!r} of shape {shape} has in no order of "
                "axes."
            )
        self._entries[variable] = _Entry(key, orders[-1] if self._turns(shape) else orders[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def unmatched(self) -> list[str]:
        """The weights for which there is no tensor."""
        return [name for name in self.variables if name not in self._entries]

    @property
    def unused(self) -> list[str]:
        """The tensors that no weight takes."""
        used = {entry.key for entry in self._entries.values()}
        return [key for key in self.tensors if key not in used]

    def axes(self, variable: str) -> Axes:
        """The order of the tensor's axes that makes it the weight's value, as for `numpy.transpose`."""
        return self._entries[variable].axes

    def assign(self) -> None:
        """Give each weight that has an entry its value.

        Raises:
            ValueError: a weight has no entry; take none for granted: correct the mapping, or train the rest after
                ``mapping.variables.pop(name)``.
        """
        if self.unmatched:
            raise ValueError(
                f"WeightMapping: there is no tensor for {', '.join(self.unmatched)}; set mapping[name] = key, or leave "
                "weights out by mapping.variables.pop(name)."
            )
        for name, (key, axes) in self._entries.items():
            variable = self.variables[name]
            variable.assign(np.transpose(self.tensors[key], axes).astype(variable.dtype.as_numpy_dtype))

    def _turns(self, shape: tuple[int, ...]) -> bool:
        """Whether square matrices are turned too: where the file's other tensors of that rank are."""
        alike = [axes for _, axes in self._entries.values() if len(axes) == len(shape)]
        return any(axes != tuple(range(len(axes))) for axes in alike)

    def __repr__(self) -> str:
        rows = [
            (name, str(_shape(self.variables[name])), key, "" if list(axes) == sorted(axes) else f"axes {axes}")
            for name, (key, axes) in self._entries.items()
        ]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
        lines += [f"without a tensor: {', '.join(self.unmatched)}"] if self.unmatched else []
        lines += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        return "\n".join(["<WeightMapping", *(f"  {line.rstrip()}" for line in lines)]) + ">"


def propose_mapping(model: Any, tensors: Mapping[str, Any] | str | os.PathLike[str]) -> WeightMapping:
    """Propose which tensor of another program's file belongs to which weight of a model.

    Shapes have to fit, in one of the orders of axes that programs use; kernels go with weights, moving means with
    running means, and so on; among those, the most similar names and the order decide.

    Args:
        model: a model, or a layer, whose weights exist.
        tensors: a safetensors file, such as one of Hugging Face's, or an index of several; or names to arrays.

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
    mapping = WeightMapping({variable.name.removesuffix(":0"): variable for variable in model.weights}, tensors)
    ranked = sorted(_candidates(mapping.variables, tensors))
    taken: dict[str, str] = {}
    for _, _, _, name, key in ranked:
        if name not in taken and key not in taken.values():
            taken[name] = key
    # The square ones last: how others lie decides how they do.
    in_order = [name for name in mapping.variables if name in taken]
    for name in sorted(in_order, key=lambda name: len(set(_shape(mapping.variables[name]))) == 1):
        mapping[name] = taken[name]
    mapping._entries = {name: mapping._entries[name] for name in in_order}
    return mapping


def fitting(wanted: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[Axes]:
    """The orders of axes in which a tensor of one shape has another one.

    >>> list(fitting((2, 3), (3, 2)))
    [(1, 0)]
    """
    for axes in _ORDERS.get(len(shape), (tuple(range(len(shape))),)):
        if len(wanted) == len(shape) and tuple(shape[axis] for axis in axes) == wanted:
            yield axes


def _candidates(variables: Mapping[str, Variable], tensors: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Pairs that may belong together, with what orders them: dissimilarity, distance of ranks, and order."""
    shapes = {key: np.shape(value) for key, value in tensors.items()}
    ranks: dict[Any, int] = {}
    for order, (name, variable) in enumerate(variables.items()):
        kind, shape = name.rsplit("/", 1)[-1], _shape(variable)
        rank = ranks[kind, shape] = ranks.get((kind, shape), -1) + 1
        keys = [key for key in tensors if _is_called(kind, key) and any(fitting(shape, shapes[key]))]
        for place, key in enumerate(keys):
            yield -_similarity(name, key), abs(place - rank), order, name, key


def _is_called(kind: str, key: str) -> bool:
    """Whether a key may be that of a weight of a kind; weights of unknown kinds may have any key."""
    last = re.split(r"[./]", key)[-1]
    return kind not in _ALSO or last in _ALSO[kind] or last == kind


def _similarity(name: str, key: str) -> float:
    """How similar the names of layers are, without what the weight is called in them: 0 to 1, in steps."""
    one, two = (re.split(r"[./]", text)[:-1] for text in (name, key))
    pairs = [SequenceMatcher(None, a.lower(), b.lower()).ratio() for a in one[-1:] for b in two[-1:]]
    whole = SequenceMatcher(None, ".".join(one).lower(), ".".join(two).lower()).ratio()
    return 1.0 if one == two else round(max([whole, *pairs]) * 4) / 8  # what is only alike counts less than the order


def _shape(variable: Variable) -> tuple[int, ...]:
    return variable._current()._shape
