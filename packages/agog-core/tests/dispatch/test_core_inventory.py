"""The list of ops says of each what it is defined for and who computes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import agog_core as ag
from agog_core import dtypes
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.reports.inventory import first_sentence, grouped, inventory
from agog_core.plugin import Kernel, hookimpl


def test_every_op_has_one_entry() -> None:
    assert [entry.name for entry in inventory()] == sorted(all_ops())


def test_entries_say_what_ops_declare() -> None:
    entries = {entry.name: entry for entry in inventory([])}
    assert entries["add_n"].inputs == entries["add_n"].differentiable == ("*inputs",)
    assert entries["where"].inputs == ("condition", "x", "y")
    assert entries["where"].differentiable == ("x", "y")
    assert entries["argmax"].differentiable == ()
    assert entries["logical_and"].dtypes == ("bool",)
    assert {entry.kernels for entry in entries.values()} == {()}


def test_kernels_of_a_plugin_are_listed_with_their_dtypes() -> None:
    class Hooks:
        @hookimpl
        def agog_kernels(self) -> Iterator[Kernel]:
            yield Kernel(op="square", device="cpu", fn=lambda x: x * x, dtypes=("float64", "float32"))

    ag.register_plugin(Hooks(), "stranger")
    try:
        (entry,) = [entry for entry in inventory(["stranger"]) if entry.kernels]
    finally:
        ag.unregister_plugin("stranger")
    assert entry.name == "square"
    assert entry.kernels == ("cpu (stranger: float32, float64)",)


@pytest.mark.parametrize(
    ("members", "names"),
    [
        (dtypes.ALL, ("all",)),
        (dtypes.NUMERIC_OR_BOOL, ("floats", "complex", "integers", "bool")),
        (dtypes.FLOATING - {dtypes.bfloat16}, ("float16", "float32", "float64")),
        ({dtypes.int64, dtypes.int32, dtypes.string}, ("int32", "int64", "string")),
        ((), ()),
    ],
)
def test_dtypes_are_grouped(members: Any, names: tuple[str, ...]) -> None:
    assert grouped(members) == names


def test_first_sentence_is_one_line() -> None:
    def documented() -> None:
        """Adds, as of
        old. It does more.

        And more.
        """

    assert first_sentence(documented) == "Adds, as of old."
    assert first_sentence(lambda: None) == ""
