"""Kinds of steps: each is written and described, and each that groups are made of is a primitive or a view."""

from __future__ import annotations

import re

from agog_core.compiler import Primitive
from agog_cpu_executor.emission.steps import _WRITERS
from agog_cpu_executor.program.description import function_of
from agog_cpu_executor.program.kinds import FUSIBLE, OF_UFUNC, ON_HOST, Kind
from agog_cpu_executor.program.steps import Step


def test_each_kind_is_written() -> None:
    assert set(_WRITERS) == set(Kind)


def test_groups_are_made_of_primitives_and_views() -> None:
    assert Primitive.__doc__ is not None
    said = Primitive.__doc__.partition("name:")[0]
    primitives = set(re.findall(r'``"(\w+)"``', said))
    assert {kind.value for kind in FUSIBLE - {Kind.VIEW}} | {"bits"} == primitives


def test_kinds_are_described_in_words() -> None:
    plain = set(Kind) - OF_UFUNC - {Kind.GROUP, Kind.FUNCTION}
    words = {kind: function_of(Step(kind, (), "reshape")) for kind in plain}
    assert words[Kind.VIEW] == "a view, by reshape"
    assert words[Kind.MATMUL] == "numpy.matmul"
    assert {words[kind] for kind in ON_HOST} == {"arithmetic of the host"}
    assert words[Kind.PUT] == "a copy into a part"
