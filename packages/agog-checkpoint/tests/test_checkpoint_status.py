"""The answer of a restore."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointWarning, load_variable
from agog_core.errors import NotFoundError
from agog_testing import says


class Position(ag.Checkpointable):
    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": 1}


def save(folder: Path, **objects: Any) -> str:
    return Checkpoint(**objects).write(folder / "a")


def test_report(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=[ag.Variable(2.0)], c=Position())
    checkpoint = Checkpoint(a=ag.Variable(0.0), d=Position(), e=ag.Variable(0.0))
    status = checkpoint.restore(path)
    assert repr(status) == (
        f"<CheckpointLoadStatus of {path!r}\n"
        "  matched (1): a\n"
        "  deferred until an object is created (2): c/.state, b/0\n"
        "  objects without a value in the file (2): d/.state, e>"
    )
    checkpoint.b = [ag.Variable(0.0)]
    checkpoint.c = Position()
    assert "deferred" not in repr(status)


def test_report_of_what_does_not_fit(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0))
    checkpoint = Checkpoint()
    status = checkpoint.restore(path)
    with pytest.raises(ValueError, match="incompatible"):
        checkpoint.a = ag.Variable([1.0])
    assert repr(status) == (
        f"<CheckpointLoadStatus of {path!r}\n"
        "  values in the file without an object (1): a\n"
        "  objects without a value in the file (1): a>"
    )


def test_long_reports_are_cut(tmp_path: Path) -> None:
    path = save(tmp_path, v=[ag.Variable(1.0) for _ in range(25)])
    status = Checkpoint(v=[ag.Variable(0.0) for _ in range(25)]).restore(path)
    names = ", ".join(f"v/{number}" for number in range(20))
    assert repr(status) == f"<CheckpointLoadStatus of {path!r}\n  matched (25): {names}, and 5 more>"


def test_assert_consumed(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0), c=Position())
    checkpoint = Checkpoint(a=ag.Variable(0.0), d=ag.Variable(0.0))
    status = checkpoint.restore(path)
    with says(
        AssertionError,
        f"assert_consumed: checkpoint {path!r} and the program's objects do not match.\n"
        "  values in the file without an object (2): b, c/.state\n"
        "  objects without a value in the file (1): d",
    ):
        status.assert_consumed()
    del checkpoint.d
    checkpoint.b, checkpoint.c = ag.Variable(0.0), Position()
    assert status.assert_consumed() is status


def test_assert_existing_objects_matched(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0))
    checkpoint = Checkpoint(a=ag.Variable(0.0))
    status = checkpoint.restore(path)
    with pytest.warns(CheckpointWarning) as caught:
        assert status.assert_existing_objects_matched() is status
    assert [str(warning.message) for warning in caught] == [
        f"Checkpoint {path!r} has values that no object of the program has asked for: 'b'."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        status.assert_existing_objects_matched()  # said once
        checkpoint.c = Position()
        with pytest.raises(AssertionError) as raised:
            status.assert_existing_objects_matched()
    assert str(raised.value) == (
        f"assert_existing_objects_matched: checkpoint {path!r} lacks values of the program's objects.\n"
        "  objects without a value in the file (1): c/.state"
    )


def test_objects_with_nothing_to_save_are_not_missed(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), old=ag.Checkpointable(), empty=[])
    checkpoint = Checkpoint(a=ag.Variable(0.0), new=ag.Checkpointable())
    checkpoint.restore(path).assert_consumed()


def test_one_value_cannot_be_two_variables(tmp_path: Path) -> None:
    shared = ag.Variable(1.0)
    path = save(tmp_path, a=shared, b=shared)
    checkpoint = Checkpoint(a=ag.Variable(0.0), b=ag.Variable(0.0))
    with says(
        ValueError,
        f"Checkpoint {path!r} does not fit the program's objects; nothing was changed.\n"
        "  'b': the checkpoint has the same object at 'a', the program has two",
    ):
        checkpoint.restore(path)
    assert (float(checkpoint.a), float(checkpoint.b)) == (0.0, 0.0)
    checkpoint.restore(path, mapping={"a": "a", "b": "a"}).assert_consumed()
    assert (float(checkpoint.a), float(checkpoint.b)) == (1.0, 1.0)


def test_one_variable_cannot_have_two_values(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0))
    shared = ag.Variable(0.0)
    checkpoint = Checkpoint(a=shared, b=shared)
    with says(
        ValueError,
        f"Checkpoint {path!r} does not fit the program's objects; nothing was changed.\n"
        "  'b': the checkpoint has another object at 'a', the program has the same",
    ):
        checkpoint.restore(path)
    assert float(shared) == 0.0
    checkpoint.restore(path, skip="b")
    assert float(shared) == 1.0


class Pair(ag.Checkpointable):
    def __init__(self, value: float) -> None:
        self.value = ag.Variable(value)


def test_two_objects_of_a_checkpoint_are_not_one(tmp_path: Path) -> None:
    two, one = {"a": Pair(1.0), "b": Pair(2.0)}, Pair(3.0)
    checkpoint = Checkpoint(**two)
    path = checkpoint.write(tmp_path / "two")
    shared = Checkpoint(a=one, b=one)
    with pytest.raises(ValueError, match=r"'b/value': the checkpoint has another object at 'a/value', .* same$"):
        shared.restore(path)
    assert float(one.value) == 3.0
    path = shared.write(tmp_path / "one")
    with pytest.raises(ValueError, match=r"'b': the checkpoint has the same object at 'a', the program has two$"):
        checkpoint.restore(path)
    assert (float(checkpoint.a.value), float(checkpoint.b.value)) == (1.0, 2.0)


def test_two_objects_of_a_checkpoint_whose_parts_complement_each_other_may_be_one(tmp_path: Path) -> None:
    one, two = ag.Checkpointable(), ag.Checkpointable()
    one.first, two.second = ag.Variable(32.0), ag.Variable(64.0)
    path = save(tmp_path, a=one, b=two)
    both = ag.Checkpointable()
    both.first, both.second = ag.Variable(0.0), ag.Variable(0.0)
    Checkpoint(a=both, b=both).restore(path).assert_consumed()
    assert (float(both.first), float(both.second)) == (32.0, 64.0)

    later = ag.Checkpointable()
    checkpoint = Checkpoint(a=later, b=later)
    status = checkpoint.restore(path)
    later.second = ag.Variable(0.0)
    assert float(later.second) == 64.0
    later.first = ag.Variable(0.0)
    assert float(later.first) == 32.0
    status.assert_consumed()


def test_an_object_with_state_is_not_two(tmp_path: Path) -> None:
    path = save(tmp_path, a=Position(), b=Position())
    position = Position()
    with pytest.raises(ValueError, match=r"'b': the checkpoint has another object at 'a', the program has the same$"):
        Checkpoint(a=position, b=position).restore(path)


def test_another_object_may_take_the_place_of_a_restored_one(tmp_path: Path) -> None:
    path = Checkpoint(a=Pair(1.0)).write(tmp_path / "one")
    checkpoint = Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.a = Pair(0.0)
    checkpoint.a = Pair(5.0)
    assert float(checkpoint.a.value) == 5.0
    status.expect_partial()


def test_expect_partial_keeps_warnings_away(tmp_path: Path) -> None:
    path = Checkpoint(a=ag.Variable(1.0), b=ag.Variable(2.0)).write(tmp_path / "c")
    status = Checkpoint(a=ag.Variable(0.0)).restore(path)
    assert status.expect_partial() is status
    del status
    gc.collect()  # a warning would be an error here
    nothing = Checkpoint(a=ag.Variable(0.0)).restore(None)
    assert nothing.expect_partial() is nothing


def test_the_checkpoint_is_kept_by_its_status(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0))
    a = ag.Variable(0.0)
    with pytest.raises(AssertionError, match=r"without an object \(1\): b$"):
        Checkpoint(a=a).restore(path).assert_consumed()


def test_a_dropped_checkpoint_names_what_nobody_asked_for(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0), c=Position())
    with pytest.warns(CheckpointWarning) as caught:
        Checkpoint(a=ag.Variable(0.0)).restore(path)
    assert [str(warning.message) for warning in caught] == [
        f"Checkpoint {path!r} has values that no object of the program has asked for: 'b', 'c/.state'."
    ]


def test_the_end_of_the_program_names_what_nobody_asked_for(tmp_path: Path) -> None:
    path = save(tmp_path, a=ag.Variable(1.0), b=ag.Variable(2.0))
    code = (
        "import agog_core as ag; from agog_checkpoint import Checkpoint; "
        f"c = Checkpoint(a=ag.Variable(0.0)); c.restore({path!r})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        f"CheckpointWarning: Checkpoint {path!r} has values that no object of the program has asked for: 'b'."
        in result.stderr
    )


def test_initialize_or_restore_looks_again(tmp_path: Path) -> None:
    path = save(tmp_path, v=[ag.Variable(1.0)])
    checkpoint = Checkpoint(v=[])
    status = checkpoint.restore(path)
    checkpoint.v.append(ag.Variable(0.0))
    status.initialize_or_restore()
    assert float(checkpoint.v[0]) == 1.0


def test_assert_nontrivial_match(tmp_path: Path) -> None:
    path = Checkpoint(a=ag.Variable(1.0), b=Position()).save(tmp_path / "a")
    checkpoint = Checkpoint(c=ag.Variable(0.0))
    status = checkpoint.restore(path)
    with says(
        AssertionError,
        f"assert_nontrivial_match: nothing of checkpoint {path!r} has found an object.\n"
        "  values in the file without an object (2): a, b/.state\n"
        "  objects without a value in the file (1): c",
    ):
        status.assert_nontrivial_match()
    checkpoint.a = ag.Variable(0.0)
    assert status.assert_nontrivial_match() is status
    status.expect_partial()
    with pytest.raises(AssertionError, match=r"^No checkpoint specified"):
        checkpoint.restore(None).assert_nontrivial_match()


def test_warnings_and_errors_of_many_values_are_short(tmp_path: Path) -> None:
    path = save(tmp_path, v=[ag.Variable(1.0) for _ in range(30)])
    names = [f"v/{number}" for number in range(20)]
    with pytest.warns(CheckpointWarning) as warned:
        Checkpoint().restore(path)
    assert str(warned[0].message) == (
        f"Checkpoint {path!r} has values that no object of the program has asked for: "
        f"{', '.join(map(repr, names))}, and 10 more."
    )
    known = ", ".join(sorted(f"v/{number}" for number in range(30))[:20])
    with says(NotFoundError, f"Key w not found in checkpoint {path!r}; its keys are {known}, and 10 more."):
        load_variable(path, "w")
    with says(
        ValueError, f"restore: only has 'w', which matches nothing in checkpoint {path!r}; it has {known}, and 10 more."
    ):
        Checkpoint().restore(path, only="w")
