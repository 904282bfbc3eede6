"""Stand-in: a module with TensorFlow's name and the names of agog's modules."""

from __future__ import annotations

import sys
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from agog.commands.tensorflow1 import missing_names
from agog.commands.tensorflow1.module_table import (
    PLACES,
    RENAMED,
    advises,
    is_absent,
    refusal,
    searched,
    sources_of,
)
from agog_compat.advice import is_import


class StandIn(ModuleType):
    """A module that finds its names in modules of agog. It never changes them: what a program sets here stays here.

    Args:
        name: its name, such as ``"tensorflow.keras.layers"``.
        sources: the names of the modules of agog that are searched, in this order.
    """

    def __init__(self, name: str, sources: tuple[str, ...]) -> None:
        super().__init__(name, f"agog's {' and '.join(sources) or 'modules'} under TensorFlow's name.")
        self._sources = sources
        # What `from ... import` looked for, before it looks for a module and then for the name again.
        self.awaited: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [known for known in dir(self) if not known.startswith("_")]
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        try:
            value = self.find(name)
        except AttributeError as error:
            imports = is_import(sys._getframe(1))
            if imports and (module := sys.modules.get(f"{self.__name__}.{name}")) is not None:
                return module
            self._note(name, str(error))
            if imports:
                text = str(error) if advises(error) else "agog has nothing of this name."
                raise ImportError(f"cannot import name {name!r} from {self.__name__!r}: {text}") from None
            raise
        if isinstance(value, FunctionType) and "refusal" in vars(value):
            self._note(name, vars(value)["refusal"])
        else:
            setattr(self, name, value)
        return value

    def _note(self, name: str, advice: str) -> None:
        if sys._getframe(2).f_code.co_filename.startswith("<frozen importlib"):
            self.awaited.add(name)
        elif not name.startswith("_"):
            missing_names.note(f"{self.__name__}.{name}", advice)

    def find(self, name: str) -> Any:
        """What stands for a name of TensorFlow's module; an AttributeError where nothing does."""
        place = f"{self.__name__}.{name}".partition(".")[2]
        if place in RENAMED:
            module, _, attribute = RENAMED[place].partition(":")
            return getattr(import_module(module), attribute)
        if is_absent(place):
            raise AttributeError(refusal(place))
        if place in PLACES or sources_of(place) == ():
            return import_module(f"tensorflow.{place}")
        value = self._searched(name)
        is_own = isinstance(value, ModuleType) and value.__name__.startswith("agog")
        return import_module(f"tensorflow.{place}") if is_own else value

    def _searched(self, name: str) -> Any:
        if not self._sources:
            raise AttributeError(refusal(f"{self.__name__}.{name}".partition(".")[2]))
        return searched(self._sources, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, Absent):  # Python sets each module that is imported
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        modules = map(import_module, self._sources)
        names = (name for module in modules for name in getattr(module, "__all__", None) or dir(module))
        return sorted({*vars(self), *names} - {"_sources", "awaited"})


class Absent(StandIn):
    """A module that agog has nothing of. It can be imported, which a program may do for nothing, and raises where it is
    used: for all that Python knows at an import it may be a function or a class.

    Args:
        name: its name, such as ``"tensorflow.python.framework.graph_util"``.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, ())
        parent = sys.modules.get(name.rpartition(".")[0])
        if not isinstance(parent, Absent):
            missing_names.note(name, self._refusal())

    def _refusal(self) -> str:
        return refusal(self.__name__.partition(".")[2])

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        missing_names.note(self.__name__, self._refusal())
        raise NotImplementedError(self._refusal())

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        self()
