"""Status: the result of `Checkpoint.restore`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from agog_checkpoint.name_list import name_list
from agog_checkpoint.restore import Restore
from agog_core import Checkpointable, Variable

# The numbering is the checkpoint's own; a file made by `Checkpoint.write` has none.
_OPTIONAL = {"save_counter"}


class CheckpointLoadStatus:
    """The progress of a restore; its `repr` is a report.

    Objects that existed have their values when `Checkpoint.restore` returns, and others get them when they are created:
    the methods of this class only check. A status keeps its `Checkpoint` alive.
    """

    def __init__(self, restore: Restore, root: Checkpointable) -> None:
        self._restore = restore
        self._root = root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Check that every value in the file has an object, and every object a value."""
        self._restore.advance()
        _, deferred, unmatched = self._restore.report()
        missing = self._without_value()
        if deferred or unmatched or missing:
            self._restore.unclaimed.name_all()
            raise AssertionError(
                f"assert_consumed: checkpoint {self._restore.path!r} and the program's objects do not match."
                + _lines("values in the file without an object", [*deferred, *unmatched])
                + _lines("objects without a value in the file", missing)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Check that every existing object has a value; warn of values in the file without an object."""
        self._restore.advance()
        if missing := self._without_value():
            raise AssertionError(
                f"assert_existing_objects_matched: checkpoint {self._restore.path!r} lacks values of the program's "
                "objects." + _lines("objects without a value in the file", missing)
            )
        self._restore.unclaimed.warn()
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Check that at least one value of the file, beside the number of saves, has found its object."""
        self._restore.advance()
        matched, deferred, unmatched = self._restore.report()
        if not set(matched) - _OPTIONAL:
            raise AssertionError(
                f"assert_nontrivial_match: nothing of checkpoint {self._restore.path!r} has found an object."
                + _lines("values in the file without an object", [*deferred, *unmatched])
                + _lines("objects without a value in the file", self._without_value())
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Accept values without an object, without a warning."""
        self._restore.unclaimed.name_all()
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore objects of which the restore has not been told yet, such as those in a plain list. (Variables ask for
        themselves, when they are first read.)"""
        self._restore.advance()

    def initialize_or_restore(self, session: Any = None) -> None:
        """See `run_restore_ops`: variables have a value from their construction on."""
        self._restore.advance()

    def _without_value(self) -> list[str]:
        return [key for key in self._restore.without_value(self._root) if key not in _OPTIONAL]

    def _report(self) -> dict[str, Sequence[str]]:
        with suppress(ValueError):  # a report is no place for the error of an object that does not fit
            self._restore.advance()
        matched, deferred, unmatched = self._restore.report()
        return {
            "matched": matched,
            "cast": self._restore.values.casts,
            "deferred until an object is created": deferred,
            "values in the file without an object": unmatched,
            "objects without a value in the file": self._without_value(),
        }

    def __repr__(self) -> str:
        lines = [_lines(title, keys) for title, keys in self._report().items()]
        return f"<CheckpointLoadStatus of {self._restore.path!r}{''.join(lines)}>"

    def _repr_html_(self) -> str:
        from agog_core.tensors.display import table, titled  # here, because only notebooks need it

        rows = [(title, len(keys), name_list(keys)) for title, keys in self._report().items() if keys]
        return titled(f"CheckpointLoadStatus of {self._restore.path!r}", table(("what", "count", "keys"), rows, (1,)))


class InitializationOnlyStatus:
    """The status of a restore from None: nothing is restored, and objects keep their values."""

    def assert_consumed(self) -> NoReturn:
        """Fail with AssertionError: there is no checkpoint."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_existing_objects_matched(self) -> NoReturn:
        """See `assert_consumed`."""
        self.assert_consumed()

    def assert_nontrivial_match(self) -> NoReturn:
        """See `assert_consumed`."""
        self.assert_consumed()

    def expect_partial(self) -> InitializationOnlyStatus:
        """Do nothing: nothing is warned of."""
        return self

    def run_restore_ops(self, session: Any = None) -> NoReturn:
        """See `assert_consumed`."""
        self.assert_consumed()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: variables have a value from their construction on."""

    def __repr__(self) -> str:
        return "<InitializationOnlyStatus: no checkpoint was specified (save_path=None), and nothing is being restored>"


def _lines(title: str, keys: Sequence[str]) -> str:
    if not keys:
        return ""
    return f"\n  {title} ({len(keys)}): {name_list(keys)}"


def unfilled(status: CheckpointLoadStatus | InitializationOnlyStatus, variables: Iterable[Variable]) -> list[Variable]:
    """The variables among some to which a restore has given no value."""
    if isinstance(status, InitializationOnlyStatus):
        return list(variables)
    return [variable for variable in variables if not status._restore.has_restored(variable)]
