"""Object nodes: an object, its variables, functions and parts, as a list of nodes that name each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agog_core import Tensor, Variable
from agog_core.checkpointable import Checkpointable
from agog_core.tracing.functions.function import DefinedFunction
from agog_core.tracing.programs.recording import Kept
from agog_saved_model.assets import Asset
from agog_saved_model.function_data import Saved, is_function, saved

# What a loaded model of layers has beside its parts.
_LISTS = ("variables", "trainable_variables", "non_trainable_variables")


class Nodes:
    """Walks over an object. Its functions are recorded later, once all variables are known."""

    def __init__(self, root: Any, kept: Kept) -> None:
        self.kept = kept
        self.data: list[dict[str, Any]] = []
        self.functions: list[Saved] = []
        self.assets: list[Asset] = []
        self.names: dict[Variable, str] = {}  # paths of variables
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id comes twice
        self._root = root
        self.node(root, "")

    def node(self, value: Any, path: str) -> int:
        """The number of the node of a value."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        number = self._numbers[id(value)] = len(self.data)
        self._alive.append(value)
        made: dict[str, Any] = {}
        self.data.append(made)
        if isinstance(value, Variable):
            made["variable"] = self.kept.variable(value)
            self.names.setdefault(value, path)
        elif isinstance(value, Asset):
            made["asset"] = len(self.assets)
            self.assets.append(value)
        elif isinstance(value, Tensor):
            host, dtype = value._host(), value.dtype.name
            made["constant"] = [self.kept.array(np.asarray(host, object if dtype == "string" else None)), dtype]
        elif is_function(value):
            made["function"] = self.function(saved(value))
        elif isinstance(value, (list, tuple)):
            made["tuple" if isinstance(value, tuple) else "list"] = [
                self.node(part, _join(path, str(place))) for place, part in enumerate(value) if is_part(part)
            ]
        elif isinstance(value, Mapping):
            parts = [(key, part) for key, part in value.items() if isinstance(key, str) and is_part(part)]
            made["dict"] = [[key, self.node(part, _join(path, key))] for key, part in parts]
        else:
            made["parts"] = {name: self.node(part, _join(path, name)) for name, part in parts_of(value).items()}
            self._add_call(value, made)
        return number

    def function(self, found: Saved) -> int:
        """The place of a function."""
        self.functions.append(found)
        return len(self.functions) - 1

    def add(self, functions: Mapping[str, Saved]) -> None:
        """Add functions to the parts of the root."""
        for name, found in functions.items():
            self.data[0]["parts"][name] = len(self.data)
            self.data.append({"function": self.function(found)})

    def _add_call(self, value: Any, made: dict[str, Any]) -> None:
        """Let a model be called as it is, where it says for which arguments; and have the lists of its variables."""
        if not hasattr(type(value), "call_kinds"):
            return
        if value is self._root:
            made["parts"] |= {name: self._list(list(getattr(value, name))) for name in _LISTS}
            call = value.call_kinds()
            if call is not None:
                made["parts"]["__call__"] = len(self.data)
                self.data.append({"function": self.function(Saved("__call__", *call))})

    def _list(self, values: list[Any]) -> int:
        self.data.append(made := dict[str, Any]())
        number = len(self.data) - 1
        made["list"] = [self.node(each, _join("variables", str(place))) for place, each in enumerate(values)]
        return number


def is_part(value: Any) -> bool:
    """Whether a value is kept: what has state, is computed, or holds such."""
    if isinstance(value, (Variable, Checkpointable, Tensor)) or is_function(value):
        return True
    if isinstance(value, Mapping):
        return any(map(is_part, value.values()))
    return isinstance(value, (list, tuple)) and any(map(is_part, value))


def parts_of(value: Any) -> dict[str, Any]:
    """The parts of an object: attributes with state, tensors, and traced functions, also those of its class."""
    found: dict[str, Any] = {}
    if isinstance(value, Checkpointable):
        found |= value.checkpoint_dependencies()
    found |= {
        name: part
        for name, part in vars(value).items()
        if not name.startswith("_")
        and name != "signatures"
        and is_part(part)
        and (name not in found or not isinstance(value, Checkpointable))
    }
    for kind in reversed(type(value).__mro__):
        names = [name for name, part in vars(kind).items() if isinstance(part, DefinedFunction)]
        found |= {name: getattr(value, name) for name in names}
    if (call := vars(value).get("_call")) is not None and is_function(call):
        found["__call__"] = call  # of what was loaded
    return {name: part for name, part in found.items() if is_part(part) and name != "signatures"}


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name
