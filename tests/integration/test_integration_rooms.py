"""An op's kernel and its facts stand in the room in which the core has the op."""

from __future__ import annotations

import sys

import pytest

import agog_kernels_xp
from agog_core.dispatch.op import all_ops
from agog_testing.opinfo import table

# Broadcasting is beneath all rooms of ops.
ROOMS = {
    name: op.function.__module__.removeprefix("agog_core.ops.").partition(".")[0]
    for name, op in all_ops().items()
    if op.function.__module__.startswith("agog_core.ops.")  # others bring their own facts
}
KERNELS = {op: family.partition(".")[0] for family, ops in agog_kernels_xp.COMPOSED.items() for op in ops}
FACTS = {
    info.name: name.removeprefix("agog_testing.opinfo.").partition(".")[0]
    for name, module in list(sys.modules.items())
    if name.startswith("agog_testing.opinfo.")
    for info in getattr(module, "INFOS", ())
}


def test_the_facts_are_found() -> None:
    assert sorted(FACTS) == sorted(table)


@pytest.mark.parametrize("op", sorted(ROOMS))
def test_an_op_has_one_room(op: str) -> None:
    assert FACTS[op] == ROOMS[op]
    assert KERNELS.get(op, ROOMS[op]) == ROOMS[op]
