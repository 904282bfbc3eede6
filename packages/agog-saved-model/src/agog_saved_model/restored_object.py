"""Restored object: what `load` gives in the place of the object that was saved."""

from __future__ import annotations

from typing import Any

from agog_core.variables.module import Module

__all__ = ["RestoredObject"]


class RestoredObject(Module):
    """An object with the parts of one that was saved: variables, functions, tensors, lists and dicts.

    >>> RestoredObject()
    <RestoredObject>
    """

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what was the object's own call.

        Args:
            *args: its arguments.
            **kwargs: others, by name.

        Returns:
            What it gives.

        Raises:
            TypeError: the object had no traced call when it was saved.
        """
        call = vars(self).get("_call")
        if call is None:
            names = [name for name in vars(self) if not name.startswith("_")]
            raise TypeError(
                "saved_model.load: the object that was saved had no call that is a tf.function; it has "
                f"{', '.join(names) or 'nothing'}."
            )
        return call(*args, **kwargs)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables, in the order of the object that was saved."""
        return self._those("variables", super().variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    def _those(self, name: str, others: tuple[Any, ...]) -> tuple[Any, ...]:
        known = vars(self).get(f"_restored_{name}")
        return others if known is None else tuple(known)

    def __repr__(self) -> str:
        return "<RestoredObject>"
