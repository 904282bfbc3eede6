"""Conversion: checkpoints of agog from those of TensorFlow, and the other way, by names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from agog_checkpoint import file
from agog_checkpoint.graph import DTYPES, Graph, Node, SavedVariable
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.tensorflow.checkpoint import Array
from agog_checkpoint.tensorflow.named_tensors import NamedTensors
from agog_checkpoint.tensorflow.writer import write_checkpoint
from agog_core import Tensor, constant
from agog_core.dtypes import string
from agog_core.errors import UnimplementedError

# What the key of a variable ends with in checkpoints of objects.
_ATTRIBUTE = "/.ATTRIBUTES/VARIABLE_VALUE"
# TensorFlow keeps these in the dtype of the variables, agog in one of more bits.
_POWERS = ("beta1_power", "beta2_power")


def from_tensorflow(source: str, target: str, strip: str = "") -> dict[str, str]:
    """Write a checkpoint of agog with the tensors of one of TensorFlow, under their names without ``strip`` before.

    Returns the tensors that are left out, and why: those that safetensors files hold no dtype for.
    """
    tensors = NamedTensors(source, by_full_names=True)
    left_out, keys = {}, {}
    for name in tensors:
        if fault := _fault(tensors, name):
            left_out[name] = fault
        else:
            keys[name.removesuffix(_ATTRIBUTE).removeprefix(strip)] = name
    _check(keys, len(tensors) - len(left_out), strip)
    variables = [SavedVariable(key, tensors.dtype(name).name, tensors.shape(name)) for key, name in keys.items()]
    root = Node({variable.key: number for number, variable in enumerate(variables, start=1)})
    graph = Graph([root, *(Node({}, variable) for variable in variables)], [])
    file.save(target, Snapshot(graph, _Values(tensors, keys)))
    return left_out


def to_tensorflow(graph: Graph, arrays: Mapping[str, Array], target: str, strip: str = "") -> dict[str, str]:
    """Write a checkpoint of TensorFlow with the arrays of one of agog, under the names that the program had for the
    variables, without ``strip`` before.

    Returns what is left out, and why: state that is in no variable.
    """
    names = {key: name.removeprefix(strip) for key, name in graph.names().items()}
    _check(set(names.values()), len(names), strip)
    write_checkpoint(target, {name: _as_tensorflow_has_it(name, arrays[key]) for key, name in names.items()})
    labels = graph.labels()
    return {labels[number]: "it is in no variable" for number in labels if graph.nodes[number].variable is None}


def _fault(tensors: NamedTensors, name: str) -> str | None:
    try:
        dtype = tensors.dtype(name)
    except UnimplementedError as error:
        return str(error)
    if dtype is string:
        return "it holds texts"
    return None if dtype.name in DTYPES else f"it holds {dtype.name}"


def _check(names: Iterable[str], count: int, strip: str) -> None:
    if len(list(names)) != count:
        raise ValueError(f"convert: without {strip!r} several tensors have the same name; leave out less.")


def _as_tensorflow_has_it(name: str, array: Array) -> Array:
    is_power = array.dtype == np.float64 and not array.shape and name.rpartition("/")[2].startswith(_POWERS)
    return array.astype(np.float32) if is_power else array


class _Values(Mapping[str, Tensor]):
    """The tensors of a checkpoint under other names, which are read one at a time."""

    def __init__(self, tensors: NamedTensors, names: Mapping[str, str]) -> None:
        self._tensors = tensors
        self._names = names

    def __getitem__(self, key: str) -> Tensor:
        return constant(self._tensors[self._names[key]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
