"""Errors: wrong arguments, processes that do not do the same, launchers without anything that connects."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_core.errors import AbortedError, FailedPreconditionError, InvalidArgumentError
from agog_distribute import Group
from agog_distribute.faults import agreement
from agog_distribute.processes import groups


def line_of(mark: str) -> int:
    """The line of this file that ends with a mark."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()  # type: ignore[arg-type]
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: distribute.all_reduce([1.0], "or"),
            "all_reduce: reduction must be 'sum', 'mean', 'max', 'min'; got 'or'.",
        ),
        (
            lambda: distribute.all_reduce([1], "mean"),
            "all_reduce: a mean of int32 is no int32; cast x to a float, or sum.",
        ),
        (
            lambda: distribute.all_reduce(np.complex64([1j]), "max"),
            "all_reduce: complex numbers have no max; got x of complex64.",
        ),
        (
            lambda: distribute.reduce_scatter([1.0], "max"),
            "reduce_scatter: reduction must be 'sum', 'mean'; got 'max'.",
        ),
        (
            lambda: distribute.all_gather(1.0),
            "all_gather: x must have an axis along which tensors can be joined; got a scalar.",
        ),
        (
            lambda: distribute.all_to_all(1.0),
            "all_to_all: x must have a first axis that 1 processes can divide; got shape ().",
        ),
        (lambda: distribute.broadcast([1.0], 1), "broadcast: root must be a rank from 0 to 0; got 1."),
        (
            lambda: distribute.new_group([0, 0]),
            "new_group: ranks must be some of the numbers 0 to 0, each at most once; got [0, 0].",
        ),
        (
            lambda: distribute.new_group([]),
            "new_group: ranks must be some of the numbers 0 to 0, each at most once; got [].",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, text: str) -> None:
    with pytest.raises(InvalidArgumentError) as failure:
        call()
    assert str(failure.value) == text


def test_parts_that_do_not_divide_are_refused(together: Any) -> None:
    for error in together(2, lambda group: distribute.reduce_scatter(ag.ones([3]), "sum", group)):
        assert isinstance(error, InvalidArgumentError)
        assert str(error) == "reduce_scatter: x must have a first axis that 2 processes can divide; got shape (3,)."


def test_unlike_shapes_are_told_to_all(together: Any) -> None:
    def reduced(group: Group) -> Any:
        return distribute.all_reduce(ag.ones([3 + group.rank]), "sum", group)  # unlike shapes

    place = f"{__file__}:{line_of('unlike shapes')}"
    for error in together(2, reduced):
        assert isinstance(error, AbortedError)
        assert str(error) == (
            "all_reduce (reduction='sum'): the processes are not about to do the same:\n"
            f"  rank 0: all_reduce (reduction='sum') of float32 (3,), the 1st collective, at {place}\n"
            f"  rank 1: all_reduce (reduction='sum') of float32 (4,), the 1st collective, at {place}"
        )


def test_another_order_is_told_to_all(together: Any) -> None:
    def reduced(group: Group) -> Any:
        if group.rank:
            return distribute.all_reduce([1.0], "sum", group)  # here
        return distribute.all_reduce([2.0], "sum", group)  # there

    for error in together(2, reduced):
        assert isinstance(error, AbortedError)
        lines = str(error).splitlines()[1:]
        assert lines[0].endswith(f"{__file__}:{line_of('there')}")
        assert lines[1].endswith(f"{__file__}:{line_of('here')}")


def test_a_collective_more_is_told_to_all(together: Any) -> None:
    def reduced(group: Group) -> Any:
        for _ in range(2 - group.rank):
            distribute.all_reduce([1.0], "sum", group)
        if group.rank:
            distribute.barrier(group)
        return None

    for error in together(2, reduced):
        assert isinstance(error, AbortedError)
        assert "rank 1: barrier, the 2nd collective" in str(error)
        assert "rank 0: all_reduce (reduction='sum') of float32 (1,), the 2nd collective" in str(error)


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th"), (121, "121st")]
)
def test_counts_are_written_as_they_are_read(count: int, text: str) -> None:
    assert agreement._ordinal(count) == text


def test_a_launched_program_that_nothing_connects_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setattr(groups, "collective_of", lambda device: None)
    monkeypatch.setattr(groups, "explain_collectives", lambda device: "collectives on device 'cpu':\n  none")
    with pytest.raises(FailedPreconditionError) as failure:
        groups._connected()
    assert str(failure.value) == (
        "agog_distribute: PMI_SIZE=4 says that this program was launched in several processes, and nothing connects "
        "them: `python -m pip install 'agog-mpi[mpich]'`.\ncollectives on device 'cpu':\n  none"
    )


def test_one_process_needs_nothing_that_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "collective_of", lambda device: None)
    assert groups._connected().size == 1
