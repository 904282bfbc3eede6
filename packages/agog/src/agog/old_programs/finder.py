"""Finder: answers imports of TensorFlow's modules with stand-ins, in this process and those that multiprocessing starts."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from agog.old_programs import missing
from agog.old_programs.places import PLACES
from agog.old_programs.stand_in import StandIn


class _StandInLoader(Loader):
    def __init__(self, sources: tuple[str, ...]) -> None:
        self._sources = sources

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandIn(spec.name, self._sources)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stand-in finds its names when they are asked for."""


class Finder(MetaPathFinder):
    """Finds ``tensorflow`` and the modules below it: those that agog stands in for, then the program's own files.

    A program that lies in folders of these names imports its neighbours from there. What is installed is left alone.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of TensorFlow's; None for every other module.

        Raises:
            ModuleNotFoundError: the module is TensorFlow's, and neither agog nor the program has it.
        """
        top, _, place = fullname.partition(".")
        if top != "tensorflow":
            return None
        sources = _sources(fullname, place)
        if sources is not None:
            return ModuleSpec(fullname, _StandInLoader(sources), is_package=True)
        own = PathFinder.find_spec(fullname, _own_folders(fullname.rpartition(".")[0]))
        if own is not None:
            return own
        text = f"No module named {fullname!r}: agog stands in for TensorFlow here, and has nothing that this module holds."
        missing.note(fullname, text)
        raise ModuleNotFoundError(text, name=fullname)


def activate() -> None:
    """Let this process find TensorFlow's modules in agog."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def _sources(fullname: str, place: str) -> tuple[str, ...] | None:
    if place in PLACES:
        return PLACES[place]
    parent, _, name = fullname.rpartition(".")
    above = sys.modules[parent]
    source = above.source_of(name) if isinstance(above, StandIn) else None
    return None if source is None else (source.__name__,)


def _own_folders(package: str) -> list[str]:
    installed = {os.path.realpath(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    entries = [entry for entry in sys.path if os.path.realpath(entry) not in installed]
    return [folder for folder in (os.path.join(entry, *package.split(".")) for entry in entries) if os.path.isdir(folder)]
