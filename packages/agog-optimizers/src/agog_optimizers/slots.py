"""Slots: the state of an optimizer for each variable, such as its momentum."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, Self
from weakref import WeakKeyDictionary

from agog_core import Variable


class Slots:
    """Something for each variable, in ``of``; it lives as long as the variable.

    A deep copy is for the copied variables where these are copied with it, in whatever order, and for the same ones
    otherwise. Which it is shows when all is copied, so ``of`` is made when it is first asked for.
    """

    of: WeakKeyDictionary[Variable, Any]

    def __init__(self) -> None:
        self.of = WeakKeyDictionary()

    def __getattr__(self, name: str) -> Any:
        if name != "of" or "_waiting" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        pairs, copies = vars(self).pop("_waiting")
        self.of = WeakKeyDictionary({copies.get(id(variable), variable): kept for variable, kept in pairs})
        had_any = bool(pairs)
        del pairs, copies
        if had_any and not self.of:
            warnings.warn(
                "An optimizer was copied or unpickled without the variables that it has slots for, so the slots are "
                "lost. Take both together, such as pickle.dumps((model, optimizer)).",
                stacklevel=3,
            )
        return self.of

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        new = type(self).__new__(type(self))
        pairs = [(variable, deepcopy(kept, memo)) for variable, kept in list(self.of.items())]
        vars(new).update(self._rest(), _waiting=(pairs, memo))
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {"_waiting": (list(self.of.items()), {}), **self._rest()}

    def _rest(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "of"}
