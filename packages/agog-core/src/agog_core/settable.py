"""Settable: objects with attributes that guards of traced functions watch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import RLock
from typing import Any, ClassVar, Self
from weakref import ref

from agog_core.locks import hold_while_forking
from agog_core.tracers import present_tracer, tracing

# A version number of all attributes that traces have read.
changes = [0]
_next_change = count(1).__next__  # the next such number
# The classes that have had objects: `_noted` is put into these while a function is traced. No callback in Python takes
# one out, since that would swallow a Ctrl-C.
_classes: dict[ref[type], ref[type]] = {}
# One entry per function that is being traced in any thread.
_noting: list[_Noting] = []
# Held while classes are changed.
_lock = hold_while_forking(RLock())
# The note of attributes read by the function that this thread or task traces.
_present: ContextVar[_Noting | None] = ContextVar("agog_noting", default=None)

_PLAIN = frozenset((bool, int, str, bytes, type(None)))
_SIGNED = frozenset((float, complex, tuple))
_inside = object.__getattribute__  # past `_noted`
_NEVER_LATE = frozenset((bool, str, type(None)))
_COUNTS = "_times_set"


class Settable:
    """Base of layers, optimizers, losses and other objects that functions read attributes of.

    What a trace has read is part of its key. While a function is traced, attributes are read by `_noted`; at all other
    times by Python's own method, at no further cost.

    >>> class Scale(Settable):
    ...     def __init__(self, factor):
    ...         self.factor = factor
    >>> Scale(2.0).factor
    2.0
    """

    is_read_late: ClassVar[bool] = False
    """Whether each run of a trace reads the attributes anew, so that they are in no key."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if ref(cls) not in _classes and not cls.is_read_late:
            with _lock:
                known = ref(cls, _classes.pop)
                _classes[known] = known
                if _noting:
                    _put_into(cls)
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        made = super().__new__(cls)
        if tracing and (noting := _present.get()) is not None:
            noting.made[id(made)] = ref(made)
            noting.read.pop(id(made), None)  # of an object that was there before
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        before = vars(self).get(name, ...)
        super().__setattr__(name, value)
        if before is not value:
            has_changed(self, name)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        has_changed(self, name)


def has_changed(owner: Any, name: str) -> None:
    """Note that an attribute has a new value, or a value changed in place."""
    if tracing and (noting := _present.get()) is not None:
        noting.written[id(owner), name] = ref(owner)
    counts = vars(owner).get(_COUNTS)
    if counts is not None and name in counts.of:
        counts.of[name] += 1
        changes[0] = _next_change()


def note(owner: Any, name: str) -> None:
    """Note that the traced function, if any, has read an attribute.

    What is computed at each run reads it anew, but only its numbers are taken from there.
    """
    noting, tracer = _present.get(), present_tracer()
    if noting is None or tracer is None:
        return
    if tracer.records or type(_inside(owner, "__dict__").get(name, 0)) in _NEVER_LATE:
        noting.note(owner, name)


class Reads:
    """The attributes that a function has read during tracing, with their values; it keeps no object alive.

    Args:
        changed_before: what has changed since the function was traced before, in words.
    """

    def __init__(self, changed_before: str | None = None) -> None:
        self.changed_before = changed_before
        self._entries: dict[tuple[int, str], tuple[ref[Any], Any]] = {}
        self._version = -1

    @contextmanager
    def noted(self) -> Iterator[None]:
        """A block in which the function is traced."""
        noting = _Noting()
        token = _present.set(noting)
        try:
            _begin(noting)
            yield
        finally:
            _end(noting)
            _present.reset(token)
            with _lock:  # other threads may trace the function too
                self._entries = noting.added_to(self._entries)
                self._version = -1

    def hold(self) -> bool:
        """Whether all that was read is what it was."""
        version = changes[0]
        if self._version != version:
            if self.changed() is not None:
                return False
            self._version = version
        return True

    def changed(self) -> str | None:
        """The first attribute that is not what it was, in words; None if there is none."""
        for (_, name), (held, mark) in list(self._entries.items()):
            owner = held()
            if owner is not None and _mark(owner, name) != mark:
                return f"{name.lstrip('_')!r} of a {type(owner).__name__}"
        return None


class _Noting:
    """The notes of a trace: attributes that the function reads or sets, and objects that it makes."""

    def __init__(self) -> None:
        self.made: dict[int, ref[Any]] = {}
        self.written: dict[tuple[int, str], ref[Any]] = {}
        self.read: dict[int, dict[str, tuple[ref[Any], Any, int]]] = {}

    def note(self, owner: Any, name: str) -> None:
        """Note that an attribute is read."""
        names = self.read.setdefault(id(owner), {})
        if name not in names:
            times = _counts(owner).setdefault(name, 0)
            names[name] = ref(owner), _mark(owner, name), times

    def added_to(self, known: Mapping[tuple[int, str], tuple[ref[Any], Any]]) -> dict[Any, tuple[ref[Any], Any]]:
        """The attributes for later calls to compare, beside the known ones.

        Attributes set by the function itself are left out, since later calls run no Python to set them; but not where
        it has made the object, which others may keep.
        """
        entries = dict(known)
        for held, name, mark, times in self._all_read():
            owner = held()
            if owner is None:
                continue
            key = id(owner), name
            if _is(self.made.get(id(owner)), owner):
                entries[key] = held, _mark(owner, name)
            elif _is(self.written.get(key), owner) or (
                _mark(owner, name) != mark and _counts(owner)[name] == times  # put in past `__setattr__`
            ):
                entries.pop(key, None)
            elif key not in entries or not _is(entries[key][0], owner):
                entries[key] = held, mark
        return entries

    def _all_read(self) -> list[tuple[ref[Any], str, Any, int]]:
        return [(held, name, *rest) for names in self.read.values() for name, (held, *rest) in names.items()]


class _Counts:
    """How often attributes of an object were set, since a trace has read them first."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[str, int] = {}


def _counts(owner: Any) -> dict[str, int]:
    inside = _inside(owner, "__dict__")
    if _COUNTS not in inside:
        inside[_COUNTS] = _Counts()
    of: dict[str, int] = inside[_COUNTS].of
    return of


def _mark(owner: Any, name: str) -> Any:
    """A mark to compare an attribute by: a plain value itself, else the number of its assignments."""
    inside = _inside(owner, "__dict__")
    value = inside.get(name, ...)
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind in _SIGNED and (kind is not tuple or all(type(each) in _PLAIN for each in value)):
        return kind, repr(value)  # 0.0 is not -0.0, NaN is NaN, and True is not 1
    return inside[_COUNTS].of.get(name) if _COUNTS in inside else None


def _noted(owner: Any, name: str) -> Any:
    """The ``__getattribute__`` of classes during tracing."""
    if name[:2] != "__" and (noting := _present.get()) is not None:
        names = noting.read.get(id(owner))
        if names is None or name not in names:
            note(owner, name)
    return _inside(owner, name)


def _is(held: ref[Any] | None, owner: Any) -> bool:
    return held is not None and held() is owner


def _living() -> list[type]:
    """The classes that have had objects."""
    return [cls for each in tuple(_classes) if (cls := each()) is not None]


def _begin(noting: _Noting) -> None:
    with _lock:
        _noting.append(noting)
        if len(_noting) == 1:
            for cls in _living():
                _put_into(cls)


def _end(noting: _Noting) -> None:
    with _lock:
        if noting in _noting:  # else a Ctrl-C has come before
            _noting.remove(noting)
        if not _noting:
            for cls in _living():
                if vars(cls).get("__getattribute__") is _noted:
                    del cls.__getattribute__


def _put_into(cls: type) -> None:
    reads: Any = cls.__getattribute__
    if reads is object.__getattribute__:
        cls.__getattribute__ = _noted  # type: ignore[method-assign, assignment]
