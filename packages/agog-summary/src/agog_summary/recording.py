"""Recording: the policy when summaries are written; by default never."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from agog_core import int64
from agog_core.settings import Setting
from agog_core.tracers import late, operand
from agog_core.variables.global_step import get_or_create_global_step


def _never() -> bool:
    return False


def always() -> bool:
    return True


@dataclass(frozen=True)
class _Every:
    """Whether the steps that a variable counts are a multiple of a number."""

    number: int
    steps: Any

    def __call__(self) -> bool:
        return int(self.steps) % self.number == 0


# Whether summaries are recorded in this thread or task.
_policy: Setting[Callable[[], bool]] = Setting("agog_summary_policy", _never)


# The step of summaries of ``tf.summary`` that are told none, in this thread or task.
default_step: ContextVar[Any] = ContextVar("agog_summary_step", default=None)


def should_record_summaries() -> bool:
    """Whether summaries are recorded now, where there is a default writer.

    Returns:
        What the innermost policy says; False if none is set.

    >>> should_record_summaries()
    False
    """
    return _policy.get()()


def is_recorded() -> Any:
    """Whether summaries are recorded now, for ops; in a traced function, at each of its runs."""
    policy = _policy.get()
    return operand(late(lambda: int(policy())), int64)


@contextmanager
def recording(policy: Callable[[], bool]) -> Iterator[None]:
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


@contextmanager
def always_record_summaries() -> Iterator[None]:
    """Record every summary inside.

    Returns:
        A context manager.

    >>> with always_record_summaries():
    ...     should_record_summaries()
    True
    """
    with recording(always):
        yield


@contextmanager
def never_record_summaries() -> Iterator[None]:
    """Record no summary inside.

    Returns:
        A context manager.

    >>> with always_record_summaries(), never_record_summaries():
    ...     should_record_summaries()
    False
    """
    with recording(_never):
        yield


@contextmanager
def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Iterator[None]:
    """Record the summaries inside while the global step is a multiple of a number.

    Args:
        n: the number, at least 1.
        global_step: the variable that counts the steps; None for `tf.train.get_or_create_global_step()`.

    Returns:
        A context manager.

    Raises:
        ValueError: ``n`` is less than 1.

    >>> import agog_core as ag
    >>> step = ag.Variable(0)
    >>> with record_summaries_every_n_global_steps(2, step):
    ...     for _ in range(3):
    ...         print(int(step), should_record_summaries())
    ...         _ = step.assign_add(1)
    0 True
    1 False
    2 True
    """
    if n < 1:
        raise ValueError(f"record_summaries_every_n_global_steps: n must be at least 1; got {n}.")
    steps = get_or_create_global_step() if global_step is None else global_step
    with recording(_Every(n, steps)):
        yield
