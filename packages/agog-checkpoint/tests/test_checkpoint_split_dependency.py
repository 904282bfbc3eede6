"""Parts that are saved and restored together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import agog_core as ag
from agog_checkpoint import Checkpoint, generate_checkpoint_state_proto
from agog_checkpoint.split_dependency import split_dependency
from agog_testing import says


class Split(ag.Checkpointable):
    def __init__(self, values: Any) -> None:
        self.whole = ag.Variable(values)
        self.joined = 0
        parts = split_dependency(("first", "second"), (self.whole.dtype,) * 2, self._split, self._join)
        for name, part in parts.items():
            self._track_checkpointable(part, name=name)

    def _split(self, buffer: dict[str, Any]) -> None:
        buffer["first"], buffer["second"] = self.whole[:2], self.whole[2:]

    def _join(self, buffer: dict[str, Any]) -> None:
        self.joined += 1
        self.whole.assign(ag.concat([buffer["first"], buffer["second"]], axis=0))


def test_parts_are_saved_as_variables_and_restored_together(tmp_path: Path) -> None:
    path = Checkpoint(dep=Split([1.0, 2.0, 3.0, 4.0])).save(tmp_path / "ckpt")

    plain = ag.Checkpointable()
    plain.first, plain.second = ag.Variable([0.0, 0.0]), ag.Variable([0.0, 0.0])
    plain.whole = ag.Variable([0.0] * 4)
    Checkpoint(dep=plain).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal([plain.first, plain.second], [[1.0, 2.0], [3.0, 4.0]])

    later = Checkpoint()
    status = later.restore(path)
    later.dep = Split([0.0] * 4)
    status.assert_existing_objects_matched()
    np.testing.assert_array_equal(later.dep.whole, [1.0, 2.0, 3.0, 4.0])
    assert later.dep.joined == 1


def test_each_save_asks_anew(tmp_path: Path) -> None:
    split = Split([1.0, 2.0, 3.0, 4.0])
    checkpoint = Checkpoint(dep=split)
    checkpoint.write(tmp_path / "a")
    split.whole.assign([5.0, 6.0, 7.0, 8.0])
    path = checkpoint.write(tmp_path / "b")
    other = Split([0.0] * 4)
    Checkpoint(dep=other).restore(path)
    np.testing.assert_array_equal(other.whole, [5.0, 6.0, 7.0, 8.0])


def test_mistakes(tmp_path: Path) -> None:
    with says(ValueError, "split_dependency: there must be a dtype for each component; got 1 for 2 components."):
        split_dependency(["a", "b"], ["float32"], lambda buffer: None, lambda buffer: None)
    holder = ag.Checkpointable()
    holder.a = split_dependency(["a"], ["float32"], lambda buffer: None, lambda buffer: None)["a"]
    with says(ValueError, "split_dependency: fill_save_buffer_fn must put a tensor under each name; a is missing."):
        Checkpoint(holder=holder).write(tmp_path / "ckpt")


def test_what_a_folder_would_say() -> None:
    state = generate_checkpoint_state_proto("/runs", "/runs/c-2", ["/runs/c-1", "/runs/c-2"], [1.0, 2.0], 3.0)
    assert state == ("/runs/c-2", ["/runs/c-1", "/runs/c-2"], [1.0, 2.0], 3.0)
    relative = generate_checkpoint_state_proto("runs", "runs/c-2", ["runs/c-1"])
    assert relative == ("c-2", ["c-1", "c-2"], [], 0.0)
    with says(
        ValueError,
        "generate_checkpoint_state_proto: there must be a time for each checkpoint; got 2 times for 1 checkpoints.",
    ):
        generate_checkpoint_state_proto("/runs", "/runs/c-1", ["/runs/c-1"], [1.0, 2.0])
