"""Modules: tensors of one module in a file, such as ``fc.weight`` and ``fc.bias``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Module", "attentions_of", "is_sorted", "modules_of", "natural"]

Shape = tuple[int, ...]

# nn.LSTM and its like have all layers and both directions in one module.
_RECURRENT = re.compile(r"(?P<leaf>(?:weight|bias)_(?:ih|hh|hr))_l(?P<layer>\d+)(?P<backward>_reverse)?")
# Files of agog and Keras have them in layers and cells of a layer.
_DIRECTION = re.compile(r"(?P<direction>forward|backward)_\w+(?:[./]cell)?[./](?P<leaf>\w+)")
_ATTENTION = re.compile(r"(?:(?:in|q|k|v)_proj_(?:weight|bias)|bias_[kv])")
# What says nothing of a module's function.
_IGNORED = {"num_batches_tracked"}


# What programs call the projections of an attention, those of queries, keys, values and of the output.
_PROJECTIONS = (
    ("q_proj", "k_proj", "v_proj", ("out_proj", "o_proj")),
    ("query", "key", "value", ("dense", "out", "output", "attention_output")),
    ("self.query", "self.key", "self.value", ("output.dense",)),
    ("attention.query", "attention.key", "attention.value", ("output.dense",)),
    ("q_lin", "k_lin", "v_lin", ("out_lin",)),
    ("to_q", "to_k", "to_v", ("to_out", "to_out.0")),
    ("wq", "wk", "wv", ("wo",)),
    ("q", "k", "v", ("o", "out", "proj")),
)
_ROLES = ("query", "key", "value", "attention_output")


class Module(NamedTuple):
    """Tensors that belong together.

    Args:
        name: what their keys begin with.
        leaves: their keys by what each is, such as ``"weight"``.
        shapes: their shapes, by the same.
    """

    name: str
    leaves: Mapping[str, str]
    shapes: Mapping[str, Shape]


def modules_of(tensors: Mapping[str, Any]) -> list[Module]:
    """The modules of a file, in the order of its keys.

    >>> lstm = {"rnn.weight_ih_l0": np.ones((4, 1)), "rnn.weight_hh_l0": np.ones((4, 1))}
    >>> [(module.name, dict(module.leaves)) for module in modules_of(lstm)]
    [('rnn l0', {'weight_ih': 'rnn.weight_ih_l0', 'weight_hh': 'rnn.weight_hh_l0'})]
    """
    attention = {head for head, leaf in map(_split, tensors) if _ATTENTION.fullmatch(leaf)}
    bidirectional = {
        (head, found["layer"])
        for head, leaf in map(_split, tensors)
        if (found := _RECURRENT.fullmatch(leaf)) and found["backward"]
    }
    leaves: dict[str, dict[str, str]] = {}
    for key in tensors:
        name, leaf = _placed(key, attention, bidirectional)
        if leaf not in _IGNORED:
            leaves.setdefault(name, {})[leaf] = key
    return [
        Module(name, keys, {leaf: tuple(np.shape(tensors[key])) for leaf, key in keys.items()})
        for name, keys in leaves.items()
    ]


def attentions_of(modules: Sequence[Module]) -> list[Module]:
    """The attentions whose four projections are modules of a file, each as one module.

    >>> tensors = {f"attn.{name}_proj.weight": np.ones((4, 4)) for name in ("q", "k", "v", "out")}
    >>> [(module.name, list(module.leaves)[:2]) for module in attentions_of(modules_of(tensors))]
    [('attn', ['query/weight', 'key/weight'])]
    """
    of_name = {module.name.replace("/", "."): module for module in modules}
    found = []
    for name in of_name:
        for *inputs, outputs in _PROJECTIONS:
            head = name.removesuffix(str(inputs[0]))
            if head == name or head.rstrip(".") == head != "":
                continue
            output = next((each for each in outputs if head + each in of_name), "")
            parts = [of_name.get(head + str(each)) for each in (*inputs, output)]
            if output and None not in parts:
                found.append(_joined(head.strip("."), dict(zip(_ROLES, parts, strict=True))))  # type: ignore[arg-type]
    return found


def _joined(name: str, parts: Mapping[str, Module]) -> Module:
    leaves = {f"{role}/{leaf}": key for role, part in parts.items() for leaf, key in part.leaves.items()}
    shapes = {f"{role}/{leaf}": shape for role, part in parts.items() for leaf, shape in part.shapes.items()}
    return Module(name, leaves, shapes)


def _split(key: str) -> tuple[str, str]:
    """The prefix of a key, and its last part."""
    head, leaf = re.fullmatch(r"(?:(.*)[./])?([^./]*)", key, re.DOTALL).groups("")  # type: ignore[union-attr]  # any key
    return head, leaf


def _placed(key: str, attention: set[str], bidirectional: set[tuple[str, str]]) -> tuple[str, str]:
    head, leaf = _split(key)
    outer, last = _split(head)
    if last == "out_proj" and outer in attention:
        return outer, f"out_proj.{leaf}"
    if found := _RECURRENT.fullmatch(leaf):
        both = (head, found["layer"]) in bidirectional
        direction = "backward/" if found["backward"] else "forward/" if both else ""
        return f"{head} l{found['layer']}".strip(), direction + found["leaf"]
    for start in re.finditer(r"(?:^|[./])(?=forward_|backward_)", key):
        if found := _DIRECTION.fullmatch(key, start.end()):
            return key[: start.start()], f"{found['direction']}/{found['leaf']}"
    return (outer, leaf) if last == "cell" else (head, leaf)


def natural(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words and the numbers of a name: names of the same words are in the order of their numbers.

    >>> natural("layer2.conv10") > natural("layer2.conv9"), natural("fc1")[0] == natural("fc2")[0]
    (True, True)
    """
    return tuple(re.split(r"\d+", name)), tuple(int(number) for number in re.findall(r"\d+", name))


def is_sorted(tensors: Sequence[str], dtypes: Sequence[str]) -> bool:
    """Whether keys are in the order of the alphabet within each dtype, as safetensors files have them, which then says
    nothing of the program."""
    groups: dict[str, list[str]] = {}
    for key, dtype in zip(tensors, dtypes, strict=True):
        groups.setdefault(dtype, []).append(key)
    return all(keys == sorted(keys) for keys in groups.values())
