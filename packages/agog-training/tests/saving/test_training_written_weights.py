"""Weights that are written for Keras: the layouts of its files. In `nox -s keras` Keras reads such files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import AlreadyExistsError
from agog_layers import (
    GRU,
    LSTM,
    Activation,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    Dense,
    Flatten,
    Input,
    MultiHeadAttention,
    SpectralNormalization,
)
from agog_testing import says
from agog_training import Model, Sequential

h5py = pytest.importorskip("h5py", reason="h5py writes HDF5")
FILES = ("m.h5", "m.weights.h5")


def network() -> Sequential:
    return Sequential(
        [
            Conv2D(4, 3, name="c", input_shape=(8, 8, 3)),
            *(BatchNormalization(name="n"), Flatten(name="f"), Dense(5, name="d"), Dense(2, name="e")),
        ],
        name="net",
    )


def randomize(model: Any) -> None:
    random = np.random.RandomState(0)
    model.set_weights([random.rand(*value.shape).astype("float32") for value in model.get_weights()])


def arrays_in(path: Path) -> dict[str, Any]:
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, part: found.update({name: part[()]}) if isinstance(part, h5py.Dataset) else None)
    return found


def test_layout_of_keras_3(tmp_path: Path) -> None:
    model = network()
    randomize(model)
    model.save_weights(tmp_path / "m.weights.h5", save_format="h5")
    places = {
        **{"layers/conv2d/vars/0": "c/kernel", "layers/conv2d/vars/1": "c/bias"},
        **{
            f"layers/batch_normalization/vars/{number}": f"n/{name}"
            for number, name in enumerate(("gamma", "beta", "moving_mean", "moving_variance"))
        },
        **{"layers/dense/vars/0": "d/kernel", "layers/dense/vars/1": "d/bias"},
        **{"layers/dense_1/vars/0": "e/kernel", "layers/dense_1/vars/1": "e/bias"},
    }
    found = arrays_in(tmp_path / "m.weights.h5")
    values = dict(zip(places.values(), model.get_weights(), strict=True))
    assert set(found) == set(places)
    for place, name in places.items():
        np.testing.assert_array_equal(found[place], values[name])


def test_layout_of_keras_2(tmp_path: Path) -> None:
    model = network()
    randomize(model)
    model.save_weights(tmp_path / "m.h5", save_format="h5")
    with h5py.File(tmp_path / "m.h5") as file:
        assert list(file.attrs["layer_names"]) == ["c", "n", "f", "d", "e"]
        assert (file.attrs["backend"], file.attrs["keras_version"]) == ("tensorflow", "2.1.6-tf")
        names = {layer: list(file[layer].attrs["weight_names"]) for layer in file}
        values = [file[layer][name][()] for layer in "cnde" for name in names[layer]]
    assert names["f"] == []
    ends = [name.rpartition("/")[2] for name in names["n"]]
    assert ends == ["gamma:0", "beta:0", "moving_mean:0", "moving_variance:0"]
    for value, expected in zip(values, model.get_weights(), strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("file", FILES)
def test_models_in_models(tmp_path: Path, file: str) -> None:
    """Keras has weights of some layers in parts of them, and trained weights of a model before others."""

    def build() -> Model:
        x = Input((5, 4))
        y = Bidirectional(GRU(2, return_sequences=True))(LSTM(3, return_sequences=True)(x))
        y = MultiHeadAttention(2, 3)(y, y)
        inner = Sequential([Dense(3, input_shape=(5, 4)), BatchNormalization(), Dense(3)])
        return Model(x, inner(y))

    ours, again = build(), build()
    randomize(ours)
    ours.save_weights(tmp_path / file, save_format="h5")
    again.load_weights(tmp_path / file)
    for one, other in zip(ours.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(other, one)
    names = set(arrays_in(tmp_path / file))
    if file == "m.weights.h5":
        assert {"layers/lstm/cell/vars/2", "layers/bidirectional/forward_layer/cell/vars/0"} <= names
        assert "layers/multi_head_attention/output_dense/vars/1" in names


def test_many_long_names(tmp_path: Path) -> None:
    """Together they are longer than what HDF5 has room for in an attribute."""
    layers: list[Any] = [Activation("relu", name=f"{'long_' * 40}{number}") for number in range(400)]
    model = Sequential([Dense(2, input_shape=(3,)), *layers])
    model.save_weights(tmp_path / "m.h5", save_format="h5")
    again = Sequential([Dense(2, input_shape=(3,))])
    again.load_weights(tmp_path / "m.h5")
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])


@pytest.mark.parametrize("file", FILES)
def test_half_precision(tmp_path: Path, file: str) -> None:
    model = Sequential([Dense(2, input_shape=(3,), dtype="bfloat16")])
    model.save_weights(tmp_path / file, save_format="h5")
    assert {value.dtype.name for value in arrays_in(tmp_path / file).values()} == {"float32"}


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    path = tmp_path / "m.h5"
    model.save_weights(path, save_format="h5")
    before = path.read_bytes()
    with says(AlreadyExistsError, f"save_weights: {path} exists; pass overwrite=True to replace it."):
        model.save_weights(path, overwrite=False, save_format="h5")

    class Scaled(Model):
        def __init__(self) -> None:
            super().__init__(name="scaled")
            self.dense, self.scale = Dense(2), ag.Variable(1.0, name="scale")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs) * self.scale.value()

    scaled = Scaled()
    scaled(ag.ones([1, 3]))
    with says(
        ValueError,
        f"save_weights: files of Keras 2 have no place for {scaled.scale.name!r}, which is in no layer of 'scaled'; "
        "take a name that ends with '.weights.h5'.",
    ):
        scaled.save_weights(path, save_format="h5")
    spectral = Sequential([SpectralNormalization(Dense(2), name="s")])
    spectral(ag.ones([1, 3]))
    with says(ValueError, "save_weights: Keras's files have no place for the vector of 's'; leave save_format out."):
        spectral.save_weights(tmp_path / "m.weights.h5", save_format="h5")
    with says(
        ValueError,
        "Model 'empty' has no weights to save, since it was not built: call it on a batch, or call "
        "model.build(input_shape).",
    ):
        Sequential([Dense(2)], name="empty").save_weights(path, save_format="h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with says(
        ImportError,
        "save_weights: save_format='h5' is for Keras's files, in HDF5, for which h5py is needed: "
        'pip install "agog-training[h5]".',
    ):
        model.save_weights(path, save_format="h5")
    assert path.read_bytes() == before
