"""Finder: an import hook from TensorFlow's and Keras's modules to stand-ins."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from agog.commands.tensorflow1 import missing_names
from agog.commands.tensorflow1.module_table import is_absent, sources_of, why_not
from agog.commands.tensorflow1.stand_in import Absent, StandIn

# How the names of files and folders of tests end.
_TESTS = ("_test", "_tests", "_test_util")


class _StandInLoader(Loader):
    def __init__(self, sources: tuple[str, ...]) -> None:
        self._sources = sources

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        is_there = not is_absent(spec.name.partition(".")[2])
        return StandIn(spec.name, self._sources) if is_there else Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stand-in finds its names when they are asked for."""


class _SameLoader(Loader):
    """Gives a module of TensorFlow's Keras for one of Keras: programs mix both, and their layers are the same."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is there."""


class Finder(MetaPathFinder):
    """Finds ``tensorflow``, ``keras`` and the modules below: those that agog stands in for, then the program's own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of TensorFlow's or Keras's; None for every other module.

        Raises:
            ModuleNotFoundError: the module is theirs, and neither agog nor the program has it.
        """
        top, _, place = fullname.partition(".")
        if top == "keras":
            if sources_of(fullname) is None:
                raise _not_found(fullname, fullname)
            return ModuleSpec(fullname, _SameLoader(f"tensorflow.{fullname}"), is_package=True)
        if top != "tensorflow":
            return None
        sources = sources_of(place)
        own = None if sources else _own_spec(fullname)
        if own is not None:
            return own
        if sources is not None:
            return ModuleSpec(fullname, _StandInLoader(sources), is_package=True)
        raise _not_found(fullname, place)


def activate() -> None:
    """Let this process find TensorFlow's modules in agog."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def _not_found(fullname: str, place: str) -> ModuleNotFoundError:
    """The error for a module that neither agog nor the program has; it is noted for the report."""
    text = f"No module named {fullname!r}: {why_not(place)}"
    parent, _, name = fullname.rpartition(".")
    if name not in getattr(sys.modules.get(parent), "awaited", ()):
        missing_names.note(fullname, text)
    return ModuleNotFoundError(text, name=fullname)


def _own_spec(fullname: str) -> ModuleSpec | None:
    """The spec of an example or a test that lies in folders of TensorFlow's names, and imports its neighbours so.

    Nothing else is taken from such folders, and nothing that is installed: half of a library would not run.
    """
    package, _, name = fullname.rpartition(".")
    if "examples" not in fullname.split(".") and not name.endswith(_TESTS):
        return None
    installed = {os.path.realpath(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}
    entries = [entry for entry in sys.path if os.path.realpath(entry) not in installed]
    return PathFinder.find_spec(fullname, [os.path.join(entry, *package.split(".")) for entry in entries])
