"""Restores of models whose layers are made one by one: what each costs does not depend on how many there are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog as tf


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


def build(owner: Any, count: int, make: Callable[[], Any]) -> None:
    for number in range(count):
        layer = make()
        setattr(owner, f"layer{number}", layer)
        layer(tf.ones([1, 2]))


MAKERS: dict[str, Callable[[], Any]] = {
    "layers": lambda: tf.keras.layers.Dense(2, kernel_initializer="ones"),
    "models": lambda: tf.keras.Sequential([tf.keras.layers.Dense(2)]),
    "tracker": lambda: tf.keras.layers.Dense(2, kernel_initializer="ones"),
}


class Tracker(tf.contrib.checkpoint.UniqueNameTracker):
    """Holds what is assigned, as other owners do."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("layer"):
            self.track(value, name)
        else:
            super().__setattr__(name, value)


@pytest.mark.parametrize("kind", MAKERS)
def test_layers_made_one_by_one_are_linear(kind: str, tmp_path: Path) -> None:
    owner_of = Tracker if kind == "tracker" else tf.keras.Model

    def restored(count: int) -> int:
        saved = owner_of()
        build(saved, count, MAKERS[kind])
        path = tf.train.Checkpoint(model=saved).write(str(tmp_path / "a"))
        later = owner_of()
        status = tf.train.Checkpoint(model=later).restore(path)
        calls = calls_of(lambda: build(later, count, MAKERS[kind]))
        status.assert_consumed()
        return calls

    restored(5)  # imports
    few, more, many = restored(10), restored(20), restored(60)
    assert (many - more) / 40 < 1.1 * (more - few) / 10


def test_an_owner_that_tells_of_all_its_parts_only(tmp_path: Path) -> None:
    """It is looked at whenever something is new."""

    class Owner(tf.contrib.checkpoint.Checkpointable):
        def __init__(self) -> None:
            self.__dict__["parts"] = {}

        def checkpoint_dependencies(self) -> dict[str, Any]:
            return dict(self.parts)

    saved, later = Owner(), Owner()
    saved.parts["a"] = tf.Variable(1.0)
    path = tf.train.Checkpoint(owner=saved, layer=tf.train.Checkpoint(v=tf.Variable(2.0))).write(str(tmp_path / "a"))
    layer = tf.train.Checkpoint()
    status = tf.train.Checkpoint(owner=later, layer=layer).restore(path)
    later.parts["a"] = tf.Variable(0.0)
    layer.v = tf.Variable(0.0)
    assert float(later.parts["a"]) == 1.0
    assert float(layer.v) == 2.0
    status.assert_consumed()
