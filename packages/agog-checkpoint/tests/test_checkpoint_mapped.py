"""Values that are restored lie in the mapped file until something is written: nothing changes under anyone."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint

SIZE = 50_000  # large enough not to be copied


@pytest.fixture(autouse=True)
def _on_the_host() -> object:
    """Other devices copy what they get."""
    with ag.device(None):
        yield


@pytest.fixture
def restored(tmp_path: Path) -> Checkpoint:
    path = Checkpoint(v=ag.Variable(np.arange(SIZE, dtype=np.float32)), small=ag.Variable([1.0, 2.0])).write(
        tmp_path / "a"
    )
    checkpoint = Checkpoint(v=ag.Variable(np.zeros(SIZE, np.float32)), small=ag.Variable([0.0, 0.0]))
    checkpoint.restore(path).assert_consumed()
    return checkpoint


def is_mapped(variable: ag.Variable) -> bool:
    """Whether no array owns the memory; one that begins at a cache line lies in another array."""
    owner = variable._current()._array
    while isinstance(owner, np.ndarray) and not owner.flags.owndata:
        owner = owner.base
    return not isinstance(owner, np.ndarray)


mapped = pytest.mark.skipif(os.name == "nt", reason="files are not mapped there")


@mapped
def test_large_values_are_not_copied(restored: Checkpoint) -> None:
    if type(restored.v._current()._array) is not np.ndarray:
        pytest.skip("the default device is not the host")
    assert is_mapped(restored.v)
    assert not is_mapped(restored.small)
    restored.v.assign_add(np.ones(SIZE, np.float32))
    assert not is_mapped(restored.v)


def test_updates_in_place_reach_neither_the_file_nor_readers(tmp_path: Path, restored: Checkpoint) -> None:
    content = (tmp_path / "a.safetensors").read_bytes()
    before = restored.v.value()
    array = restored.v.numpy()
    for step in range(3):
        restored.v.assign_add(np.ones(SIZE, np.float32))
        np.testing.assert_array_equal(restored.v.numpy(), np.arange(SIZE) + step + 1)
    for kept in (before.numpy(), array):
        np.testing.assert_array_equal(kept, np.arange(SIZE))
    assert (tmp_path / "a.safetensors").read_bytes() == content


def test_two_programs_that_restore_one_file_do_not_see_each_other(tmp_path: Path, restored: Checkpoint) -> None:
    other = Checkpoint(v=ag.Variable(np.zeros(SIZE, np.float32)), small=ag.Variable([0.0, 0.0]))
    other.restore(tmp_path / "a").assert_consumed()
    restored.v.assign_sub(np.arange(SIZE, dtype=np.float32))
    np.testing.assert_array_equal(other.v.numpy(), np.arange(SIZE))
    np.testing.assert_array_equal(restored.v.numpy(), np.zeros(SIZE))


def test_the_file_may_be_replaced_and_removed(tmp_path: Path, restored: Checkpoint) -> None:
    Checkpoint(v=ag.Variable(np.zeros(SIZE, np.float32)), small=ag.Variable([0.0, 0.0])).write(tmp_path / "a")
    np.testing.assert_array_equal(restored.v.numpy(), np.arange(SIZE))
    restored.write(tmp_path / "a")  # of the values that came from it
    np.testing.assert_array_equal(restored.v.numpy(), np.arange(SIZE))
    (tmp_path / "a.safetensors").unlink()
    np.testing.assert_array_equal(restored.v.numpy(), np.arange(SIZE))
    restored.write(tmp_path / "b")
    again = Checkpoint(v=ag.Variable(np.zeros(SIZE, np.float32)), small=ag.Variable([0.0, 0.0]))
    again.restore(tmp_path / "b").assert_consumed()
    np.testing.assert_array_equal(again.v.numpy(), np.arange(SIZE))


@pytest.mark.parametrize("how", ["assign", "assign_add"])
def test_the_mapping_ends_with_the_first_new_value(restored: Checkpoint, how: str) -> None:
    reference = weakref.ref(restored.v._current()._array)
    getattr(restored.v, how)(np.ones(SIZE, np.float32))
    gc.collect()
    assert reference() is None


def test_a_tape_keeps_the_value_that_it_saw(restored: Checkpoint) -> None:
    with ag.GradientTape() as tape:
        y = ag.reduce_sum(restored.v * restored.v)
    restored.v.assign_add(np.ones(SIZE, np.float32))
    np.testing.assert_array_equal(tape.gradient(y, restored.v).numpy(), 2 * np.arange(SIZE, dtype=np.float32))


def test_arrays_of_the_program_are_copied() -> None:
    array = np.ones(SIZE, np.float32)
    v = ag.Variable(np.zeros(SIZE, np.float32))
    Checkpoint(v=v).restore_tensors({"v": array})
    array[:] = 7.0
    np.testing.assert_array_equal(v.numpy(), np.ones(SIZE))


@mapped
def test_assigning_the_own_value_takes_it_out_of_the_file(tmp_path: Path, restored: Checkpoint) -> None:
    restored.v.assign(restored.v.numpy())
    assert not is_mapped(restored.v)
    os.truncate(tmp_path / "a.safetensors", 0)
    np.testing.assert_array_equal(restored.v.numpy(), np.arange(SIZE))
