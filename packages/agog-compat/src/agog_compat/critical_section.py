"""Critical section: ``tf.CriticalSection``, mutual exclusion of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["CriticalSection"]


class _Lock:
    """A lock, and the thread that holds it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder: int | None = None


# The locks of sections that share one, by their names.
_shared: WeakValueDictionary[str, _Lock] = WeakValueDictionary()


class CriticalSection:
    """Runs functions such that no two threads do at once.

    Args:
        name: the section's name.
        shared_name: sections of one such name exclude each other; None for a section by itself.

    >>> section = CriticalSection()
    >>> section.execute(lambda a, b: a + b, 1, 2)
    3
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        self.name = name or shared_name or "critical_section"
        self._lock = _Lock() if shared_name is None else _shared.setdefault(shared_name, _Lock())

    def execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a function while no other thread is in the section.

        Args:
            fn: the function.
            *args: its arguments.
            **kwargs: the same by name; ``exclusive_resource_access`` and ``name`` are not handed on.

        Returns:
            What the function returns.

        Raises:
            TypeError: ``fn`` is no function.
            ValueError: the thread is in the section already, and would wait for itself.
        """
        if not callable(fn):
            raise TypeError(f"CriticalSection {self.name!r}: fn must be a function; got {fn!r}.")
        own = {key: value for key, value in kwargs.items() if key not in ("exclusive_resource_access", "name")}
        thread = threading.get_ident()
        if self._lock.holder == thread:
            raise ValueError(
                f"CriticalSection {self.name!r}: execute was called in a function that runs in the section already, "
                "and would wait for itself; call the inner function as it is."
            )
        with self._lock.lock:
            self._lock.holder = thread
            try:
                return fn(*args, **own)
            finally:
                self._lock.holder = None
