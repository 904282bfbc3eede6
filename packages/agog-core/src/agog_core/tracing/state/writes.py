"""Writes: what a traced call gives to variables, when it ends or before it calls Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.rollback import Rollback, give, held
from agog_core.variables.variable import Variable

# What makes the new arrays of variables of those that they have.
Write = Callable[[Sequence[Any]], Sequence[Any]]


class Writes:
    """The writes that variables do not show yet, and how to take back those that they do."""

    def __init__(self) -> None:
        self._pending: list[tuple[Sequence[Variable], Write]] = []
        self._rollback = Rollback()

    def note(self, variables: Sequence[Variable], write: Write) -> None:
        """Note a write."""
        self._pending.append((variables, write))

    def commit(self, before: dict[Variable, Tensor], after: Mapping[Variable, Tensor], merges: bool) -> bool:
        """Give variables the values that they have after the writes.

        Where another thread has changed one, the writes are done again on what variables have now, as eager code would
        have done them; or else nothing is done, and this is False.

        Args:
            before: the values that the call has read; they become those that variables are given.
            after: the values after the writes.
            merges: whether the writes are done again.
        """
        written = list(dict.fromkeys(variable for variables, _ in self._pending for variable in variables))
        if not written:
            return True

        def write() -> bool:
            if all(held(variable) is before[variable] for variable in written):
                given = {variable: untraced(after[variable]) for variable in written}
            elif not merges:
                return False
            else:
                given = self._merged()
            give(given)
            before.update(given)
            return True

        is_done = self._rollback.writing(written, write)
        self._pending.clear()
        return is_done

    def _merged(self) -> dict[Variable, Tensor]:
        given: dict[Variable, Tensor] = {}
        for variables, write in self._pending:
            present = [given[variable] if variable in given else held(variable) for variable in variables]
            arrays = write([x._array for x in present])
            given.update((v, wrap(a, x._table, x._shape)) for v, a, x in zip(variables, arrays, present, strict=False))
        return given

    def take_back(self) -> None:
        """Forget all writes, and give variables their values from before."""
        self._pending.clear()
        self._rollback.take_back()
