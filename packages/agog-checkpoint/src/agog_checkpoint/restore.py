"""Restore: gives the objects of a program the values of a checkpoint, later objects too."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import Graph
from agog_checkpoint.matcher import Matcher, Numbered, Part
from agog_checkpoint.matches import Matches
from agog_checkpoint.objects import is_part, without_value
from agog_checkpoint.report import Report, UnclaimedValues, report_of
from agog_checkpoint.safetensors_file import Array
from agog_checkpoint.saved_values import SavedValues
from agog_checkpoint.waiting_list import WaitingList
from agog_core.checkpointable import Checkpointable, listeners
from agog_core.variables.variable import Variable


class Restore:
    """A checkpoint that is being restored, until each value has found its object or no object can come any more.

    Nodes of the file are matched with objects by the names on the way from the root. An object that was matched and
    still lacks parts that the file has is an owner: while there are owners, the restore listens for new parts. It holds
    objects weakly: when the last owner is gone, it ends and warns of unused values.

    ``root`` stands for the graph's first node. ``wants`` says of a path in the program whether it is restored, and
    ``unwanted`` are the nodes whose values are not. With ``cast``, values are cast to the dtypes of the variables; with
    ``borrow``, variables take the arrays' memory over, because nobody will write it. Raises ValueError if something
    that exists does not fit; nothing was changed.
    """

    @without_collection()
    def __init__(
        self,
        path: str,
        graph: Graph,
        arrays: Mapping[str, Array],
        root: Checkpointable,
        cast: bool = False,
        wants: Callable[[str], bool] = lambda path: True,
        unwanted: frozenset[int] = frozenset(),
        borrow: bool = False,
    ) -> None:
        self.path = path
        self._wants = wants
        self._matches = Matches(graph, unwanted)
        self.values = SavedValues(path, self._matches, arrays, cast, borrow)
        self._waiting = WaitingList(self._matches)
        self.unclaimed = UnclaimedValues(path, self._matches)
        self._lock = threading.RLock()
        self._busy = self._again = False
        self._match({0: root}, [(0, root)], deferred=False)
        if self._waiting.owners:
            listeners.insert(0, self.advance)  # before the others: a later restore wins

    def advance(self, owner: Any = None, name: str = "", part: Any = None) -> None:
        """Look for objects that did not exist before, and restore them: everywhere, or where an owner has got a part.
        Raises ValueError if one of them does not fit: it keeps its value, and the others are restored."""
        with self._lock:
            if owner is None and part is not None and (self._busy or not self._waiting.is_silent()):
                return  # a variable is read for the first time, and whatever has got it has told so
            if self._busy:  # restoring has made new parts; the loop below comes back for them
                self._again = True
                return
            self._busy = True
            try:
                self._again = not self._advance_by(owner, name, part)
                while self._again:
                    self._again = False
                    self._match({}, self._waiting.alive(self._waiting.owners), deferred=True)
            finally:
                self._busy = False

    def _advance_by(self, owner: Any, name: str, part: Any) -> bool:
        """Restore one new part, or an owner's, and say whether that did: what it costs does not grow with all parts."""
        matches = self._matches
        number = matches.node_of.get(owner)
        if number is None or number in matches.joined or (name and not is_part(owner, name, part)):
            return False
        if self._waiting.is_silent():
            return False
        child = matches.graph.nodes[number].children.get(name)
        around = self._waiting.around(number)
        if not name:
            self._match({}, [(number, owner)], True, around)
        elif child is not None:
            self._match({}, [], True, around, [(number, name, child, part)])
        return True

    def _match(
        self,
        found: dict[int, Any],
        queue: list[Numbered],
        deferred: bool,
        owners: Sequence[Numbered] = (),
        news: Sequence[Part] = (),
    ) -> None:
        """Find objects, which all have to fit, and restore them; see `Matcher.walk`."""
        matches, values = self._matches, self.values
        matcher = Matcher(matches, self._waiting, self._wants, found)
        matcher.walk(queue, owners, news, deferred)
        given = {
            n: value for n, value in found.items() if n not in matches.unwanted and not values.is_superseded(value)
        }
        faults = matcher.faults | {n: fault for n, value in given.items() if (fault := values.fault(n, value))}
        if faults and not deferred:
            raise self._misfit(faults.values(), "nothing was changed")
        for number in faults:
            found.pop(number, None)
            given.pop(number, None)
        matches.rejected.update(faults)
        values.give(given)
        matches.note(found)
        self._waiting.update([*queue, *owners], self.end)
        if faults:
            raise self._misfit(faults.values(), "these keep the values that they have")

    def _misfit(self, faults: Iterable[str], kept: str) -> ValueError:
        head = f"Checkpoint {self.path!r} does not fit the program's objects; {kept}."
        return ValueError("\n  ".join([head, *faults]))

    def end(self) -> None:
        """Stop listening, and warn of the values in the file that nothing has asked for."""
        if self.advance in listeners:
            listeners.remove(self.advance)
        self.values.end()
        self.unclaimed.warn()

    def report(self) -> Report:
        """The state of the values in the file."""
        return report_of(self._matches, self._waiting)

    def has_restored(self, variable: Variable) -> bool:
        """Whether a variable was found, and has its value."""
        return self._matches.node_of.get(variable) is not None

    def without_value(self, root: Checkpointable) -> list[str]:
        """The keys of the program's values that the file lacks, without skipped ones."""
        matches = self._matches
        missing = without_value(root, matches.node_of, matches.graph, matches.holding & matches.matched)
        return [path for path in missing if self._wants(path)]


@atexit.register
def _end_all() -> None:
    for restore in [getattr(listener, "__self__", None) for listener in listeners]:
        if isinstance(restore, Restore):
            restore.end()
