"""Weights in files."""

from __future__ import annotations

import copy
import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, latest_checkpoint, load_tensors
from agog_checkpoint.warning import CheckpointWarning
from agog_core.checkpointable import listeners
from agog_core.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from agog_core.variables.containers import List
from agog_layers import Dense, Dropout, Input
from agog_optimizers import AdamOptimizer as Adam
from agog_testing import says
from agog_training import Model, Sequential
from agog_training.callbacks import ModelCheckpoint
from agog_training.saving.model_file import load_model


class Derived(Model):
    """Layers in attributes and a list, and a bare variable."""

    def __init__(self, units: int = 2) -> None:
        super().__init__(name="derived")
        self.first = Dense(units, name="first")
        self.rest = [Dense(3, name="second")]
        self.scale = ag.Variable(1.0)

    def call(self, inputs: Any) -> Any:
        return self.rest[0](self.first(inputs)) * self.scale


def functional() -> Any:
    x = Input((4,))
    return Model(x, Dense(3, name="second")(Dense(2, name="first")(x)))


def sequential() -> Any:
    return Sequential([Dense(2, name="first", input_shape=(4,)), Dense(3, name="second")])


def same(one: Any, two: Any) -> bool:
    pairs = zip(one.get_weights(), two.get_weights(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("make", [Derived, functional, sequential])
def test_weights_go_round(make: Any, tmp_path: Path) -> None:
    saved, loaded = make(), make()
    for model in (saved, loaded):
        model(ag.ones([1, 4]))
    saved.compile("adam", "mse")
    saved.fit(np.ones((2, 4), np.float32), np.ones((2, 3), np.float32), verbose=0)
    assert not same(saved, loaded)
    saved.save_weights(tmp_path / "w")
    loaded.load_weights(tmp_path / "w").assert_consumed()
    assert same(saved, loaded)
    restored = make()
    restored(ag.ones([1, 4]))
    Checkpoint(model=restored).restore(tmp_path / "w").assert_existing_objects_matched()
    assert same(saved, restored)


def test_weights_wait_for_variables(tmp_path: Path) -> None:
    saved = Derived()
    saved(ag.ones([1, 4]))
    saved.save_weights(tmp_path / "w")
    loaded = Derived()
    status = loaded.load_weights(tmp_path / "w")
    loaded(ag.ones([1, 4]))
    status.assert_consumed()
    assert same(saved, loaded)


def test_weights_by_name(tmp_path: Path) -> None:
    saved = functional()
    saved.save_weights(tmp_path / "w")
    other = Sequential([Dense(2, name="new", input_shape=(2,)), Dense(3, name="second"), Dense(1, name="last")])
    before = other.get_weights()
    with pytest.warns(CheckpointWarning) as caught:
        other.load_weights(tmp_path / "w", by_name=True)
    names = ", ".join(f"{other.name}/{name}:0" for name in ("new/kernel", "new/bias", "last/kernel", "last/bias"))
    assert [str(each.message) for each in caught] == [
        f"load_weights: '{tmp_path}/w' has no values for {names}; they keep those that they have."
    ]
    assert caught[0].filename == __file__
    after = other.get_weights()
    np.testing.assert_array_equal(after[2], saved.get_layer("second").get_weights()[0])
    for position in (0, 1, 4, 5):
        np.testing.assert_array_equal(before[position], after[position])


def test_weights_that_a_load_does_not_fill_are_warned_of(tmp_path: Path) -> None:
    saved = sequential()
    saved.save_weights(tmp_path / "w")
    longer = Sequential([Dense(2, input_shape=(4,)), Dense(3), Dense(1, name="last")], name="longer")
    before = longer.get_weights()
    with pytest.warns(CheckpointWarning) as caught:
        longer.load_weights(tmp_path / "w")
    assert [str(each.message) for each in caught] == [
        f"load_weights: '{tmp_path}/w' has no values for longer/last/kernel:0, longer/last/bias:0; they keep those "
        "that they have."
    ]
    assert caught[0].filename == __file__
    for one, two in zip(saved.get_weights() + before[4:], longer.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


class Growing(Model):
    """A model that makes its layers when it is called."""

    def __init__(self, units: list[int]) -> None:
        super().__init__(name="growing")
        self._units = units

    def call(self, inputs: Any) -> Any:
        if not hasattr(self, "steps"):
            self.steps = [Dense(units, name=f"dense{place}") for place, units in enumerate(self._units)]
        for step in self.steps:
            inputs = step(inputs)
        return inputs


def test_weights_that_are_made_after_a_load_that_has_none_for_them(tmp_path: Path) -> None:
    saved = Growing([3, 2])
    saved(ag.ones([1, 4]))
    saved.save_weights(tmp_path / "w")
    others = list(listeners)  # what other tests have left behind, which may end at any time

    def waiting() -> list[Any]:
        return [each for each in listeners if each not in others]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same_units = Growing([3, 2])
        same_units.load_weights(tmp_path / "w")
        same_units(ag.ones([1, 4]))
        more = Growing([3, 2, 5])
        more.load_weights(tmp_path / "w")
        copy.deepcopy(more)
    with pytest.warns(CheckpointWarning) as caught:
        more(ag.ones([1, 4]))
    assert [str(each.message) for each in caught] == [
        f"load_weights: '{tmp_path}/w' has no values for growing/dense2/kernel:0, growing/dense2/bias:0; they keep "
        "those that they have."
    ]
    more(ag.ones([1, 4]))
    for one, two, three in zip(saved.get_weights(), same_units.get_weights(), more.get_weights(), strict=False):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    assert waiting() == []
    more = Growing([3])
    more.load_weights(tmp_path / "w").expect_partial()
    assert waiting()
    del more
    gc.collect()
    assert waiting() == []


@pytest.mark.parametrize("make", [functional, sequential])
def test_keys_are_paths_in_the_model(make: Any, tmp_path: Path) -> None:
    for number in range(2):  # the names of the process's layers have other numbers now
        Sequential([Dense(2), Dense(3)])
        make().save_weights(tmp_path / f"w{number}")
        layers = [key.rpartition("/") for key in load_tensors(tmp_path / f"w{number}.safetensors")]
        assert sorted({layer for layer, _, _ in layers}) in (
            ["model/layers/0", "model/layers/1"],
            ["model/layers/1", "model/layers/2"],
        )
        assert {weight for _, _, weight in layers} == {"kernel", "bias"}


def test_layers_without_names_have_the_same_keys_each_time(tmp_path: Path) -> None:
    keys = []
    for number in range(2):
        model = Sequential([Dense(2, input_shape=(4,)), Dense(3)])
        model.save_weights(tmp_path / f"w{number}")
        keys.append(sorted(load_tensors(tmp_path / f"w{number}.safetensors")))
    assert keys[0] == keys[1] == [f"model/layers/{n}/{name}" for n in (0, 1) for name in ("bias", "kernel")]


class Bare(Model):
    """Variables, and no layer."""

    def __init__(self, value: float) -> None:
        super().__init__(name="bare")
        self.scale = ag.Variable(value)
        self.many = [ag.Variable([value, value])]

    def call(self, inputs: Any) -> Any:
        return inputs * self.scale


def test_a_model_of_variables_alone_need_not_be_built(tmp_path: Path) -> None:
    Bare(2.0).save_weights(tmp_path / "w")
    assert sorted(load_tensors(tmp_path / "w.safetensors")) == ["model/many/0", "model/scale"]
    loaded = Bare(0.0)
    loaded.load_weights(tmp_path / "w").assert_consumed()
    assert [value.tolist() for value in loaded.get_weights()] == [2.0, [2.0, 2.0]]
    with says(
        ValueError,
        "Model 'derived' has no weights to save, since it was not built: call it on a batch, or call "
        "model.build(input_shape).",
    ):
        Derived().save_weights(tmp_path / "half")  # it has a variable, and layers that were not built


def test_a_model_without_weights_is_saved(tmp_path: Path) -> None:
    model = Model()
    model.part = ag.Checkpointable()
    model.part.numbers = {"a": [3]}
    model.save_weights(tmp_path / "w")
    assert load_tensors(tmp_path / "w.safetensors") == {}
    model.load_weights(tmp_path / "w").assert_consumed()
    model.part.numbers[1] = List()
    with pytest.raises(ValueError, match="has a non-string key, 1 of type int"):
        model.save_weights(tmp_path / "w")


@pytest.mark.parametrize("end", [".h5", ".hdf5", ".keras"])
def test_names_of_other_formats_are_told(end: str, tmp_path: Path) -> None:
    saved = sequential()
    with pytest.warns(CheckpointWarning) as caught:
        saved.save_weights(tmp_path / f"w{end}")
    assert [str(each.message) for each in caught] == [
        f"save_weights: weights are written as safetensors, so that '{tmp_path}/w{end}' becomes "
        f"'{tmp_path}/w{end}.safetensors'; load_weights finds it under both names. Further files are not told of."
    ]
    assert caught[0].filename == __file__
    saved.save_weights(tmp_path / f"w{end}")  # without another warning, which would be an error
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["checkpoint", f"w{end}.safetensors"])
    for name in (f"w{end}", f"w{end}.safetensors"):
        loaded = sequential()
        loaded.load_weights(tmp_path / name)
        assert same(saved, loaded)


def test_names_with_the_ending_are_not_given_it_twice(tmp_path: Path) -> None:
    model, path = sequential(), tmp_path / "w.safetensors"
    model.save_weights(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["checkpoint", "w.safetensors"]
    with says(AlreadyExistsError, f"save_weights: {path} exists; pass overwrite=True to replace it."):
        model.save_weights(path, overwrite=False)


def test_the_newest_file_is_found(tmp_path: Path) -> None:
    model = sequential()
    for name in ("a", "b.safetensors"):
        model.save_weights(tmp_path / name, save_format="tensorflow")
        assert latest_checkpoint(tmp_path) == str(tmp_path / name).removesuffix(".safetensors")
    loaded = sequential()
    loaded.load_weights(latest_checkpoint(tmp_path))
    assert same(model, loaded)


def test_the_list_of_a_manager_stays(tmp_path: Path) -> None:
    manager = CheckpointManager(Checkpoint(model=sequential()), tmp_path, max_to_keep=3)
    paths = [manager.save(), manager.save()]
    sequential().save_weights(tmp_path / "w")
    assert CheckpointManager(Checkpoint(), tmp_path, max_to_keep=3).checkpoints == paths
    assert latest_checkpoint(tmp_path) == paths[-1]


def test_errors(tmp_path: Path) -> None:
    model, path = Derived(), tmp_path / "w"
    unbuilt = (
        "Model 'derived' has no weights to {}, since it was not built: call it on a batch, or call "
        "model.build(input_shape)."
    )
    for use, text in (
        (lambda: model.save_weights(path), unbuilt.format("save")),
        (lambda: model.load_weights(path, by_name=True), unbuilt.format("find by name")),
        (
            lambda: model.save_weights(path, save_format="keras"),
            "save_weights: save_format must be 'tf', 'h5' or None; got 'keras'.",
        ),
    ):
        with says(ValueError, text):
            use()
    model(ag.ones([1, 4]))
    model.save_weights(path)
    with says(AlreadyExistsError, f"save_weights: {path}.safetensors exists; pass overwrite=True to replace it."):
        model.save_weights(path, overwrite=False)
    with pytest.raises(NotFoundError):
        model.load_weights(tmp_path / "missing")
    wide = Derived(units=5)
    wide(ag.ones([1, 4]))
    before = wide.get_weights()
    with pytest.raises(ValueError, match=r"model/first/kernel': Shapes \(4, 5\) and \(4, 2\) are incompatible"):
        wide.load_weights(path)
    for one, two in zip(before, wide.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def trained(model: Any) -> Any:
    model.compile(Adam(0.1), "mse")
    model.train_on_batch(np.ones((2, 4), np.float32), np.zeros((2, 3), np.float32))
    return model


@pytest.mark.parametrize("make", [Derived, functional, sequential])
def test_the_optimizers_state_goes_into_the_format_of_tensorflow(make: Any, tmp_path: Path) -> None:
    saved = trained(make())
    saved.save_weights(tmp_path / "w", save_format="tf")
    saved.train_on_batch(np.ones((2, 4), np.float32), np.zeros((2, 3), np.float32))
    later = make()
    later.load_weights(tmp_path / "w")
    later.predict(np.ones((2, 4), np.float32))
    assert same(trained(later), saved)
    earlier = trained(make())
    earlier.load_weights(tmp_path / "w").assert_consumed()
    earlier.train_on_batch(np.ones((2, 4), np.float32), np.zeros((2, 3), np.float32))
    assert same(earlier, saved)
    saved.save_weights(tmp_path / "w")
    assert any("optimizer" in key for key in load_tensors(tmp_path / "w.safetensors"))
    saved.compile("adam", "mse")
    saved.train_on_batch(np.ones((2, 4), np.float32), np.zeros((2, 3), np.float32))
    for save_format in (None, "tf"):
        saved.save_weights(tmp_path / "w", save_format=save_format)
        keys = load_tensors(tmp_path / "w.safetensors")
        assert any("optimizer" in key for key in keys) == (save_format is not None)


def test_layers_without_weights_may_come_and_go(tmp_path: Path) -> None:
    x = Input((4,))
    longer = Model(x, Dense(3, name="second")(Dropout(0.5)(Dense(2, name="first")(Dropout(0.5)(x)))))
    shorter = functional()
    shorter.save_weights(tmp_path / "shorter")
    longer.load_weights(tmp_path / "shorter")
    assert same(longer, shorter)
    other = functional()
    longer.save_weights(tmp_path / "longer")
    other.load_weights(tmp_path / "longer").assert_consumed()
    assert same(other, longer)


def test_files_of_which_nothing_fits(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "w")
    with says(AssertionError, "load_weights: Nothing to load: model 'empty' has no layers and no variables yet."):
        Model(name="empty").load_weights(path)
    model = functional()
    before = model.get_weights()
    with says(
        AssertionError,
        f"load_weights: Nothing except the root object matched: the file {path!r} has v; those of model "
        f"{model.name!r} begin with 'model/'.",
    ):
        model.load_weights(path)
    for one, two in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_what_is_trained_of_a_model_that_is_compiled_before_it_is_built() -> None:
    model = trained(Derived())
    before = model.get_weights()
    model.train_on_batch(np.ones((2, 4), np.float32), np.zeros((2, 3), np.float32))
    assert not any(np.array_equal(one, two) for one, two in zip(before, model.get_weights(), strict=True))


def test_weights_named_as_hdf5_go_into_models_that_are_built(tmp_path: Path) -> None:
    saved = sequential()
    with pytest.warns(CheckpointWarning):
        saved.save_weights(tmp_path / "w.h5")
    with pytest.raises(ValueError, match="since it was not built"):
        Derived().load_weights(tmp_path / "w.h5")


@pytest.mark.parametrize(
    ("path", "error", "reason"),
    [
        (
            "hdfs://host/a",
            UnimplementedError,
            "'hdfs://host/a' is a URL, which the package fsspec opens; install it by pip install \"agog[remote]\".",
        ),
        ("a\0b", InvalidArgumentError, "a file name must not hold a NUL character."),
    ],
)
@pytest.mark.parametrize(
    ("function", "use"),
    [
        ("Model.save", lambda model, path: model.save(path)),
        ("load_model", lambda model, path: load_model(path)),
        ("save_weights", lambda model, path: model.save_weights(path)),
        ("load_weights", lambda model, path: model.load_weights(path)),
        ("load_weights", lambda model, path: model.load_weights(path, by_name=True)),
        (
            "save_weights",
            lambda model, path: model.fit(
                np.ones([2, 2]), np.ones([2, 1]), verbose=0, callbacks=[ModelCheckpoint(path, save_weights_only=True)]
            ),
        ),
    ],
)
def test_paths_that_are_none_of_this_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    use: Callable[[Any, str], Any],
    path: str,
    error: type[Exception],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    with says(error, f"{function}: {reason}"):
        use(model, path)
    assert list(tmp_path.iterdir()) == []
