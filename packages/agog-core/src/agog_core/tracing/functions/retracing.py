"""Retracing: which calls run eagerly because their function would be traced again and again.

Of arguments that differ in shapes and Python numbers alone, the first three kinds are traced when they come, and any
other when it comes for the third time: a number that is another one at each call is never worth a trace. So it is with
ways through branches behind the first eight. Where settings or attributes change again and again, ever more calls run
eagerly before the next trace.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from agog_core.dispatch.devices.table import KernelTable
from agog_core.errors import TracingWarning
from agog_core.settable import Reads

# How many ways through the branches of a function there may be, for arguments of one kind.
MOST_WAYS = 32
# How many kinds of arguments that are alike, and ways through branches, are traced when they come first.
FIRST_KINDS, FIRST_WAYS = 3, 8
_TIMES, _MOST_TIMES = 3, 96  # another one is traced when it has come so often
MANY_KINDS = 8  # that are alike: it is said when there are more
_MOST_SEEN = 1024  # kinds that are counted
_IN_A_ROW, _MOST_SKIPPED = 8, 64  # after so many eager calls in a row, so many more are not looked at
_MOST_ASTRAY = 16  # calls in a row that run several traces in vain: to run op by op takes no longer
MOST_FAILURES = 8  # of runs of a trace, where the eager call after each did not fail
_NUMBERS = (int, float, complex, np.number)
_KINDS = "{function} was called for more than {count} kinds of arguments that differ in {what} alone; a trace of each "
_TEXTS = {
    "Python numbers": _KINDS + "takes as long as some calls without tf.function, and memory. It runs eagerly for "
    "another number until that has come three times. Where a number changes from call to call, pass it as a tensor, "
    "such as tf.constant(n).",
    "shapes": _KINDS + "takes as long as some calls without tf.function, and memory. It runs eagerly for another shape "
    "until that has come three times. Give it few shapes: batch(size, drop_remainder=True), padded sequences.",
    "shapes and Python numbers": _KINDS + "takes as long as some calls without tf.function, and memory. It runs "
    "eagerly for others until they have come three times. Pass numbers as tensors, such as tf.constant(n), and give "
    "it few shapes.",
    "settings": "{function} was traced {count} times since settings have changed, now: {what}. From here on it runs "
    "eagerly for some calls after each change. Keep what changes often in a tf.Variable, or pass it as a tensor.",
    "ways": "{line}: {function} has gone {count} ways through its branches; from here on it runs eagerly for such "
    "arguments. Use tf.where or tf.while_loop, or leave tf.function out.",
    "astray": "{line}: {function} goes another way through its branches at nearly each call; from here on it runs "
    "eagerly for such arguments. Use tf.where or tf.while_loop, or leave tf.function out.",
    "captures": "{function} runs eagerly under a tape from here on, because it uses a tensor from outside that the "
    "tape watches. Pass the tensor as an argument, or leave tf.function out.",
    "asks": "{function} runs eagerly under a tape from here on, because it asks the tape itself for a gradient, or "
    "changes what the tape records. Make the tape in the function, or leave tf.function out.",
    "changed": "{reason}; {function} runs eagerly for such arguments from here on. Branch first, or on what the "
    "variable will be, such as v + 1; or leave tf.function out.",
    "caught": "{function} runs eagerly for such arguments from here on: {count} of its calls could not be traced, the "
    "last because of {reason}. Let it ask before, by tf.where or tf.cond; or leave tf.function out.",
    "failures": "{function} runs eagerly for such arguments from here on: {count} times its trace has failed where the "
    "function itself does not, at last with {error!r}. Where the function catches that error, let it ask before, by "
    "tf.where or tf.cond; or leave tf.function out.",
}


class Retracing:
    """What is known of the kinds of arguments of a function. Who asks holds the lock of its memory."""

    def __init__(self) -> None:
        self._skipped = 0  # how many calls more run eagerly without being looked at
        self._given_up: set[Any] = set()  # kinds of arguments that always run eagerly
        # By what kinds that are alike have in common: how often each was traced, and has come and was not traced.
        self._traced: dict[Any, dict[Any, int]] = {}
        self._seen: dict[Any, dict[Any, int]] = {}
        self._ways: dict[Any, int] = {}  # the same of places where a way parts from those that were traced
        self._in_a_row = self._astray = 0
        self._failures: dict[Any, int] = {}
        self._told: set[str] = set()

    def allows(self, kind: Any, reads: Reads, function: str) -> bool:
        """Whether a call is traced that has no trace: for arguments of some kind, with what a trace of them reads."""
        if kind in self._given_up:
            return self._refused()
        common = _without(kind)
        alike, seen = self._traced.setdefault(common, {}), self._seen.setdefault(common, {})
        count = alike.get(kind, 0)
        needed = 1
        if not count and len(alike) >= FIRST_KINDS:
            needed = _TIMES
            if len(alike) + len(seen) >= MANY_KINDS and kind not in seen:
                what = _difference({*alike, kind})
                self.tell(what, function=function, what=what, count=MANY_KINDS)
        elif count >= MANY_KINDS and reads.changed_before is not None:
            needed = min(_TIMES << (count - MANY_KINDS), _MOST_TIMES)
            self.tell("settings", function=function, what=reads.changed_before, count=count)
        if needed > 1 and not _has_come(seen, kind, needed):
            return self._refused()
        alike[kind] = count + 1
        self.found(1)
        return True

    def allows_way(self, place: Any, count: int) -> bool:
        """Whether a way through branches is traced, of a function that has gone so many ways, which parts from those at
        some place."""
        needed = min(_TIMES << max(0, count - FIRST_WAYS), _MOST_TIMES)
        return count < FIRST_WAYS or _has_come(self._ways, place, needed) or self._refused()

    def is_astray(self, failed: int) -> bool:
        """Whether to give up a function, of whose traces so many have run in vain in a call, as in all calls before."""
        self._astray = self._astray + 1 if failed > 1 else 0
        return self._astray >= _MOST_ASTRAY

    def skips(self) -> bool:
        """Whether a call runs eagerly, because all before it did."""
        if not self._skipped:
            return False
        self._skipped -= 1
        return True

    def found(self, failed: int = 0) -> None:
        """Note that a call has a trace, and how many others have run in vain."""
        self._in_a_row = self._skipped = 0
        if not failed:
            self._astray = 0

    def give_up(self, kind: Any) -> None:
        """Run a kind of arguments eagerly from now on."""
        self._given_up.add(kind)

    def fails(self, key: Any) -> bool:
        """Whether runs of a trace have failed so often, where eager calls have not, that it is given up."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        return count >= MOST_FAILURES

    def _refused(self) -> bool:
        self._in_a_row += 1
        if self._in_a_row >= _IN_A_ROW:
            self._skipped = min(self._in_a_row, _MOST_SKIPPED)
        return False

    def tell(self, kind: str, **facts: Any) -> None:
        """Warn, once of each kind."""
        if kind not in self._told:
            self._told.add(kind)
            warnings.warn(_TEXTS[kind].format(**facts), TracingWarning, stacklevel=depth())


def _has_come(seen: dict[Any, int], kind: Any, needed: int) -> bool:
    """Count a call; whether there were enough of its kind."""
    if len(seen) >= _MOST_SEEN:
        seen.clear()
    count = seen[kind] = seen.get(kind, 0) + 1
    return count >= needed and bool(seen.pop(kind))


def depth() -> int:
    """How far up the program is that called the function, for warnings."""
    depth, frame = 2, sys._getframe(2)
    while frame.f_back is not None and (frame.f_globals.get("__name__", "") + ".").startswith("agog_core."):
        depth, frame = depth + 1, frame.f_back
    return depth


def _difference(keys: set[Any]) -> str:
    """In what some kinds of arguments differ."""
    if len({_without(key, shapes=False) for key in keys}) == 1:
        return "Python numbers"
    return "shapes" if len({_without(key, numbers=False) for key in keys}) == 1 else "shapes and Python numbers"


def _without(key: Any, numbers: bool = True, shapes: bool = True) -> Any:
    """A key in which Python numbers count by their types alone, and shapes by their ranks."""
    if not isinstance(key, tuple):
        return key
    if numbers and len(key) == 2 and isinstance(key[0], type) and issubclass(key[0], _NUMBERS) and key[0] is not bool:
        return key[0]
    if shapes and len(key) == 3 and isinstance(key[0], KernelTable):
        return key[0], len(key[1])
    return tuple([_without(part, numbers, shapes) for part in key])
