"""Lists and dicts of layers: their variables, and checkpoints of models that hold them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_testing import says


class Stack(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.layers_in_order = tf.contrib.checkpoint.List([tf.keras.layers.Dense(3)])
        self.layers_in_order.append(tf.keras.layers.Dense(2))
        self.heads = tf.contrib.checkpoint.Mapping(first=tf.keras.layers.Dense(1))

    def call(self, x: Any) -> Any:
        for layer in self.layers_in_order:
            x = layer(x)
        return self.heads["first"](x)


def test_models_with_lists_are_saved(tmp_path: Path) -> None:
    saved, restored = Stack(), Stack()
    expected = saved(tf.ones([2, 4])).numpy()
    assert len(saved.variables) == 6
    assert saved.layers_in_order.variables + saved.heads.variables == saved.variables
    assert saved.layers_in_order.trainable_variables == saved.layers_in_order.variables
    path = tf.train.Checkpoint(model=saved).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(model=restored).restore(path)
    np.testing.assert_array_equal(restored(tf.ones([2, 4])).numpy(), expected)


def test_variables_of_nested_parts() -> None:
    a, b, c, d = (tf.Variable(float(n), trainable=n != 1) for n in range(4))
    parts = tf.contrib.checkpoint.List([a, [b, {"z": d, "c": c}], "text"])
    assert parts.variables == [a, b, c, d]
    assert parts.trainable_variables == [a, c, d]
    assert tf.contrib.checkpoint.Mapping(z=a, y=b).trainable_variables == [a]


def test_lists_and_dicts_of_parts_are_equal_to_themselves_only() -> None:
    for kind in (tf.contrib.checkpoint.List, tf.contrib.checkpoint.Mapping):
        first, second = kind(), kind()
        assert len({first, second}) == 2
        assert {first: "first", second: "second"}[second] == "second"
        assert first not in {second}
        assert (first == first, first != second, first == second, first != first) == (True, True, False, False)


def _keys(root: Any, path: Path) -> list[str]:
    written = tf.train.Checkpoint(root=root).write(str(path))
    return sorted(tf.train.NewCheckpointReader(written).get_variable_to_shape_map())


class Holder(tf.contrib.checkpoint.Checkpointable):
    """An object with parts that is no layer."""


@pytest.mark.parametrize("kind", [Holder, tf.keras.Model])
def test_what_no_dependency_marks_in_lists_and_dicts_is_itself_and_not_saved(kind: Any, tmp_path: Path) -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    no_dependency = tf.contrib.checkpoint.NoDependency
    holder = kind()
    holder.plain = [no_dependency(a), b]
    holder.nested = {"x": {"y": no_dependency(a), "z": b}}
    holder.made = tf.contrib.checkpoint.List([no_dependency(a), b])
    holder.mapped = tf.contrib.checkpoint.Mapping(x=no_dependency(a), y=b)
    holder.made.append(no_dependency(a))
    holder.made += [no_dependency(a)]
    holder.made.insert(0, no_dependency(a))
    holder.made[1] = no_dependency(a)
    holder.made[3:] = [no_dependency(a), b]
    holder.mapped["z"] = no_dependency(a)
    assert holder.mapped.setdefault("w", no_dependency(a)) is a
    holder.mapped |= {"v": no_dependency(a)}
    assert list(map(id, holder.plain)) == [id(a), id(b)]
    assert holder.nested["x"]["y"] is a
    assert list(map(id, holder.made)) == [id(each) for each in (a, a, b, a, b)]
    assert [id(holder.mapped[key]) for key in "xzwv"] == [id(a)] * 4
    assert holder.made.variables == [b, b]
    assert holder.mapped.variables == [b]
    if kind is tf.keras.Model:
        assert holder.variables == [b]
    assert _keys(holder, tmp_path / "saved") == ["root/plain/1"]


@pytest.mark.parametrize(
    ("use", "error", "what"),
    [
        (lambda part: part.units, AttributeError, "has no attribute 'units'"),
        (lambda part: part(tf.ones([1, 2])), TypeError, "cannot be called"),
        (lambda part: part[0], TypeError, "has no parts"),
    ],
)
def test_what_is_put_later_into_a_plain_list_says_so_where_it_is_used(use: Any, error: Any, what: str) -> None:
    holder = Holder()
    holder.plain = []
    holder.plain.append(tf.contrib.checkpoint.NoDependency(tf.layers.Dense(2)))
    with says(
        error,
        f"NoDependency {what}: it marks a Dense, and nothing has unwrapped it, since it is in a tuple, or came into a "
        "plain list or dict after that was assigned to an attribute. Put it into a tf.contrib.checkpoint.List or "
        "Mapping, or take its value.",
    ):
        use(holder.plain[0])
    assert isinstance(copy.deepcopy(holder).plain[0].value, tf.layers.Dense)


def test_marks_are_copied_with_the_list() -> None:
    parts = tf.contrib.checkpoint.List([tf.contrib.checkpoint.NoDependency(tf.Variable(1.0)), tf.Variable(2.0)])
    copied = copy.deepcopy(parts)
    assert type(copied) is type(parts)
    assert [float(v) for v in copied] == [1.0, 2.0]
    assert [float(v) for v in copied.variables] == [2.0]


def test_lists_without_marks_stay_what_they_are() -> None:
    holder = Holder()
    cyclic: list[Any] = [1, {"a": [2]}]
    cyclic.append(cyclic)
    holder.parts = cyclic
    assert holder.parts is cyclic


def test_containers_tell_their_layers_and_what_is_trained() -> None:
    dense, norm = tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()
    plain, still = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    parts = tf.contrib.checkpoint.List([dense, plain, tf.contrib.checkpoint.Mapping(b=norm, a=still)])
    norm(dense(tf.ones([4, 3])), training=True)
    assert parts.layers == [dense, norm]
    assert parts.weights == parts.variables
    assert len(parts.trainable_weights) == 2 + 1 + 2
    assert [v.name for v in parts.non_trainable_variables] == [
        still.name,
        *[v.name for v in norm.non_trainable_weights],
    ]
    parts.trainable = False
    assert (parts.trainable_variables, parts.non_trainable_weights) == ([], parts.variables)
    tracker = tf.contrib.checkpoint.UniqueNameTracker()
    tracker.track(dense, "part")
    tracker.track(norm, "part")
    assert (tracker.layers, len(tracker.variables)) == ([dense, norm], 6)


def test_containers_tell_losses() -> None:
    dense = tf.keras.layers.Dense(2, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.l2(0.5))
    parts = tf.contrib.checkpoint.Mapping(dense=dense)
    dense(tf.ones([1, 3]))
    assert [float(loss) for loss in parts.losses] == [3.0]
