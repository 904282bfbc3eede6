"""Checkpoints by the names of variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Saver, latest_checkpoint, load_variable, restore_variables_on_create
from agog_core.errors import NotFoundError, UnimplementedError
from agog_testing import says


def variables(value: float = 0.0) -> Any:
    return [
        ag.Variable([1.0 + value, 2.0], name="net/dense/kernel"),
        ag.Variable(3 + int(value), name="step"),
        ag.Variable(1j + value, name="net/z", dtype="complex64"),
    ]


def test_values_go_round(tmp_path: Path) -> None:
    saved, restored = variables(), variables(5.0)
    path = Saver(saved).save(tmp_path / "ckpt")
    assert path == str(tmp_path / "ckpt")
    Saver(restored).restore(path)
    for one, two in zip(saved, restored, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())


def test_names_are_the_keys_of_the_file(tmp_path: Path) -> None:
    path = Saver(variables()[:2]).save(tmp_path / "ckpt")
    content = Path(f"{path}.safetensors").read_bytes()
    assert b'"net/dense/kernel":{' in content
    assert b'"step":{' in content


def test_other_names(tmp_path: Path) -> None:
    first, second = ag.Variable(1.0, name="v"), ag.Variable(2.0, name="v")
    path = Saver({"a": first, "b": second}).save(tmp_path / "ckpt", global_step=ag.Variable(7))
    assert path == str(tmp_path / "ckpt-7")
    Saver({"a": second, "b": first}).restore(path)
    assert (float(first), float(second)) == (2.0, 1.0)


def test_one_variable_may_come_twice(tmp_path: Path) -> None:
    v = ag.Variable(1.0, name="v")
    Saver([v, v]).save(tmp_path / "ckpt")


def test_the_newest_are_kept(tmp_path: Path) -> None:
    v = ag.Variable(0.0, name="v")
    saver = Saver([v], max_to_keep=2)
    for step in (1, 2, 3, 2):
        saver.save(tmp_path / "c", global_step=step)
    assert sorted(path.name for path in tmp_path.glob("c-*")) == ["c-2.safetensors", "c-3.safetensors"]
    assert latest_checkpoint(tmp_path) == str(tmp_path / "c-2")
    many = Saver([v], max_to_keep=None)
    for step in range(8):
        many.save(tmp_path / "m", global_step=step)
    assert len(list(tmp_path.glob("m-*"))) == 8


def test_errors_change_nothing(tmp_path: Path) -> None:
    v, w = ag.Variable(1.0, name="v"), ag.Variable(5.0, name="w")
    path = Saver([v]).save(tmp_path / "c")
    v.assign(2.0)
    wide = ag.Variable([1.0, 2.0], name="v")
    whole, words = ag.Variable(7, name="w"), ag.Variable("x", name="s")
    both = Saver([v, w]).save(tmp_path / "both")
    v.assign(2.5)
    cases: list[tuple[type[Exception], Any, str]] = [
        (
            RuntimeError,
            Saver,
            "Saver needs var_list when eager execution is enabled: there is no collection of all variables. Pass "
            "model.variables; or use tf.train.Checkpoint(model=model, optimizer=optimizer), which saves all that these "
            "objects hold.",
        ),
        (
            NotFoundError,
            lambda: Saver([v, w]).restore(path),
            "Saver.restore: Key w not found in checkpoint; its keys are v.",
        ),
        (
            ValueError,
            lambda: Saver([wide]).restore(path),
            "Saver.restore: Shapes (2,) and () are incompatible: variable 'v:0' has the first, 'v' in the checkpoint "
            "the second.",
        ),
        (
            ValueError,
            lambda: Saver([v, wide]).save(path),
            "Saver: at least two variables have the same name: v; pass a dict from names to variables.",
        ),
        (
            ValueError,
            lambda: Saver([v, whole]).restore(both),
            "Saver.restore: Dtypes int32 and float32 are incompatible: variable 'w:0' has the first, 'w' in the "
            "checkpoint the second.",
        ),
        (
            TypeError,
            lambda: Saver([v, 3]),
            "Saver: var_list must be a list of variables, or a dict from names to variables, but holds 3 of type int.",
        ),
        (
            TypeError,
            lambda: Saver({"v": 1.5}),
            "Saver: var_list must be a list of variables, or a dict from names to variables, but holds 1.5 of type "
            "float.",
        ),
        (
            ValueError,
            lambda: Saver({"__metadata__": v}).save(path),
            "Checkpoint: a variable's name must be a string other than '__metadata__', which safetensors keeps for "
            "itself; got '__metadata__' for variable 'v:0'.",
        ),
        (
            ValueError,
            lambda: Saver({3: v}).save(path),
            "Checkpoint: a variable's name must be a string other than '__metadata__', which safetensors keeps for "
            "itself; got 3 for variable 'v:0'.",
        ),
        (
            UnimplementedError,
            lambda: Saver([v, words]).save(path),
            "Checkpoint: variable 's:0' has dtype string and shape (), but a safetensors file holds numbers only; "
            "leave it out.",
        ),
    ]
    for kind, use, text in cases:
        with says(kind, text):
            use()
    assert float(v) == 2.5
    assert load_variable(path, "v") == 1.0


def test_variables_take_values_as_they_are_made(tmp_path: Path) -> None:
    path = Saver([ag.Variable([1.0, 2.0], name="a/v"), ag.Variable(3.0, name="w")]).save(tmp_path / "c")
    with restore_variables_on_create(path, map_func=lambda name: name.replace("b/", "a/")):
        v = ag.Variable([0.0, 0.0], name="b/v")
        with pytest.raises(NotFoundError) as twice:
            ag.Variable([0.0, 0.0], name="b/v")
        with pytest.raises(ValueError, match=r".") as shape:
            ag.Variable([0.0], name="w")
    assert v.numpy().tolist() == [1.0, 2.0]
    assert str(twice.value) == "restore_variables_on_create: Key a/v not found in checkpoint; its keys are w."
    assert str(shape.value) == (
        "restore_variables_on_create: Shapes (1,) and () are incompatible: variable 'w:0' has the first, 'w' in the "
        "checkpoint the second."
    )
    assert float(ag.Variable(0.0, name="w")) == 0.0
    with restore_variables_on_create(None):
        assert float(ag.Variable(5.0, name="w")) == 5.0


def test_a_map_that_is_no_function(tmp_path: Path) -> None:
    path = Saver(variables()).save(tmp_path / "ckpt")
    with (
        says(
            ValueError,
            "restore_variables_on_create: map_func must be a function of a variable's name, or None; got {'a': 'b'}.",
        ),
        restore_variables_on_create(path, {"a": "b"}),  # type: ignore[arg-type]
    ):
        pass
