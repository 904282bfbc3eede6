"""Given: checks of the callbacks passed to `fit`."""

from __future__ import annotations

from typing import Any

from agog_layers.base.arguments import shown
from agog_training.callbacks.callback import Callback


def given_callbacks(what: str, callbacks: Any) -> list[Callback]:
    """List the callbacks in an argument of ``what``; raises TypeError if it is no list, or one is no callback.

    >>> given_callbacks("fit", None)
    []
    """
    if isinstance(callbacks, Callback):
        kind = type(callbacks).__name__
        raise TypeError(f"{what}: callbacks must be a list; got one of type {kind}. Write callbacks=[callback].")
    if callbacks is not None and (isinstance(callbacks, (str, type)) or not hasattr(callbacks, "__iter__")):
        raise TypeError(f"{what}: callbacks must be a list; got {shown(callbacks)}.")
    listed = list(callbacks or ())
    for callback in listed:
        if isinstance(callback, type) or not hasattr(callback, "on_epoch_end"):
            raise TypeError(f"{what}: a callback is an object of a class derived from Callback; got {shown(callback)}.")
    return listed
