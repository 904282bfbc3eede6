"""Threads that stand for processes, as groups of agog-distribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agog_distribute import Group
from agog_testing import processes

Together = Callable[..., list[Any]]


@pytest.fixture
def together() -> Together:
    """Call a function of a `Group` in each of several threads; gives their results, or what they raise."""

    def run(size: int, function: Callable[[Group], Any]) -> list[Any]:
        return processes.together(size, lambda communicator: function(Group(range(size), communicator)))

    return run
