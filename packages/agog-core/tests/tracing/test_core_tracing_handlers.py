"""Whether a traced function goes on after an error, found from where it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import agog_core as ag
from agog_core.tracing.functions.function import function
from agog_core.tracing.state.handlers import may_be_caught


def plain(ask: Callable[[], None]) -> None:
    ask()


def within(ask: Callable[[], None]) -> None:
    with nullcontext(), nullcontext():
        for _ in range(1):
            ask()


def trying(ask: Callable[[], None]) -> None:
    try:
        ask()
    except ValueError:
        plain(lambda: None)


def trying_around(ask: Callable[[], None]) -> None:
    try:
        with nullcontext():
            ask()
    except (ValueError, TypeError):
        pass


def ending(ask: Callable[[], None]) -> None:
    try:
        ask()
    finally:
        plain(lambda: None)


def trying_before(ask: Callable[[], None]) -> None:
    try:
        plain(lambda: None)
    except ValueError:
        pass
    else:
        ask()


def handling(ask: Callable[[], None]) -> None:
    try:
        raise ValueError
    except ValueError:
        ask()


def called_by_one_that_tries(ask: Callable[[], None]) -> None:
    trying(lambda: within(ask))


@pytest.mark.parametrize(
    ("program", "is_caught"),
    [
        *((plain, False), (within, False), (trying, True), (trying_around, True), (ending, True)),
        *((trying_before, False), (handling, False), (called_by_one_that_tries, True)),
    ],
)
def test_where_an_error_would_go(program: Callable[[Callable[[], None]], None], is_caught: bool) -> None:
    answers = []

    def step(x: Any) -> Any:
        program(lambda: answers.append(may_be_caught()))
        return x + 1.0

    try:  # which is around the traced function, and no part of it
        function(step)(ag.constant(1.0))
        with ag.GradientTape():
            function(step)(ag.constant(1.0))
    except ValueError:
        pass
    assert answers == [is_caught] * 2
