"""Networks of tf.contrib.eager: their checkpoints, and as layers of models."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.checkpointable import listeners
from agog_core.errors import NotFoundError
from agog_layers import Dense, Input, Network
from agog_testing import says
from agog_training import Model, Sequential
from agog_training.network_checkpoint import restore_network_checkpoint, save_network_checkpoint


class Net(Network):
    """Two layers, of which one is used on request."""

    def __init__(self, name: str | None = None, units: int = 2) -> None:
        super().__init__(name=name)
        self.one = self.track_layer(Dense(units))
        self.two = self.track_layer(Dense(3))

    def call(self, inputs: Any, everything: bool = True) -> Any:
        hidden = self.one(inputs)
        return self.two(hidden) if everything else hidden


class Outer(Network):
    """A network of networks."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.left, self.right = self.track_layer(Net()), self.track_layer(Net())

    def call(self, inputs: Any) -> Any:
        return self.right(self.left(inputs))


@pytest.fixture(autouse=True)
def _no_listeners_stay() -> Iterator[None]:
    before = list(listeners)
    yield
    gc.collect()
    assert [each for each in listeners if each not in before] == []


def same(one: Any, two: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.get_weights(), two.get_weights(), strict=True))


def built(network: Any) -> Any:
    network(ag.ones([1, 4]))
    return network


def test_weights_go_round_between_networks_of_other_names(tmp_path: Path) -> None:
    saved, restored = built(Net("saved")), built(Net("restored"))
    path = save_network_checkpoint(saved, tmp_path / "net", global_step=3)
    assert path == str(tmp_path / "net-3")
    restore_network_checkpoint(restored, path)
    assert same(saved, restored)


def test_a_folder_gets_a_file_named_after_the_network(tmp_path: Path) -> None:
    path = save_network_checkpoint(built(Net("named")), tmp_path)
    assert Path(path).name.startswith("named")
    assert Path(f"{path}.safetensors").is_file()


def test_variables_are_restored_as_they_are_made(tmp_path: Path) -> None:
    saved = built(Net("first_saved"))
    path = save_network_checkpoint(saved, tmp_path / "net")
    restored = Net("made_later")
    restore_network_checkpoint(restored, path)
    restored(ag.ones([1, 4]), everything=False)
    np.testing.assert_array_equal(restored.one.kernel.numpy(), saved.one.kernel.numpy())
    restored.one.kernel.assign(ag.zeros([4, 2]))
    assert np.array_equal(restored(ag.zeros([1, 4])).numpy(), saved(ag.zeros([1, 4])).numpy())
    np.testing.assert_array_equal(restored.two.kernel.numpy(), saved.two.kernel.numpy())
    assert not restored.one.kernel.numpy().any()  # each value is used once


def test_the_newest_request_wins(tmp_path: Path) -> None:
    paths = [save_network_checkpoint(built(Net(f"n{n}")), tmp_path / f"net{n}") for n in range(2)]
    restored = Net("chooses")
    for path in paths:
        restore_network_checkpoint(restored, path)
    built(restored)
    expected = Net("expected")
    restore_network_checkpoint(built(expected), paths[1])
    assert same(restored, expected)


def test_networks_in_networks(tmp_path: Path) -> None:
    saved, restored = built(Outer("outer_saved")), Outer("outer_restored")
    path = save_network_checkpoint(saved, tmp_path / "net")
    restore_network_checkpoint(restored, path)
    built(restored)
    assert same(saved, restored)


def test_the_newest_request_wins_for_a_network_inside_of_one(tmp_path: Path) -> None:
    outer, inner = built(Outer("outer_first")), built(Net("inner_second"))
    restored = Outer("outer_later")
    restore_network_checkpoint(restored, save_network_checkpoint(outer, tmp_path / "outer"))
    restore_network_checkpoint(restored.left, save_network_checkpoint(inner, tmp_path / "inner"))
    built(restored)
    assert same(restored.left, inner)
    assert same(restored.right, outer.right)


def test_names_can_be_mapped(tmp_path: Path) -> None:
    saved = built(Net("mapped"))
    path = save_network_checkpoint(saved, tmp_path / "net", map_func=lambda name: name.replace("mapped/", "x/"))
    other = built(Net("other_mapped"))
    restore_network_checkpoint(other, path, map_func=lambda name: name.replace("other_mapped/", "x/"))
    assert same(saved, other)


def test_the_newest_checkpoint_of_a_folder(tmp_path: Path) -> None:
    network = built(Net("in_folder"))
    save_network_checkpoint(network, tmp_path)
    weight = network.variables[0]
    weight.assign(weight * 0.0)
    newest = save_network_checkpoint(network, tmp_path, global_step=3)
    assert newest.endswith("in_folder-3")
    weight.assign(weight + 1.0)
    restore_network_checkpoint(network, tmp_path)
    assert not weight.numpy().any()


def test_two_variables_of_one_name_are_told_when_they_are_made(tmp_path: Path) -> None:
    path = save_network_checkpoint(
        built(Net("of_one_name")), tmp_path / "net", map_func=lambda name: name.removeprefix("of_one_name/")
    )
    late = Net("late_names")
    restore_network_checkpoint(late, path, map_func=lambda name: "dense/kernel")
    with says(
        ValueError,
        "The map_func passed to restore_network_checkpoint for the Network 'late_names' resulted in two variables "
        "named 'dense/kernel': 'late_names/dense/kernel' and 'late_names/dense/bias'. Pass another map_func: with "
        "map_func=lambda name: name they keep their whole names.",
    ):
        built(late)


def test_a_layer_whose_network_is_gone_cannot_be_restored(tmp_path: Path) -> None:
    path = save_network_checkpoint(built(Net("complete")), tmp_path / "net")
    network, owner = Net("with_an_orphan"), Net("gone_owner")
    network.track_layer(owner.one)
    del owner
    gc.collect()
    with pytest.raises(ValueError, match=r"^The Network that first tracked layer 'dense' was garbage collected before"):
        restore_network_checkpoint(network, path)


def test_errors(tmp_path: Path) -> None:
    network = Net("faulty")
    with says(
        ValueError,
        "save_network_checkpoint: Attempt to save the Network before it was first called; it has no variables yet.",
    ):
        save_network_checkpoint(network, tmp_path / "net")
    path = save_network_checkpoint(built(network), tmp_path / "net")
    with says(
        ValueError,
        "The map_func passed to save_network_checkpoint for the Network 'faulty' resulted in two variables named "
        "'same': 'faulty/dense/kernel' and 'faulty/dense/bias'. Pass another map_func: with map_func=lambda name: name "
        "they keep their whole names.",
    ):
        save_network_checkpoint(network, tmp_path / "net", map_func=lambda name: "same")
    with says(
        NotFoundError,
        "restore_network_checkpoint: Key faulty/dense/kernel not found in checkpoint; its keys are dense/bias, "
        "dense/kernel, dense_1/bias, dense_1/kernel.",
    ):
        restore_network_checkpoint(network, path, map_func=lambda name: name)
    with says(
        ValueError,
        "restore_network_checkpoint: Shapes (4, 5) and (4, 2) are incompatible: variable 'wide/dense/kernel:0' has the "
        "first, 'dense/kernel' in the checkpoint the second.",
    ):
        restore_network_checkpoint(built(Net("wide", units=5)), path)
    model = Sequential(name="m")
    with says(
        TypeError,
        f"save_network_checkpoint takes a tfe.Network; got {model!r} of type Sequential. Save other models with "
        "tf.train.Checkpoint or model.save_weights.",
    ):
        save_network_checkpoint(model, path)  # type: ignore[arg-type]


def test_networks_are_layers_of_models() -> None:
    x = Input((4,))
    network = Net()
    model = Model(x, Dense(1)(network(x)))
    assert [v.name for v in network.variables] == [v.name for v in model.variables[:4]]
    model.compile("sgd", "mse")
    before = network.get_weights()
    model.fit(np.ones((8, 4), np.float32), np.ones(8), verbose=0)
    assert all((a != b).any() for a, b in zip(before, network.get_weights(), strict=True))
    in_sequence = Sequential([Net(), Dense(1)])
    assert in_sequence(ag.ones([2, 4])).shape == [2, 1]


def test_models_and_keras_layers_are_parts_of_networks() -> None:
    class Holder(Network):
        def __init__(self) -> None:
            super().__init__(name="holder")
            self.inner = self.track_layer(Sequential([Dense(2, name="d")], name="inner"))

        def call(self, inputs: Any) -> Any:
            return self.inner(inputs)

    assert [v.name for v in built(Holder()).variables] == ["holder/inner/d/kernel:0", "holder/inner/d/bias:0"]
