"""Restores: a checkpoint on its way into a program's objects, now into those that exist, later into those that come."""

from __future__ import annotations

import atexit
import itertools
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from agog_checkpoint.casting import misfit
from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import Graph, SavedVariable, escape, join
from agog_checkpoint.name_list import Report, name_list
from agog_checkpoint.objects import WeakIdentityMap, is_part, parts, tells_of_parts, without_value
from agog_checkpoint.python_state import ArrayPart, NumpyState
from agog_checkpoint.saved_slots import SavedSlots
from agog_checkpoint.warning import CheckpointWarning
from agog_core.checkpointable import Checkpointable, listeners
from agog_core.dispatch.devices import default_device
from agog_core.random import Generator
from agog_core.tensors.convert import from_host
from agog_core.tracers import apart
from agog_core.variables import containers
from agog_core.variables.lending import lend
from agog_core.variables.variable import Variable

_LEAST_BORROWED = 16_384  # elements; what is smaller is copied, because it would keep a whole file mapped
_numbers = itertools.count(1)  # the next number of a restore, which orders those that wait
# The number of the latest restore that gave an object its state. An earlier restore that still waits must not undo it.
_restored_by: WeakIdentityMap[int] = WeakIdentityMap()


class Restore:
    """A checkpoint that is being restored, until each value has found its object or no object can come any more.

    Nodes of the file are matched with objects by the names on the way from the root. An object that was matched and
    still lacks parts that the file has is an owner: while there are owners, the restore listens for new parts. It holds
    objects weakly, so that it ends when the last owner is gone, and says then which values nobody asked for.

    ``root`` stands for the graph's first node. ``wants`` says of a path in the program whether it is restored, and
    ``unwanted`` are the nodes whose values are not. With ``cast``, values are cast to the dtypes of the variables; with
    ``borrow``, variables take the arrays' memory over, because nobody will write it. Raises ValueError where something
    that exists does not fit; nothing was changed.
    """

    @without_collection()
    def __init__(
        self,
        path: str,
        graph: Graph,
        arrays: Mapping[str, np.ndarray[Any, Any]],
        root: Checkpointable,
        cast: bool = False,
        wants: Callable[[str], bool] = lambda path: True,
        unwanted: frozenset[int] = frozenset(),
        borrow: bool = False,
    ) -> None:
        self.path = path
        self.casts: list[str] = []
        self._cast = cast
        self._wants = wants
        self._unwanted = unwanted
        self._borrow = borrow
        # A mapping may give one value to several variables, which must not share their memory.
        counts = Counter(variable.key for variable in graph.variables())
        self._copied = {key for key, count in counts.items() if count > 1}
        self._graph = graph
        self._arrays = arrays
        self._number = next(_numbers)
        self._paths = graph.paths()
        self._labels = {number: label for number, label in graph.labels(self._paths).items() if number not in unwanted}
        slots = [slot for slot in graph.slots if slot.slot_variable not in unwanted]
        self._holding = graph.leading_to({*self._labels, *(slot.variable for slot in slots)})
        self._slots = SavedSlots(slots)
        self._node_of: WeakIdentityMap[int] = WeakIdentityMap()
        self._matched: set[int] = set()
        self._rejected: set[int] = set()
        self._joined: set[int] = set()  # nodes whose objects have taken the parts of further nodes
        self._containers: set[int] = set()  # nodes for which the program has a list, a tuple or a dict
        self._silent: set[int] = set()  # those among them, and among the owners, that tell nobody of new parts
        self._holders: dict[int, int] = {}  # the nodes of their owners
        self._rest: dict[int, tuple[list[int], set[int]]] = {}  # see _lacks_parts
        self._owners: dict[int, weakref.ref[Checkpointable]] = {}
        self._generators: list[weakref.ref[Generator]] = []
        self._named: set[int] = set()  # nodes that an error or a warning has named already
        self._lock = threading.RLock()
        self._busy = self._again = False
        self._match({0: root}, [(0, root)], deferred=False)
        if self._owners:
            listeners.insert(0, self.advance)  # before the others: a later restore wins

    def advance(self, owner: Any = None, name: str = "", part: Any = None) -> None:
        """Look for objects that did not exist before, and restore them: everywhere, or where an owner has got a part.
        Raises ValueError where one of them does not fit: it keeps its value, and the others are restored."""
        with self._lock:
            if owner is None and part is not None and (self._busy or not self._is_silent()):
                return  # a variable is read for the first time, and whatever has got it has told so
            if self._busy:  # restoring has made new parts; the loop below comes back for them
                self._again = True
                return
            self._busy = True
            try:
                self._again = not self._advance_by(owner, name, part)
                while self._again:
                    self._again = False
                    self._match({}, self._alive(self._owners), deferred=True)
            finally:
                self._busy = False

    def _advance_by(self, owner: Any, name: str, part: Any) -> bool:
        """Restore one new part, or an owner's, and say whether that did: what it costs does not grow with all parts."""
        number = self._node_of.get(owner)
        if number is None or number in self._joined or (name and not is_part(owner, name, part)) or self._is_silent():
            return False
        child = self._graph.nodes[number].children.get(name)
        around = self._alive({self._holders.get(number, number), *(self._owners.keys() & self._slots.optimizers())})
        if not name:
            self._match({}, [(number, owner)], True, around)
        elif child is not None:
            self._match({}, [], True, around, [(number, name, child, part)])
        return True

    def _alive(self, numbers: Iterable[int]) -> list[tuple[int, Any]]:
        """The owners among some nodes."""
        return [(n, owner) for n in list(numbers) if n in self._owners and (owner := self._owners[n]()) is not None]

    def _is_silent(self) -> bool:
        """Whether something may have got a part of which nobody was told."""
        self._silent = {number for number in self._silent if self._lacks_parts(number)}
        return bool(self._silent)

    def _match(
        self,
        found: dict[int, Any],
        queue: list[tuple[int, Any]],
        deferred: bool,
        owners: Sequence[tuple[int, Any]] = (),
        news: Sequence[tuple[int, str, int, Any]] = (),
    ) -> None:
        """Find objects, which all have to fit, and restore them: parts of those in the queue, and the ``news``: nodes,
        names of parts, their nodes and the parts. The ``owners`` may have slots for them, but no other new parts."""
        faults = self._find(found, queue, owners, news, deferred)
        given = {n: value for n, value in found.items() if n not in self._unwanted and not self._is_superseded(value)}
        faults |= {number: fault for number, value in given.items() if (fault := self._fault(number, value))}
        if faults and not deferred:
            raise self._misfit(faults.values(), "nothing was changed")
        for number in faults:
            found.pop(number, None)
            given.pop(number, None)
        self._rejected.update(faults)
        self._restore(given)
        for number, value in found.items():
            if self._node_of.get(value) is None:
                self._node_of.set(value, number)
                self._slots.note(number, value)
        self._matched.update(found)
        self._own([*queue, *owners])
        if faults:
            raise self._misfit(faults.values(), "these keep the values that they have")

    def _find(
        self,
        found: dict[int, Any],
        queue: list[tuple[int, Any]],
        owners: Sequence[tuple[int, Any]],
        news: Sequence[tuple[int, str, int, Any]],
        deferred: bool,
    ) -> dict[int, str]:
        """Walk from the objects in the queue, which grows, over parts that the file has too. Returns why some nodes
        cannot have an object: where the program and the file do not share the same objects."""
        staged = {id(value): number for number, value in found.items()}
        faults: dict[int, str] = {}

        def stage(number: int, value: Any) -> bool:
            if self._is_settled(number) or number in found:
                return False
            first = staged.get(id(value), self._node_of.get(value))
            if first is not None:
                if not self._is_structure(number, value):
                    return False
                self._joined.add(first)
            found[number] = value
            staged.setdefault(id(value), number)
            return True

        def check_sharing(parent: int, name: str, child: int, part: Any) -> None:
            path = join(self._paths.get(parent, ""), escape(name))
            other = staged.get(id(part))
            if other == child or child not in self._holding or not self._wants(path):
                return
            if child in found:
                shared = self._paths.get(child, "")
                faults[child] = f"{path!r}: the checkpoint has the same object at {shared!r}, the program has two"
            elif other is not None:
                shared = self._paths.get(other, "")
                faults[child] = f"{path!r}: the checkpoint has another object at {shared!r}, the program has the same"

        seen = set()

        def reach(parent: int, name: str, child: int, part: Any) -> None:
            if isinstance(part, (Variable, Checkpointable)):
                if stage(child, part):
                    if isinstance(part, Checkpointable):
                        queue.append((child, part))
                elif not deferred:  # later the program may put others in their places
                    check_sharing(parent, name, child, part)
            elif (child, id(part)) not in seen:
                seen.add((child, id(part)))
                self._enter(parent, child, part)
                queue.append((child, part))

        for each in news:
            reach(*each)
        for number, value in queue:
            names = self._graph.nodes[number].children
            if isinstance(value, NumpyState):
                value.expect(name for name, child in names.items() if self._graph.nodes[child].variable is not None)
            for name, part in parts(value, self._paths.get(number, "")):
                child = names.get(name)
                if child is not None:
                    reach(number, name, child, part)
        for match, objects in ((self._slots.matching_fresh, owners), (self._slots.matching, queue)):
            for number, value in objects:
                if number in self._slots and isinstance(value, Checkpointable):
                    for slot, slot_variable in match(number, value, found):
                        stage(slot, slot_variable)
        return faults

    def _enter(self, parent: int, number: int, container: Any) -> None:
        """Note for which node the program has a list, a tuple or a dict."""
        self._containers.add(number)
        self._holders[number] = self._holders.get(parent, parent)
        if isinstance(container, (containers.List, containers.Mapping)):
            self._node_of.set(container, number)
        else:
            self._silent.add(number)

    def _fault(self, number: int, value: Any) -> str | None:
        """Why an object does not fit its node."""
        saved = self._graph.nodes[number].variable
        array = None if saved is None else self._arrays[saved.key]
        return misfit(self._paths.get(number, ""), saved, array, value, self._cast)

    def _misfit(self, faults: Iterable[str], kept: str) -> ValueError:
        head = f"Checkpoint {self.path!r} does not fit the program's objects; {kept}."
        return ValueError("\n  ".join([head, *faults]))

    def _restore(self, given: dict[int, Any]) -> None:
        """Give the objects their state, that of other objects first: they may refuse it, variables cannot."""
        undo: list[tuple[Checkpointable, dict[str, Any]]] = []
        for number, value in given.items():
            state = self._graph.nodes[number].state
            if state is not None:
                undo.append((value, value.checkpoint_state()))
                try:
                    value.restore_checkpoint_state(state)
                except BaseException as error:
                    which = repr(self._labels[number])
                    error.add_note(f"This happened while {which} was restored from checkpoint {self.path!r}.")
                    self._rejected.add(number)
                    for other, before in reversed(undo):
                        with suppress(Exception):  # the one that has refused its state may be broken
                            other.restore_checkpoint_state(before)
                    raise
        with apart():  # a variable that a traced function makes is restored once, and not at each call
            for number, value in given.items():
                saved = self._graph.nodes[number].variable
                if saved is not None:
                    self._assign(value, saved)
                _restored_by.set(value, self._number)
                if isinstance(value, Generator):
                    value.spare_initial_values(True)
                    self._generators.append(weakref.ref(value))

    def _assign(self, value: Any, saved: SavedVariable) -> None:
        array = self._arrays[saved.key]
        if isinstance(value, ArrayPart):
            value.array = array.copy()
            return
        present = value._current()._table
        if saved.dtype != present.dtype.name:
            array = array.astype(present.dtype.numpy_dtype)
            self.casts.append(f"{saved.key} from {saved.dtype} to {present.dtype.name}")
        if self._borrow and array.size >= _LEAST_BORROWED and saved.key not in self._copied:
            lend(from_host(array, present), value)
        else:  # assigning copies; making the tensor does not
            value.assign(from_host(array, default_device().table(present.dtype)))

    def _is_structure(self, number: int, value: Any) -> bool:
        """Whether an object of the program may take the parts of a further node: one that has no value itself."""
        node = self._graph.nodes[number]
        has_value = node.variable is not None or node.state is not None or number in self._slots
        return isinstance(value, Checkpointable) and not has_value

    def _is_superseded(self, value: Any) -> bool:
        return (_restored_by.get(value) or 0) > self._number

    def _own(self, queue: list[tuple[int, Any]]) -> None:
        """Note which of the objects that were walked over lack parts that the file has."""
        for number, value in queue:
            if isinstance(value, Checkpointable):
                if number not in self._matched or not self._lacks_parts(number):
                    self._owners.pop(number, None)
                elif number not in self._owners:
                    self._silent |= set() if tells_of_parts(type(value)) else {number}

                    def lose(reference: weakref.ref[Checkpointable], number: int = number) -> None:
                        if self._owners.get(number) is reference:
                            del self._owners[number]
                            if not self._owners:
                                self.end()

                    self._owners[number] = weakref.ref(value, lose)
        if not self._owners:
            self.end()

    def _lacks_parts(self, owner: int) -> bool:
        """Whether a value hangs on an owner, itself or through containers, that has no object yet."""
        if owner not in self._rest:
            children = self._graph.nodes[owner].children.values()
            self._rest[owner] = [*children, *self._slots.nodes(owner)], {owner}
        rest, seen = self._rest[owner]
        while rest:  # what is settled once stays so, and is not looked at again
            child = rest[-1]
            if child in self._containers:
                rest.pop()
                if child not in seen:
                    seen.add(child)
                    rest += self._graph.nodes[child].children.values()
            elif child in self._holding and not self._is_settled(child):
                return True
            else:
                rest.pop()
        return False

    def _is_settled(self, number: int) -> bool:
        return number in self._matched or number in self._rejected

    def end(self) -> None:
        """Stop listening, and warn of the values in the file that nothing has asked for."""
        if self.advance in listeners:
            listeners.remove(self.advance)
        for reference in self._generators:
            # A later restore that waits for variables has said the same of it.
            if (generator := reference()) is not None and not self._is_superseded(generator):
                generator.spare_initial_values(False)
        self.warn()

    def warn(self) -> None:
        """Warn of the values in the file that nothing has asked for, once for each of them."""
        unnamed = [number for number in self._labels if not self._is_settled(number) and number not in self._named]
        if unnamed:
            self._named.update(unnamed)
            keys = name_list(repr(self._labels[number]) for number in unnamed)
            text = f"Checkpoint {self.path!r} has values that no object of the program has asked for: {keys}."
            warnings.warn(text, CheckpointWarning, stacklevel=2)

    def report(self) -> Report:
        """What has become of the values in the file: the keys that were matched, that wait for an object, and for which
        no object can come any more."""
        awaited = set()
        for number in (order := list(self._owners)):
            for child in [*self._graph.nodes[number].children.values(), *self._slots.nodes(number)]:
                if child not in awaited:
                    awaited.add(child)
                    order.append(child)
        matched, deferred, unmatched = report = Report([], [], [])
        for number, label in self._labels.items():
            waits = number in awaited and number not in self._rejected
            (matched if number in self._matched else deferred if waits else unmatched).append(label)
        return report

    def has_restored(self, variable: Variable) -> bool:
        """Whether a variable was found, and has its value."""
        return self._node_of.get(variable) is not None

    def name_all(self) -> None:
        """Note that an error has named all values that found no object, so that no warning needs to."""
        self._named.update(self._labels)

    def without_value(self, root: Checkpointable) -> list[str]:
        """The keys that the values of the program's objects would have for which the file has none, without those that
        are not wanted."""
        missing = without_value(root, self._node_of, self._graph, self._holding & self._matched)
        return [path for path in missing if self._wants(path)]


@atexit.register
def _end_all() -> None:
    for restore in [getattr(listener, "__self__", None) for listener in listeners]:
        if isinstance(restore, Restore):
            restore.end()
