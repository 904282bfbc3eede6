"""Initial values of variables from checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agog_checkpoint import Checkpoint, Saver
from agog_core import Variable
from agog_layers.naming.variable_store import EagerVariableStore
from agog_layers.tf_layers.variable_scope import get_variable, variable_scope
from agog_testing import says
from agog_training.initialization import init_from_checkpoint


@pytest.fixture
def saved(tmp_path: Path) -> str:
    return Saver({"old/a": Variable(1.0), "old/deep/b": Variable([2.0, 3.0]), "c": Variable(4)}).save(tmp_path / "ckpt")


@pytest.fixture
def store() -> EagerVariableStore:
    made = EagerVariableStore()
    with made.as_default(), variable_scope("new"):
        get_variable("a", initializer=0.0)
        with variable_scope("deep"):
            get_variable("b", initializer=[0.0, 0.0])
    return made


def test_variables(tmp_path: Path, saved: str) -> None:
    a, other, c = Variable(0.0), Variable(0.0), Variable(0)
    init_from_checkpoint(saved, {"old/a": a, "c": [c]})
    init_from_checkpoint(tmp_path, {"old/a": other})  # the newest of the folder
    assert (float(a), int(c), float(other)) == (1.0, 4, 1.0)


def test_names_and_scopes(saved: str, store: EagerVariableStore) -> None:
    with store.as_default():
        init_from_checkpoint(saved, {"old/": "new/"})
        assert float(store.by_name["new/a"]) == 1.0
        assert store.by_name["new/deep/b"].numpy().tolist() == [2.0, 3.0]
        store.by_name["new/a"].assign(0.0)
        init_from_checkpoint(saved, {"old/a": "new/a"})
        assert float(store.by_name["new/a"]) == 1.0


def test_the_whole_checkpoint(tmp_path: Path, store: EagerVariableStore) -> None:
    path = Checkpoint(a=Variable(5.0), deep={"b": Variable([6.0, 7.0])}).write(tmp_path / "c")
    with store.as_default():
        init_from_checkpoint(path, {"/": "new/"})
    assert float(store.by_name["new/a"]) == 5.0
    assert store.by_name["new/deep/b"].numpy().tolist() == [6.0, 7.0]


def test_errors_change_nothing(saved: str, store: EagerVariableStore) -> None:
    good, wide, whole = Variable(9.0, name="good"), Variable([0.0], name="wide"), Variable(0, name="whole")
    keys = "its keys are c, old/a, old/deep/b"
    cases: list[tuple[Any, type[Exception], str]] = [
        (
            {"old/a": good, "d": wide},
            ValueError,
            f"init_from_checkpoint: tensor 'd' is not in checkpoint {saved!r}; {keys}.",
        ),
        (
            {"old/a": good, "c": wide},
            ValueError,
            "init_from_checkpoint: Shapes (1,) and () are incompatible: variable 'wide:0' has the first, 'c' in the "
            "checkpoint the second.",
        ),
        (
            {"c": whole, "old/a": whole},
            ValueError,
            "init_from_checkpoint: Dtypes int32 and float32 are incompatible: variable 'whole:0' has the first, "
            "'old/a' in the checkpoint the second.",
        ),
        (
            {"old/a": "new/z"},
            ValueError,
            "init_from_checkpoint: there is no variable 'new/z'; the store has new/a, new/deep/b.",
        ),
        (
            {"old/": "newer/"},
            ValueError,
            "init_from_checkpoint: no variable is in the scope 'newer/'; the store has new/a, new/deep/b.",
        ),
        (
            {"old/a": "new/"},
            ValueError,
            "init_from_checkpoint: 'new/' is a scope, so 'old/a' must be one of the checkpoint, which ends with '/'.",
        ),
        (
            {"c/": "new/"},
            ValueError,
            f"init_from_checkpoint: tensor 'c/a' is not in checkpoint {saved!r}; {keys}.",
        ),
        (
            {"c": 3},
            TypeError,
            "init_from_checkpoint: assignment_map must go from names in the checkpoint to variables or names; got "
            "'c': 3.",
        ),
    ]
    for assignment_map, kind, text in cases:
        with store.as_default(), says(kind, text):
            init_from_checkpoint(saved, assignment_map)
    assert (float(good), int(whole)) == (9.0, 0)
    with says(
        ValueError,
        "init_from_checkpoint: variables are found by name only in a tfe.EagerVariableStore; call this inside of `with "
        "store.as_default():`, or give the variables themselves.",
    ):
        init_from_checkpoint(saved, {"old/a": "new/a"})
