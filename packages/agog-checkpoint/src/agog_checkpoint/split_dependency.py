"""Split dependency: several parts of an object graph, saved and restored together by two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_checkpoint.python_state import ArrayPart
from agog_core import as_dtype, constant, convert_to_tensor

__all__ = ["split_dependency"]

Buffer = dict[str, Any]


class _Component(ArrayPart):
    """One of the parts: a checkpoint finds its array in what the functions exchange."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        saved: Buffer,
        restored: Buffer,
        fill: Callable[[], Any],
        consume: Callable[[], Any],
    ) -> None:
        self._name, self._dtype = name, as_dtype(dtype)
        self._saved, self._restored = saved, restored
        self._fill, self._consume = fill, consume

    def checkpoint_dependencies(self) -> dict[str, Any]:
        """None: what the functions exchange is no part."""
        return {}

    def checkpoint_dependency(self, name: str) -> None:
        """None, as there are no parts."""
        return None

    @property
    def array(self) -> Any:
        if self._name not in self._saved:
            self._fill()
        return convert_to_tensor(self._saved.pop(self._name), self._dtype).numpy()

    @array.setter
    def array(self, array: np.ndarray[Any, Any] | None) -> None:
        self._restored[self._name] = constant(array, self._dtype)
        self._consume()


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[Any],
    fill_save_buffer_fn: Callable[[Buffer], Any],
    consume_restore_buffer_fn: Callable[[Buffer], Any],
) -> dict[str, Any]:
    """Parts of an object whose values one function makes when they are saved, and another takes when all are restored.

    Args:
        component_names: the parts' names.
        component_dtypes: their dtypes.
        fill_save_buffer_fn: takes an empty dict, and puts a tensor into it for each name.
        consume_restore_buffer_fn: takes a dict with the restored tensor for each name.

    Returns:
        The parts by their names, to be assigned to attributes of the object, all of them.

    Raises:
        ValueError: there is not a dtype for each name.

    >>> import tempfile, agog_core as ag
    >>> from agog_checkpoint import Checkpoint
    >>> class Halves(ag.Checkpointable):
    ...     def __init__(self, values):
    ...         self.whole = ag.Variable(values)
    ...         parts = split_dependency(["first", "second"], ["float32"] * 2, self._split, self._join)
    ...         self.first, self.second = parts["first"], parts["second"]
    ...
    ...     def _split(self, buffer):
    ...         buffer["first"], buffer["second"] = self.whole[:1], self.whole[1:]
    ...
    ...     def _join(self, buffer):
    ...         self.whole.assign(ag.concat([buffer["first"], buffer["second"]], 0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Checkpoint(halves=Halves([1.0, 2.0])).write(f"{folder}/ckpt")
    ...     other = Halves([0.0, 0.0])
    ...     _ = Checkpoint(halves=other).restore(path)
    >>> other.whole.numpy().tolist()
    [1.0, 2.0]
    """
    names, dtypes = list(component_names), list(component_dtypes)
    if len(names) != len(dtypes):
        raise ValueError(
            f"split_dependency: there must be a dtype for each component; got {len(dtypes)} for {len(names)} "
            "components."
        )
    saved: Buffer = {}
    restored: Buffer = {}

    def fill() -> None:
        saved.clear()
        fill_save_buffer_fn(saved)
        if missing := sorted(set(names) - saved.keys()):
            raise ValueError(
                "split_dependency: fill_save_buffer_fn must put a tensor under each name; "
                f"{', '.join(missing)} is missing."
            )

    def consume() -> None:
        if restored.keys() >= set(names):
            consume_restore_buffer_fn(dict(restored))
            restored.clear()

    return {
        name: _Component(name, dtype, saved, restored, fill, consume) for name, dtype in zip(names, dtypes, strict=True)
    }
