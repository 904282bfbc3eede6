"""Memory limit: a limit for layers made from a file's description, which may be hostile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agog_core import TensorShape
from agog_core.errors import DataLossError

__all__ = ["Allowance", "allowance", "allowance_of"]

# How many numbers variables may have that are in no file, such as those of metrics.
_UNSAVED = 1 << 20
# How many numbers an input or output may have where layers are called to learn shapes.
_LARGEST = 1 << 27


class Allowance:
    """How many numbers may be made: in weights as many as a file has, and some more; in other values a fixed number."""

    def __init__(self, stored: float, largest: float = _LARGEST) -> None:
        self._stored, self._largest = stored, largest
        self._left = stored + _UNSAVED

    def take(self, name: str, shape: Any) -> None:
        """Count a variable that is about to be made; a DataLossError says that the file cannot have it."""
        sizes = TensorShape(shape)
        self._left -= sizes.num_elements() or 0
        if self._left < 0:
            raise DataLossError(
                f"weight {name!r} would have shape {sizes}, and all arrays of the file together have "
                f"{self._stored} numbers"
            )

    def check(self, name: str, shapes: Callable[[], Iterable[TensorShape]]) -> None:
        """Look at the shapes of values that are about to be made, unknown sizes aside; a DataLossError says that one is
        too large."""
        for shape in shapes() if self._largest < math.inf else ():
            if math.prod(size or 1 for size in shape.as_list()) > self._largest:
                raise DataLossError(
                    f"{name} would have shape {shape}, and values have at most {self._largest} numbers while a model "
                    "is loaded; make the model in the program, and call its load_weights"
                )


_ANY = Allowance(math.inf, math.inf)
# What limits the layers that are made now; nothing if the program itself makes them.
allowance: ContextVar[Allowance] = ContextVar("agog_layer_allowance", default=_ANY)


@contextmanager
def allowance_of(stored: int) -> Iterator[None]:
    """Limit the layers made in a block by the number of elements in a file's arrays.

    >>> import agog_core as ag
    >>> from agog_layers import Dense
    >>> from agog_layers.serialization.memory_limit import allowance_of
    >>> with allowance_of(stored=20):
    ...     Dense(10**8, name="dense")(ag.ones([1, 1]))
    Traceback (most recent call last):
    agog_core.errors.DataLossError: weight 'dense/kernel' would have shape (1, 100000000), and all arrays of the file \
together have 20 numbers
    """
    token = allowance.set(Allowance(stored))
    try:
        yield
    finally:
        allowance.reset(token)
