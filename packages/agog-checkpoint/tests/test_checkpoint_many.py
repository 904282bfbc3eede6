"""Checkpoints with many keys: what each key costs does not depend on how many there are. Work is counted, not timed."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.variables.containers import List, Mapping


def calls_of(action: Callable[[], Any]) -> int:
    """How many functions are called."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def is_linear(work: Callable[[int], int]) -> bool:
    """Whether what each of 800 more objects costs is what each of 200 more costs, within a tenth."""
    work(20)  # imports
    gc.collect()  # restores of other tests that still wait would be told too
    few, more, many = work(200), work(400), work(1200)
    return (many - more) / 800 < 1.1 * (more - few) / 200


def variables(count: int, start: float = 0.0) -> list[ag.Variable]:
    return [ag.Variable(np.float32(start + number)) for number in range(count)]


def test_saves_and_restores_are_linear(tmp_path: Path) -> None:
    def save(count: int) -> int:
        return calls_of(lambda: Checkpoint(v=variables(count)).write(tmp_path / str(count)))

    def restore(count: int) -> int:
        return calls_of(lambda: Checkpoint(v=variables(count)).restore(tmp_path / str(count)).assert_consumed())

    assert is_linear(save)
    assert is_linear(restore)


def test_what_a_key_costs(tmp_path: Path) -> None:
    """In calls of functions, on the host, without a device's own copies; twice as many would take seconds more where
    there are 100,000 keys.
    """

    def calls(count: int) -> np.ndarray[Any, Any]:
        with ag.device("cpu:0"):
            checkpoint = Checkpoint(v=variables(count))
        saving = calls_of(lambda: checkpoint.write(tmp_path / "a"))
        return np.array([saving, calls_of(lambda: checkpoint.restore(tmp_path / "a"))])

    calls(20)  # imports
    save, restore = (calls(600) - calls(200)) / 400
    assert save < 55
    assert restore < 130


def test_nobody_looks_for_cycles_among_the_keys(tmp_path: Path) -> None:
    """That would go through all keys again and again: a cost per key that grows."""
    checkpoint = Checkpoint(v=variables(3000))
    seen: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        seen.append(info["generation"])

    gc.collect()
    gc.callbacks.append(note)
    threshold = gc.get_threshold()
    gc.set_threshold(100, 2, 2)
    try:
        path = checkpoint.write(tmp_path / "a")
        saving = len(seen)
        checkpoint.v[0].assign(7.0)
        seen.clear()
        status = checkpoint.restore(path)
        found = len(seen)
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(note)
    assert saving < 50
    assert found < 5
    assert gc.isenabled()
    status.assert_consumed()
    assert float(checkpoint.v[0]) == 0.0


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(tmp_path: Path, enabled: bool) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).write(tmp_path / "a")
    (gc.enable if enabled else gc.disable)()
    try:
        Checkpoint(v=ag.Variable(0.0)).restore(path)
        with pytest.raises(ValueError, match="does not fit"):
            Checkpoint(v=ag.Variable([0.0])).restore(path)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_variables_made_one_by_one_are_linear(tmp_path: Path) -> None:
    def by_attribute(count: int) -> int:
        owner = ag.Checkpointable()
        for number, variable in enumerate(variables(count, 1.0)):
            setattr(owner, f"v{number}", variable)
        path = Checkpoint(owner=owner).write(tmp_path / "attributes")
        later = ag.Checkpointable()
        status = Checkpoint(owner=later).restore(path)

        def make() -> None:
            for number in range(count):
                setattr(later, f"v{number}", ag.Variable(np.float32(0)))
                assert float(getattr(later, f"v{number}")) == 1.0 + number

        calls = calls_of(make)
        status.assert_consumed()
        return calls

    def by_list(count: int) -> int:
        path = Checkpoint(v=variables(count, 1.0)).write(tmp_path / "list")
        later = List()
        status = Checkpoint(v=later).restore(path)

        def make() -> None:
            for number in range(count):
                later.append(ag.Variable(np.float32(0)))
                assert float(later[number]) == 1.0 + number

        calls = calls_of(make)
        status.assert_consumed()
        return calls

    def by_object(count: int) -> int:
        path = Checkpoint(**{f"v{n}": Checkpoint(w=variable) for n, variable in enumerate(variables(count))}).write(
            tmp_path / "objects"
        )
        later = Checkpoint()
        status = later.restore(path)

        def make() -> None:
            for number in range(count):
                part = ag.Checkpointable()
                setattr(later, f"v{number}", part)
                part.w = ag.Variable(np.float32(-1))
                assert float(part.w) == number

        calls = calls_of(make)
        status.expect_partial()
        return calls

    assert is_linear(by_attribute)
    assert is_linear(by_list)
    assert is_linear(by_object)


def test_nothing_of_all_variables_is_copied_for_one_that_comes(tmp_path: Path) -> None:
    """A set of 3,000 numbers takes 128 kB, and copying one calls no function that could be counted."""
    path = Checkpoint(v=variables(3000, 1.0)).write(tmp_path / "a")
    later = List()
    status = Checkpoint(v=later).restore(path)
    *most, last = variables(3000)
    for variable in most:
        later.append(variable)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        later.append(last)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 50_000
    status.assert_consumed()
    assert float(last) == 3000.0


def test_what_is_appended_to_a_tracked_list_gets_its_value(tmp_path: Path) -> None:
    path = Checkpoint(parts=List(variables(7, 1.0)), named=Mapping(a=ag.Variable(9.0), b=ag.Variable(8.0))).write(
        tmp_path / "a"
    )
    parts, named = List(variables(1)), Mapping()
    status = Checkpoint(parts=parts, named=named).restore(path)
    parts.append(ag.Variable(0.0))
    assert float(parts[1]) == 2.0
    parts.extend(variables(2))
    parts += variables(1)
    assert [float(part) for part in parts] == [1.0, 2.0, 3.0, 4.0, 5.0]
    parts.insert(5, ag.Variable(0.0))
    parts.append(None)
    parts[6] = ag.Variable(0.0)
    assert [float(part) for part in parts] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    named["a"] = ag.Variable(0.0)
    assert float(named["a"]) == 9.0
    named.update(b=ag.Variable(0.0))
    assert float(named["b"]) == 8.0
    status.assert_consumed()


def test_a_report_names_no_key_twice(tmp_path: Path) -> None:
    path = Checkpoint(plain=variables(2, 1.0)).write(tmp_path / "a")
    plain: list[ag.Variable] = []
    status = Checkpoint(plain=plain).restore(path)
    plain += variables(2)
    assert repr(status) == f"<CheckpointLoadStatus of {path!r}\n  matched (2): plain/0, plain/1>"
    assert [float(part) for part in plain] == [1.0, 2.0]


def test_a_plain_list_is_looked_at_when_another_part_comes(tmp_path: Path) -> None:
    path = Checkpoint(plain=variables(2, 1.0), v=ag.Variable(5.0)).write(tmp_path / "a")
    checkpoint = Checkpoint(plain=[])
    status = checkpoint.restore(path)
    checkpoint.plain.append(ag.Variable(0.0))
    checkpoint.v = ag.Variable(0.0)
    assert [float(checkpoint.plain[0]), float(checkpoint.v)] == [1.0, 5.0]
    status.expect_partial()
