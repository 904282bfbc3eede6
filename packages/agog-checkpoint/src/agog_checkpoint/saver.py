"""Saver: saves and restores variables by name; `Checkpoint` uses the paths of objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from agog_checkpoint import file, together
from agog_checkpoint.formats import is_of_tensorflow
from agog_checkpoint.graph import Graph, Node, SavedVariable
from agog_checkpoint.name_list import name_list
from agog_checkpoint.objects import Snapshot
from agog_checkpoint.pointer import point_to
from agog_core import Variable, string
from agog_core.errors import NotFoundError, UnimplementedError
from agog_core.files import file_path
from agog_core.variables.variable import creation_hooks


def write_named(
    path: str,
    variables: Mapping[str, Variable],
    then: Callable[[], None] | None = None,
    follow: Callable[[], None] | None = None,
) -> None:
    """Save variables under names in ``path`` with ``.safetensors`` behind it, and call ``then``; see `together.save`.

    Raises ValueError if the file cannot have one of the names, UnimplementedError if a variable holds strings,
    ResourceExhaustedError if the disk is full, and PermissionDeniedError if the folder may not be written.
    """
    for name, variable in variables.items():
        if not isinstance(name, str) or name == "__metadata__":
            raise ValueError(
                "Checkpoint: a variable's name must be a string other than '__metadata__', which safetensors keeps for "
                f"itself; got {name!r} for variable {variable.name!r}."
            )
        if variable.dtype is string:
            raise UnimplementedError(
                f"Checkpoint: variable {variable.name!r} has dtype string and shape {variable.shape}, but a "
                "safetensors file holds numbers only; leave it out."
            )
    values = {name: variable._current() for name, variable in variables.items()}
    saved = [SavedVariable(name, value.dtype.name, value._shape) for name, value in values.items()]
    root = Node({variable.key: number for number, variable in enumerate(saved, start=1)})
    nodes = [root, *(Node({}, variable) for variable in saved)]
    processes = together.all_processes("Saver.save")
    together.save(processes, path, Snapshot(Graph(nodes, []), values), then=then, follow=follow)


def read_named(path: str) -> Mapping[str, Any]:
    """Read what `write_named` or TensorFlow wrote: names to arrays. Raises NotFoundError if there is no such file, and
    DataLossError if it is not a whole checkpoint."""
    if is_of_tensorflow(path):
        from agog_checkpoint.tensorflow.named_tensors import NamedTensors

        return NamedTensors(path, by_full_names=True)
    graph, arrays = file.read(path)
    nodes = ((name, graph.nodes[number]) for name, number in graph.nodes[0].children.items())
    return {name: arrays[node.variable.key] for name, node in nodes if node.variable is not None}


def assign_named(
    what: str,
    variables: Mapping[str, Variable] | Iterable[tuple[str, Variable]],
    values: Mapping[str, Any],
    other_scopes: bool = False,
) -> None:
    """Assign values by name; when one does not fit, none is assigned. ``what`` is the caller's name, for errors.

    With ``other_scopes``, names in a checkpoint of TensorFlow may differ by the scopes before them; see
    `keys_in_scopes`. Raises NotFoundError if a name has no value, and ValueError if a shape or dtype differs.
    """
    pairs = list(variables.items() if isinstance(variables, Mapping) else variables)
    if other_scopes and not isinstance(values, dict):
        from agog_checkpoint.tensorflow.scopes import keys_in_scopes

        keys = keys_in_scopes(what, [name for name, _ in pairs], values)
        pairs = [(keys[name], variable) for name, variable in pairs]
    found = [(variable, _fitting(what, name, variable, values)) for name, variable in pairs]
    for variable, value in found:
        variable.assign(value)


def _fitting(what: str, name: str, variable: Variable, values: Mapping[str, Any]) -> Any:
    if name not in values:
        raise NotFoundError(f"{what}: Key {name} not found in checkpoint; its keys are {name_list(sorted(values))}.")
    value = values[name]
    dtype = variable.dtype.numpy_dtype
    if not isinstance(values, dict) and np.can_cast(value.dtype, dtype, "safe"):
        # TensorFlow has fewer bits of some numbers, such as ``beta1_power`` of Adam.
        value = value.astype(dtype, copy=False)
    if variable.shape != value.shape:
        raise ValueError(
            f"{what}: Shapes {variable.shape} and {value.shape} are incompatible: variable "
            f"{variable.name!r} has the first, {name!r} in the checkpoint the second."
        )
    if value.dtype != dtype:
        raise ValueError(
            f"{what}: Dtypes {variable.dtype.name} and {value.dtype} are incompatible: variable "
            f"{variable.name!r} has the first, {name!r} in the checkpoint the second."
        )
    return value


def short_name(variable: Variable) -> str:
    """The name of a variable as checkpoints have it: without ``:0``."""
    return variable.name.removesuffix(":0")


@contextmanager
def restore_variables_on_create(
    save_path: str | os.PathLike[str] | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Let variables that are made inside the ``with`` block take their values from a checkpoint by name.

    Args:
        save_path: what `Saver.save` returned; None restores nothing.
        map_func: makes the names in the file of the variables' names; None leaves them as they are.

    Yields:
        Nothing.

    Raises:
        NotFoundError: there is no such file; or a variable that is made is not in it, or took its value before.
        ValueError: a shape or dtype differs, or ``map_func`` is not a function.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Saver([Variable(1.0, name="v")]).save(f"{folder}/ckpt")
    ...     with restore_variables_on_create(path):
    ...         print(Variable(0.0, name="v").numpy())
    1.0
    """
    if save_path is None:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError(
            f"restore_variables_on_create: map_func must be a function of a variable's name, or None; got {map_func!r}."
        )
    values = read_named(file_path("restore_variables_on_create", save_path))
    taken: set[str] = set()

    def take(variable: Variable) -> None:
        name = short_name(variable) if map_func is None else map_func(short_name(variable))
        if name in taken:
            free = name_list(sorted(values.keys() - taken))
            raise NotFoundError(
                f"restore_variables_on_create: Key {name} not found in checkpoint; its keys are {free}."
            )
        assign_named("restore_variables_on_create", {name: variable}, values)
        taken.add(name)

    token = creation_hooks.set((*creation_hooks.get(), take))
    try:
        yield
    finally:
        creation_hooks.reset(token)


class Saver:
    """Saves and restores variables by their names.

    Args:
        var_list: the variables, or a dict from names to them.
        max_to_keep: how many of the newest files are kept; None or 0 for all.

    Raises:
        RuntimeError: there is no ``var_list``.
        TypeError: it holds something that is not a variable.

    >>> import tempfile
    >>> v = Variable(1.0, name="v")
    >>> saver = Saver([v])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = saver.save(f"{folder}/ckpt", global_step=7)
    ...     _ = v.assign(2.0)
    ...     saver.restore(path)
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(self, var_list: Any = None, max_to_keep: int | None = 5) -> None:
        if var_list is None:
            raise RuntimeError(
                "Saver needs var_list when eager execution is enabled: there is no collection of all variables. Pass "
                "model.variables; or use tf.train.Checkpoint(model=model, optimizer=optimizer), which saves all that "
                "these objects hold."
            )
        self._given: dict[str, Variable] | list[Variable] = (
            dict(var_list) if isinstance(var_list, Mapping) else list(_distinct(var_list))
        )
        for variable in self._given.values() if isinstance(self._given, dict) else self._given:
            if not isinstance(variable, Variable):
                raise TypeError(
                    "Saver: var_list must be a list of variables, or a dict from names to variables, but holds "
                    f"{variable!r} of type {type(variable).__name__}."
                )
        self._max_to_keep = max_to_keep
        self._paths: list[str] = []

    def save(self, file_prefix: str | os.PathLike[str], global_step: Any = None) -> str:
        """Save the variables, and make the file the newest checkpoint of its folder.

        Args:
            file_prefix: the folder, and the beginning of the file's name.
            global_step: a number or a variable, for the end of the name; None for none.

        Returns:
            The path for `restore`.

        Raises:
            ValueError: two variables have one name, or the file cannot have a name.
            UnimplementedError: a variable holds strings.
        """
        path = file_path("Saver.save", file_prefix)
        if global_step is not None:
            path = f"{path}-{int(global_step)}"
        write_named(path, self._named(), partial(self._list, path), partial(self._note, path))
        return path

    def _list(self, path: str) -> None:
        """Make a file on the disk the newest, and delete old ones."""
        point_to(path)
        self._note(path)
        for old in self._old():
            if file.remove(old):
                self._paths.remove(old)

    def _old(self) -> list[str]:
        return self._paths[: -self._max_to_keep] if self._max_to_keep else []

    def _note(self, path: str) -> None:
        """Note the newest file; where another process deletes the old ones, that is all."""
        if path in self._paths:
            self._paths.remove(path)
        self._paths.append(path)

    def restore(self, file_prefix: str | os.PathLike[str]) -> None:
        """Assign the saved values; when one is missing or does not fit, none is assigned.

        Checkpoints of TensorFlow are read, too. A variable's name may differ there by the scopes before it, such as
        ``sequential/``, if no other name ends with the same two parts or more; in a dict, names are exact.

        Args:
            file_prefix: what `save` returned; or the prefix of TensorFlow's files, or the folder of its SavedModel.

        Raises:
            NotFoundError: there is no such file; or a variable is not in it, or several names end like its own.
            DataLossError: the file is damaged.
            ValueError: a shape or dtype differs, or two variables have one name.
        """
        path = file_path("Saver.restore", file_prefix)
        # Names that a program gives in a dict are those of the file.
        is_by_own_names = not isinstance(self._given, dict)
        assign_named("Saver.restore", self._named(), read_named(path), other_scopes=is_by_own_names)

    def _named(self) -> dict[str, Variable]:
        if isinstance(self._given, dict):
            return self._given
        named: dict[str, Variable] = {}
        for variable in self._given:
            if named.setdefault(short_name(variable), variable) is not variable:
                raise ValueError(
                    f"Saver: at least two variables have the same name: {short_name(variable)}; pass a dict from names "
                    "to variables."
                )
        return named


def _distinct(variables: Iterable[Variable]) -> Iterable[Variable]:
    return {id(variable): variable for variable in variables}.values()
