"""Network checkpoints: checkpoints of a ``tfe.Network``, by variables' names without the network's prefix."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, ref

from agog_checkpoint import latest_checkpoint, update_checkpoint_state
from agog_checkpoint.saver import assign_named, read_named, short_name, write_named
from agog_core import Variable
from agog_core.checkpointable import listeners
from agog_core.files import file_path, folder_of, is_folder, join
from agog_core.variables.memory import release
from agog_layers import Network
from agog_optimizers import get_global_step

__all__ = ["restore_network_checkpoint", "save_network_checkpoint"]

NameMap = Callable[[str], str]


def save_network_checkpoint(
    network: Network,
    save_path: str | os.PathLike[str],
    global_step: Any = None,
    map_func: NameMap | None = None,
) -> str:
    """Save the variables of a network.

    Args:
        network: the network, which was called already.
        save_path: the file's name without ``.safetensors``; or a folder, in which the file is named after the network.
        global_step: a number, or a variable that holds it, which the name ends with; None for the default global step,
            if there is one.
        map_func: makes the names in the file of the variables' whole names; None takes the network's name away.

    Returns:
        The path for `restore_network_checkpoint`.

    Raises:
        ValueError: the network was not called yet, or two variables get one name.
    """
    _check("save_network_checkpoint", network)
    if not network.built:
        raise ValueError(
            "save_network_checkpoint: Attempt to save the Network before it was first called; it has no variables yet."
        )
    path = file_path("save_network_checkpoint", save_path)
    if is_folder(path):
        path = join(path, _path(network).replace("/", "_"))
    step = get_global_step() if global_step is None else global_step
    if step is not None:
        path = f"{path}-{int(step)}"
    write_named(path, _named("save_network_checkpoint", network, map_func))
    update_checkpoint_state(folder_of(path), path)
    return path


def restore_network_checkpoint(
    network: Network, save_path: str | os.PathLike[str], map_func: NameMap | None = None
) -> None:
    """Restore the variables of a network: those that exist now, and others when they are made.

    If several requests have a value for a later variable, the last one wins.

    Args:
        network: the network.
        save_path: what `save_network_checkpoint` returned; or the folder, for what was saved there last.
        map_func: makes the names in the file of the variables' whole names; None takes the network's name away.

    Raises:
        NotFoundError: there is no such file, or a variable that exists is not in it.
        ValueError: a shape or dtype differs, two variables get one name, or a layer without variables was another
            network's, which is gone.
    """
    _check("restore_network_checkpoint", network)
    path = file_path("restore_network_checkpoint", save_path)
    values = read_named((latest_checkpoint(path) or path) if is_folder(path) else path)
    for layer in network.layers:
        if layer._first_network is not None and layer._first_network() is None:
            layer._full_path()  # raises where the names of its variables cannot be told any more
    existing = _named("restore_network_checkpoint", network, map_func) if network.variables else {}
    assign_named("restore_network_checkpoint", existing, values)
    _Waiting(network, values, map_func, existing)


class _Waiting:
    """Gives values to variables of a network as they are made; a newer request ends it."""

    newest: ClassVar[WeakKeyDictionary[Network, _Waiting]] = WeakKeyDictionary()

    def __init__(
        self, network: Network, values: Mapping[str, Any], map_func: NameMap | None, done: dict[str, Variable]
    ) -> None:
        older = self.newest.get(network)
        if older is not None:
            older.end()
        self._network = ref(network, lambda reference: self.end())
        earlier = [] if older is None else older._requests
        self._requests: list[tuple[Mapping[str, Any], NameMap | None]] = [(values, map_func), *earlier]
        self._done = {id(variable) for variable in done.values()}
        self.newest[network] = self
        listeners.append(self.advance)

    def advance(self, *news: Any) -> None:
        network = self._network()
        if network is None:
            return
        for variable in network.variables:
            if id(variable) not in self._done:
                self._done.add(id(variable))
                release([variable])  # so that to look at it asks nobody, and those who wait keep their order
                for values, map_func in self._requests:
                    name = _name(network, variable, map_func)
                    if name in values:
                        _named("restore_network_checkpoint", network, map_func)
                        assign_named("restore_network_checkpoint", {name: variable}, values)
                        break

    def end(self) -> None:
        if self.advance in listeners:
            listeners.remove(self.advance)


def _check(what: str, network: Any) -> None:
    if not isinstance(network, Network):
        raise TypeError(
            f"{what} takes a tfe.Network; got {network!r} of type {type(network).__name__}. Save other models with "
            "tf.train.Checkpoint or model.save_weights."
        )


def _name(network: Any, variable: Variable, map_func: NameMap | None) -> str:
    name = short_name(variable)
    return name.removeprefix(f"{_path(network)}/") if map_func is None else map_func(name)


def _path(network: Any) -> str:
    """The prefix of a network's variables' names."""
    return f"{network._name_scope}{network._full_path()}"


def _named(what: str, network: Network, map_func: NameMap | None) -> dict[str, Variable]:
    named: dict[str, Variable] = {}
    for variable in network.variables:
        name = _name(network, variable, map_func)
        other = named.setdefault(name, variable)
        if other is not variable:
            start = (
                f"The default checkpoint variable name mapping strategy for Network {network.name!r} resulted in a "
                f"naming conflict. Two variables are named {name!r}"
                if map_func is None
                else f"The map_func passed to {what} for the Network {network.name!r} resulted in two variables named "
                f"{name!r}"
            )
            raise ValueError(
                f"{start}: {short_name(other)!r} and {short_name(variable)!r}. Pass another map_func: with "
                "map_func=lambda name: name they keep their whole names."
            )
    return named
