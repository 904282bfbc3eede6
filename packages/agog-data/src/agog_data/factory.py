"""Factory: how a `Dataset` is made of a stage or a transformation, also by what `agog_data.dataset` stands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class AnyDataset:
    """What is known of a dataset below `agog_data.dataset`: its last stage. It may be a component, as a tensor may."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage

    def _check_iterator(self) -> None:
        """Raise TypeError if a program cannot make an `Iterator` of this dataset by itself."""


_kinds: list[type[AnyDataset]] = []  # [Dataset]; only `register` writes it, once, when agog_data is imported


def register(kind: type[AnyDataset]) -> None:
    """Say which class `dataset_of` makes; `agog_data.dataset` does."""
    _kinds.append(kind)


# [what finds transformations by name]; only `register_transformations` writes it, once, when agog_data is imported
_finders: list[Callable[[str], Any]] = []


def register_transformations(find: Callable[[str], Any]) -> None:
    """Say what finds a transformation by its name; `agog_data` does."""
    _finders.append(find)


def transformation(name: str) -> Any:
    """The function of `agog_data.transformations` of a name, whose module is imported now."""
    return _finders[0](name)


def dataset_of(stage: Any) -> Any:
    """The `Dataset` that ends with a stage."""
    return _kinds[0](stage)
