"""Collectives: what is refused, which connects processes, and what is said of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.dispatch.plugins.collectives import collective_of, explain_collectives
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import AmbiguousKernelError
from agog_core.plugin import Collective, hookimpl
from agog_testing import says


def collective(**facts: Any) -> Collective:
    return Collective(**{"name": "mine", "devices": ("cpu",), "connect": SimpleNamespace} | facts)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """What brings collectives, which are then the only ones."""
    for plugin in loader().plugins:
        monkeypatch.setattr(plugin, "collectives", [])
    names: list[str] = []

    def bring(name: str, *collectives: Collective) -> None:
        ag.register_plugin(SimpleNamespace(agog_collectives=hookimpl(lambda: collectives)), name)
        names.append(name)

    yield bring
    for name in names:
        ag.unregister_plugin(name)


@pytest.mark.parametrize(
    ("facts", "error", "text"),
    [
        (
            {"devices": ("CPU",)},
            ValueError,
            "Collective(name='mine', devices=('CPU',)): a device type is one lower-case word, such as 'gpu'.",
        ),
        (
            {"devices": ()},
            TypeError,
            "Collective(name='mine'): devices must be a tuple of device types, such as ('cpu',); got ().",
        ),
        (
            {"connect": "nothing"},
            TypeError,
            "Collective(name='mine'): connect must be a function or a 'module:attribute' string; got 'nothing'.",
        ),
    ],
)
def test_odd_facts_are_refused(facts: dict[str, Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        collective(**facts)


def test_without_any_there_is_one_process(register: Callable[..., None]) -> None:
    assert collective_of("cpu") is None
    assert explain_collectives("cpu") == "collectives on device 'cpu':\n  none: there is one process"


def test_the_one_of_highest_priority_connects(register: Callable[..., None]) -> None:
    slow, fast = collective(name="slow"), collective(name="fast", priority=200, devices=("cpu", "gpu"))
    register("one", slow)
    register("other", fast)
    assert collective_of("cpu") is fast
    assert collective_of("gpu") is fast
    assert collective_of("tpu") is None


def test_one_that_is_unavailable_is_passed_over(register: Callable[..., None]) -> None:
    slow = collective(name="slow", priority=1)
    register("one", slow, collective(name="fast", unavailable=lambda: "There is no network."))
    assert collective_of("cpu") is slow
    assert explain_collectives("cpu") == (
        "collectives on device 'cpu':\n"
        "  first: collective 'slow' of plugin 'one' (registered by the program), priority 1\n"
        "  rejected: collective 'fast' of plugin 'one' (registered by the program), priority 100: not available: There "
        "is no network."
    )


def test_two_of_equal_rank_are_an_error(register: Callable[..., None]) -> None:
    register("one", collective())
    register("other", collective(name="its"))
    with says(
        AmbiguousKernelError,
        "2 collectives of equal rank are registered for device 'cpu':\n"
        "  collective 'mine' of plugin 'one' (registered by the program), priority 100\n"
        "  collective 'its' of plugin 'other' (registered by the program), priority 100\n"
        "Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment.",
    ):
        collective_of("cpu")
    ag.prefer("other")
    try:
        found = collective_of("cpu")
    finally:
        ag.prefer()
    assert found is not None
    assert found.name == "its"
