"""Initialization: initial values of variables from checkpoints, by names of scopes and variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from agog_checkpoint import CheckpointReader, load_checkpoint
from agog_checkpoint.saver import assign_named
from agog_core import Variable
from agog_layers.naming.variable_store import active_store

__all__ = ["init_from_checkpoint"]


def init_from_checkpoint(ckpt_dir_or_file: str | os.PathLike[str], assignment_map: Mapping[str, Any]) -> None:
    """Give variables the values that they have in a checkpoint, under other names or in other scopes.

    The variables exist already. Names are looked up in the `EagerVariableStore` of the surrounding ``with`` block.

    Args:
        ckpt_dir_or_file: a checkpoint's path; or a folder, for its newest checkpoint.
        assignment_map: keys in the checkpoint to variables, or to names of variables; and beginnings of keys, which end
            with ``/``, to names of scopes, which do so too. The key ``/`` stands for all of the checkpoint.

    Raises:
        ValueError: the checkpoint lacks a key, or the store a name; or a shape or dtype differs. Nothing is assigned
            then.
        TypeError: the map has something else.
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.

    >>> import tempfile
    >>> from agog_checkpoint import Saver
    >>> v = Variable(0.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Saver([Variable(1.0, name="old/w")]).save(f"{folder}/ckpt")
    ...     init_from_checkpoint(path, {"old/w": v})
    >>> float(v)
    1.0
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    pairs = [
        pair
        for key, target in assignment_map.items()
        for pair in _pairs(os.fsdecode(ckpt_dir_or_file), reader, key, target)
    ]
    assign_named("init_from_checkpoint", pairs, {key: reader.get_tensor(key) for key, _ in pairs})


def _pairs(path: str, reader: CheckpointReader, key: str, target: Any) -> Iterator[tuple[str, Variable]]:
    if isinstance(target, (list, tuple)) and len(target) == 1:
        (target,) = target
    if not isinstance(key, str) or not isinstance(target, (str, Variable)):
        raise TypeError(
            "init_from_checkpoint: assignment_map must go from names in the checkpoint to variables or names; got "
            f"{key!r}: {target!r}."
        )
    if isinstance(target, str) and target.endswith("/"):
        if not key.endswith("/"):
            raise ValueError(
                f"init_from_checkpoint: {target!r} is a scope, so {key!r} must be one of the checkpoint, which ends "
                "with '/'."
            )
        found = {name: variable for name, variable in _store().items() if name.startswith(target)}
        if not found:
            raise ValueError(f"init_from_checkpoint: no variable is in the scope {target!r}; {_known(_store())}.")
        for name, variable in found.items():
            yield _checked(path, reader, key.removeprefix("/") + name.removeprefix(target)), variable
    elif isinstance(target, str):
        if target not in _store():
            raise ValueError(f"init_from_checkpoint: there is no variable {target!r}; {_known(_store())}.")
        yield _checked(path, reader, key), _store()[target]
    else:
        yield _checked(path, reader, key), target


def _store() -> Mapping[str, Variable]:
    store = active_store()
    if store is None:
        raise ValueError(
            "init_from_checkpoint: variables are found by name only in a tfe.EagerVariableStore; call this inside of "
            "`with store.as_default():`, or give the variables themselves."
        )
    return store.by_name


def _checked(path: str, reader: CheckpointReader, key: str) -> str:
    if not reader.has_tensor(key):
        raise ValueError(
            f"init_from_checkpoint: tensor {key!r} is not in checkpoint {path!r}; its keys are "
            f"{', '.join(reader.get_variable_to_shape_map()) or 'none'}."
        )
    return key


def _known(variables: Mapping[str, Variable]) -> str:
    return f"the store has {', '.join(sorted(variables)) or 'none'}"
