"""Whole models: saved, loaded and trained on, as if they had never been saved."""

from __future__ import annotations

import copy
import gc
import inspect
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

import agog_core as ag
import agog_layers
import agog_optimizers
from agog_checkpoint.file import read_file, save_file
from agog_checkpoint.objects import snapshot
from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import AlreadyExistsError, DataLossError, NotFoundError
from agog_layers import LSTM, Dense, Dropout, Embedding, Flatten, Input
from agog_layers.metrics.keras.means import MeanSquaredError
from agog_testing import says
from agog_training import Model, Sequential, clone_model, load_model, model_from_config, model_from_json, optimizers
from agog_training.optimizers.description import describe_optimizer, revive_optimizer
from agog_training.saving.model_file import _File

X = np.random.RandomState(0).rand(8, 4).astype("float32")
Y = np.random.RandomState(1).rand(8, 3).astype("float32")


def sequential() -> Sequential:
    return Sequential([Dense(5, activation="tanh", input_shape=(4,)), Dropout(0.2), Dense(3)])


def functional() -> Model:
    x = Input(shape=(4,), name="x")
    shared = Dense(4, activation="relu", name="shared")
    return Model(x, [Dense(3, name="a")(shared(x)), Dense(3, name="b")(shared(shared(x)))], name="two")


class Tower(Model):
    """A model with code of its own, which it describes by its arguments."""

    def __init__(self, units: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.units = units
        self.hidden = Dense(units, activation="relu")
        self.last = Dense(3)

    def call(self, inputs: Any) -> Any:
        return self.last(self.hidden(inputs))

    def get_config(self) -> dict[str, Any]:
        return {"units": self.units, "name": self.name}


def same(one: Any, two: Any) -> None:
    for a, b in zip(one.get_weights(), two.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("optimizer", ["adam", "sgd", agog_optimizers.AdamOptimizer, agog_optimizers.FtrlOptimizer])
def test_a_loaded_model_trains_on_as_the_saved_one(tmp_path: Path, optimizer: Any) -> None:
    ag.set_random_seed(3)
    saved = sequential()
    saved.compile(optimizer if isinstance(optimizer, str) else optimizer(0.05), "mse", ["mae"])
    saved.fit(X, Y, batch_size=4, epochs=2, verbose=0)
    saved.save(tmp_path / "m.agog")
    state = ag.random.generator().get_state()
    after = [saved.train_on_batch(X, Y) for _ in range(3)]
    ag.random.generator().set_state(state)
    loaded = load_model(tmp_path / "m.agog")
    assert type(loaded) is Sequential
    assert [loaded.train_on_batch(X, Y) for _ in range(3)] == after
    same(saved, loaded)
    assert loaded.metrics_names == saved.metrics_names


def test_a_functional_model_with_two_outputs_and_a_shared_layer(tmp_path: Path) -> None:
    saved = functional()
    saved.compile("rmsprop", {"a": "mse", "b": "mae"}, {"a": ["mae"], "b": []}, loss_weights={"a": 2.0, "b": 0.5})
    saved.train_on_batch(X, [Y, Y])
    saved.save(tmp_path / "m.agog")
    loaded = load_model(tmp_path / "m.agog")
    same(saved, loaded)
    assert loaded.train_on_batch(X, [Y, Y]) == saved.train_on_batch(X, [Y, Y])
    same(saved, loaded)


def test_a_model_that_was_built_by_a_call_is_built_again(tmp_path: Path) -> None:
    saved = Sequential([Embedding(10, 4), LSTM(3), Dense(1)])
    ids = np.array([[1, 2, 3], [4, 5, 6]])
    saved(ids)
    saved.save(tmp_path / "m.agog")
    loaded = load_model(tmp_path / "m.agog")
    same(saved, loaded)
    np.testing.assert_array_equal(loaded.predict(ids), saved.predict(ids))


def test_a_class_of_the_program_is_passed_by_its_name(tmp_path: Path) -> None:
    saved = Tower(6)
    saved.build((None, 4))
    saved.save(tmp_path / "m.agog")
    loaded = load_model(tmp_path / "m.agog", custom_objects={"Tower": Tower})
    assert loaded.units == 6
    same(saved, loaded)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text follows
        load_model(tmp_path / "m.agog")
    known = str(caught.value).partition("Known are")[0]
    assert known == (
        f"load_model: the description of the model in '{tmp_path}/m.agog' cannot be used: Unknown class 'Tower'; a "
        "class of the program must be named: custom_objects={'Tower': Tower}. "
    )


def doubled(y: Any, p: Any) -> Any:
    return 2 * ag.reduce_mean(ag.square(y - p), -1)


def test_losses_and_metrics_of_the_program(tmp_path: Path) -> None:
    saved = sequential()
    saved.compile("sgd", doubled, [doubled, MeanSquaredError()])
    saved.save(tmp_path / "m.agog")
    loaded = load_model(tmp_path / "m.agog", custom_objects={"doubled": doubled})
    assert loaded.evaluate(X, Y, verbose=0) == saved.evaluate(X, Y, verbose=0)
    with pytest.raises(ValueError, match="Unknown loss 'doubled'; the names are"):
        load_model(tmp_path / "m.agog")
    same(saved, load_model(tmp_path / "m.agog", compile=False))


def test_without_the_optimizer(tmp_path: Path) -> None:
    saved = sequential()
    saved.compile("adam", "mse")
    saved.train_on_batch(X, Y)
    saved.save(tmp_path / "m.agog", include_optimizer=False)
    loaded = load_model(tmp_path / "m.agog")
    assert loaded.optimizer is None
    same(saved, loaded)
    saved.save(tmp_path / "m.agog")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_model(tmp_path / "m.agog", compile=False).optimizer is None


def test_saving_says_what_is_no_data(tmp_path: Path) -> None:
    model = sequential()
    loss = lambda y, p: ag.reduce_mean(y - p)  # noqa: E731  # a lambda is what is refused
    model.compile("sgd", loss)
    with says(
        NotImplementedError,
        f"Model.save: {loss!r}, a loss or metric of the model, has no name by which loading could find it; define it "
        "with def, or save with include_optimizer=False, and compile the model again after loading it.",
    ):
        model.save(tmp_path / "m")
    model.compile(agog_optimizers.GradientDescentOptimizer(lambda: 0.1), "mse")
    with says(
        NotImplementedError,
        "Model.save: the argument 'learning_rate' of the optimizer GradientDescentOptimizer is no data that a file can "
        "hold; save with include_optimizer=False, and compile the model again after loading it.",
    ):
        model.save(tmp_path / "m")
    with says(
        ValueError,
        "Model 'm' has no weights to save, since it was not built: call it on a batch, or call "
        "model.build(input_shape).",
    ):
        Sequential([Dense(1)], name="m").save(tmp_path / "m")
    with says(ValueError, "Model.save: there is one format, so save_format must be None; got 'h5'."):
        model.save(tmp_path / "m", save_format="h5")
    assert not os.listdir(tmp_path)


def test_an_existing_file_is_replaced_only_where_that_is_allowed(tmp_path: Path) -> None:
    model, path = sequential(), tmp_path / "m.agog"
    model.save(path)
    with says(AlreadyExistsError, f"Model.save: {path} exists; pass overwrite=True to replace it."):
        model.save(path, overwrite=False)
    model.save(path)


def test_a_name_of_keras_is_kept_with_a_warning(tmp_path: Path) -> None:
    model, path = sequential(), str(tmp_path / "m.h5")
    with pytest.warns(CheckpointWarning) as caught:
        model.save(path)
    assert str(caught[0].message) == (
        f"Model.save: {path!r} is written as a safetensors file all the same; load_model reads it under this name, and "
        "Keras does not. Further files are not told of."
    )
    assert caught[0].filename == __file__
    model.save(path)  # without another warning, which would be an error
    same(model, load_model(path))


def test_the_weights_can_be_read_by_other_programs(tmp_path: Path) -> None:
    model = sequential()
    model.save(tmp_path / "m.agog")
    tensors = load_file(tmp_path / "m.agog")
    np.testing.assert_array_equal(tensors["model/layers/0/kernel"], model.get_weights()[0])


def test_what_is_no_model_file(tmp_path: Path) -> None:
    with says(NotFoundError, f"load_model: the file '{tmp_path}/none.agog' does not exist."):
        load_model(tmp_path / "none.agog")
    model = sequential()
    model.save_weights(tmp_path / "w")
    with says(
        ValueError,
        f"load_model: '{tmp_path}/w.safetensors' holds weights alone, and no description of a model; make the model in "
        "the program, and call its load_weights.",
    ):
        load_model(tmp_path / "w.safetensors")
    (tmp_path / "k.keras").write_bytes(b"PK\x03\x04 and more")
    with says(DataLossError, f"load_model: '{tmp_path}/k.keras' is not a whole file of Keras: File is not a zip file."):
        load_model(tmp_path / "k.keras")
    (tmp_path / "k.h5").write_bytes(b"\x89HDF\r\n\x1a\n and more")
    with says(
        ValueError,
        f"load_model: '{tmp_path}/k.h5' is a file of Keras without a description that agog reads, as .keras files of "
        "Keras 3 have it: make the model in the program, and call model.load_weights(path).",
    ):
        load_model(tmp_path / "k.h5")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_forged_descriptions_raise_one_error(
    tmp_path_factory: Any, places: Callable[[Any], list[tuple[Any, Any]]], data: Any
) -> None:
    path = tmp_path_factory.mktemp("forged") / "m.agog"
    model = sequential()
    model.compile("adam", "mse", ["mae"])
    model.save(path)
    description = copy.deepcopy(read_file(str(path))[0].nodes[0].state)
    holder, key = data.draw(st.sampled_from(places(description)))
    holder[key] = data.draw(
        st.sampled_from([None, 7, -1, "x", [], {}, {"class_name": "Dense", "config": {}}, {"function": "eval"}, 10**15])
    )
    save_file(str(path), snapshot(_File(model, description)))
    text = "load_model: "
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            load_model(path)
        except (ValueError, DataLossError) as error:
            text = str(error)
        gc.collect()  # what was in no model warns
    assert text.startswith(("load_model: ", "Checkpoint"))


def test_a_damaged_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.agog"
    sequential().save(path)
    raw = bytearray(path.read_bytes())
    place = raw.index(b"Dropout")
    raw[place : place + 7] = b"Flatten"
    path.write_bytes(raw)
    with pytest.raises(DataLossError, match="is not a whole checkpoint"):
        load_model(path)


OPTIMIZERS = {
    name: kind
    for name in agog_optimizers.__all__
    if isinstance(kind := getattr(agog_optimizers, name), type)
    and issubclass(kind, agog_optimizers.Optimizer)
    and kind not in (agog_optimizers.Optimizer, agog_optimizers.DecoupledWeightDecayExtension)
}
WRAPPERS = {"GradientAccumulator", "LossScaleOptimizer", "MovingAverageOptimizer", "SWAOptimizer"}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - WRAPPERS))
def test_every_argument_of_an_optimizer_is_kept(name: str) -> None:
    given = {}
    for argument, parameter in inspect.signature(OPTIMIZERS[name]).parameters.items():
        if argument == "use_locking":
            continue
        by_name = {"learning_rate_power": -0.25, "name": "Mine", "accum_name": "A", "linear_name": "L"}
        other = not parameter.default if isinstance(parameter.default, bool) else 0.375
        given[argument] = by_name.get(argument, other)
    if "global_step" in given:
        pytest.skip(f"{name} counts in a variable of the program, which is no data")
    data = json.loads(json.dumps(describe_optimizer(OPTIMIZERS[name](**given))))
    assert data == {"class_name": name, "config": given}
    assert describe_optimizer(revive_optimizer(data)) == data


def test_an_optimizer_that_wraps_another_is_refused() -> None:
    wrapped = agog_optimizers.MovingAverageOptimizer(agog_optimizers.AdamOptimizer())
    with says(
        NotImplementedError,
        "Model.save: the argument 'opt' of the optimizer MovingAverageOptimizer is no data that a file can hold; save "
        "with include_optimizer=False, and compile the model again after loading it.",
    ):
        describe_optimizer(wrapped)


@pytest.mark.parametrize("make", [sequential, functional, lambda: Tower(3)])
def test_a_clone_has_weights_of_its_own(make: Any) -> None:
    model = make()
    model(X)
    clone = clone_model(model)
    clone(X)
    assert type(clone) is type(model)
    assert [w.shape for w in clone.get_weights()] == [w.shape for w in model.get_weights()]
    assert not np.array_equal(clone.get_weights()[0], model.get_weights()[0])
    assert not {id(v) for v in clone.weights} & {id(v) for v in model.weights}


def test_a_clone_of_other_tensors_is_refused() -> None:
    with says(ValueError, "clone_model: input_tensors is not supported; call the new model on the tensors instead."):
        clone_model(sequential(), input_tensors=X)  # type: ignore[arg-type]


def test_descriptions_mean_models_that_train() -> None:
    text = sequential().to_json()
    assert type(model_from_json(text)) is Sequential
    assert type(model_from_config(json.loads(text))) is Sequential
    assert type(agog_layers.model_from_json(text)) is agog_layers.Sequential
    inner = Sequential([Sequential([Flatten(input_shape=(2, 2)), Dense(2)])])
    assert type(clone_model(inner).layers[0]) is Sequential
    assert optimizers.get("sgd").get_config()["lr"] == 0.01
