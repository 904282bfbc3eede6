"""Modules: their variables, the modules in them, and their names."""

from __future__ import annotations

import agog_core as ag
from agog_core import Module
from agog_testing import says


class Inner(Module):
    def __init__(self) -> None:
        super().__init__(name="inner")
        self.v = ag.Variable(1.0)


class Outer(Module):
    def __init__(self) -> None:
        super().__init__()
        self.late = ag.Variable(1.0, name="late")
        self.fixed = ag.Variable(2.0, trainable=False)
        self.parts = [Inner(), {"key": Inner()}]
        self.again = self.parts[0]


def test_modules_know_their_variables() -> None:
    outer = Outer()
    first, second = outer.parts[0], outer.parts[1]["key"]  # type: ignore[index]
    assert list(map(id, outer.variables)) == [id(v) for v in (first.v, outer.fixed, outer.late, second.v)]  # type: ignore[union-attr]
    assert outer.non_trainable_variables == (outer.fixed,)
    assert len(outer.trainable_variables) == 3
    assert list(map(id, outer.submodules)) == [id(first), id(second)]
    assert (outer.name, first.name, type("HTTPServer2", (Module,), {})().name) == ("outer", "inner", "http_server2")  # type: ignore[union-attr]
    assert sorted(outer.checkpoint_dependencies()) == ["again", "fixed", "late", "parts"]


def test_modules_in_a_circle() -> None:
    one, other = Inner(), Inner()
    one.other, other.one = other, one  # type: ignore[attr-defined]
    assert len(one.variables) == 2
    assert one.submodules == (other,)


def test_names_of_modules() -> None:
    with says(ValueError, "Module: name must be an identifier of Python; got 'a/b'."):
        Module(name="a/b")
