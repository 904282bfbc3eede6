"""Weights in Keras's files, which are written here in Keras's layouts; `nox -s keras` reads files that Keras wrote."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agog_checkpoint.warning import CheckpointWarning
from agog_core.errors import DataLossError
from agog_layers import GRU, LSTM, BatchNormalization, Bidirectional, Conv2D, Dense, Flatten, Input, MultiHeadAttention
from agog_testing import says
from agog_training import Model, Sequential

h5py = pytest.importorskip("h5py", reason="h5py reads HDF5")
Tree = dict[str, Any]


def write(target: Any, tree: Tree) -> None:
    """Write arrays by their paths into an HDF5 file."""
    with h5py.File(target, "w") as file:
        for name, value in tree.items():
            file[name] = value


def values(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.RandomState(0)
    return [random.rand(*shape).astype("float32") for shape in shapes]


def numbered(place: str, arrays: list[np.ndarray]) -> Tree:
    return {f"{place}/vars/{number}": array for number, array in enumerate(arrays)}


def network() -> Sequential:
    return Sequential(
        [
            Conv2D(4, 3, name="c", input_shape=(8, 8, 3)),
            *(BatchNormalization(), Flatten(), Dense(5, name="dense"), Dense(2, name="dense_1")),
        ],
        name="net",
    )


ARRAYS = values((3, 3, 3, 4), (4,), (4,), (4,), (4,), (4,), (144, 5), (5,), (5, 2), (2,))
TREE = {
    **numbered("layers/conv2d", ARRAYS[:2]),
    **numbered("layers/batch_normalization", ARRAYS[2:6]),
    **numbered("layers/dense", ARRAYS[6:8]),
    **numbered("layers/dense_1", ARRAYS[8:]),
    "optimizer/vars/0": np.int64(3),
}
# The layer's own order is that of Keras: gamma, beta, and the moving mean and variance.
EXPECTED = ARRAYS


def loads(model: Any, path: Path, expected: list[np.ndarray], **options: Any) -> None:
    assert model.load_weights(path, **options) is None
    found = {variable.name: variable.numpy() for variable in model.weights}
    assert len(found) == len(expected)
    for array in expected:
        assert any(np.array_equal(array, value) for value in found.values())


def test_weights_of_keras_3(tmp_path: Path) -> None:
    write(tmp_path / "m.weights.h5", TREE)
    model = network()
    loads(model, tmp_path / "m.weights.h5", EXPECTED)
    kernel, bias = model.layers[3].get_weights()
    np.testing.assert_array_equal(kernel, ARRAYS[6])
    np.testing.assert_array_equal(bias, ARRAYS[7])
    moving = {v.name.rsplit("/", 1)[-1]: v.numpy() for v in model.layers[1].weights}
    np.testing.assert_array_equal(moving["gamma:0"], ARRAYS[2])
    np.testing.assert_array_equal(moving["beta:0"], ARRAYS[3])
    np.testing.assert_array_equal(moving["moving_mean:0"], ARRAYS[4])
    np.testing.assert_array_equal(moving["moving_variance:0"], ARRAYS[5])


def archive(path: Path, tree: Tree, compression: int = zipfile.ZIP_STORED) -> None:
    buffer = io.BytesIO()
    write(buffer, tree)
    with zipfile.ZipFile(path, "w", compression) as target:
        target.writestr("config.json", "{}")
        target.writestr("model.weights.h5", buffer.getvalue())


def test_an_archive_of_keras_3(tmp_path: Path) -> None:
    archive(tmp_path / "m.keras", TREE)
    loads(network(), tmp_path / "m.keras", EXPECTED)
    archive(tmp_path / "z.keras", TREE, zipfile.ZIP_DEFLATED)
    with says(
        DataLossError,
        f"load_weights: '{tmp_path}/z.keras' is not as Keras writes it: model.weights.h5 is compressed in it.",
    ):
        network().load_weights(tmp_path / "z.keras")


def test_layers_inside_of_layers_and_lists(tmp_path: Path) -> None:
    class Derived(Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = Dense(3)
            self.blocks = [Dense(4), Dense(2)]
            self.inner = Sequential([Dense(2)])

        def call(self, inputs: Any) -> Any:
            x = self.first(inputs)
            for block in self.blocks:
                x = block(x)
            return self.inner(x)

    arrays = values((2, 3), (3,), (3, 4), (4,), (4, 2), (2,), (2, 2), (2,))
    places = ("first", "blocks/dense", "blocks/dense_1", "inner/layers/dense")
    tree = {k: v for n, place in enumerate(places) for k, v in numbered(place, arrays[2 * n : 2 * n + 2]).items()}
    write(tmp_path / "d.weights.h5", tree)
    model = Derived()
    model(np.ones((1, 2), np.float32))
    loads(model, tmp_path / "d.weights.h5", arrays)


def test_recurrent_and_attending_layers(tmp_path: Path) -> None:
    x = Input((5, 4))
    y = LSTM(3, return_sequences=True)(x)
    y = Bidirectional(GRU(2, return_sequences=True, reset_after=True))(y)
    model = Model(x, MultiHeadAttention(2, 3)(y, y))
    lstm, gru = values((4, 12), (3, 12), (12,)), values((3, 6), (2, 6), (2, 6))
    heads = values((4, 2, 3), (2, 3), (4, 2, 3), (2, 3), (4, 2, 3), (2, 3), (2, 3, 4), (4,))
    tree = {
        **numbered("layers/lstm/cell", lstm),
        **numbered("layers/bidirectional/forward_layer/cell", gru),
        **numbered("layers/bidirectional/backward_layer/cell", [2 * a for a in gru]),
        **{
            key: array
            for n, name in enumerate(("query_dense", "key_dense", "value_dense", "output_dense"))
            for key, array in numbered(f"layers/multi_head_attention/{name}", heads[2 * n : 2 * n + 2]).items()
        },
    }
    write(tmp_path / "f.weights.h5", tree)
    loads(model, tmp_path / "f.weights.h5", [*lstm, *gru, *(2 * a for a in gru), *heads])


def older(path: Path, names: bool = True) -> None:
    """A file as Keras 2 and TensorFlow 1 write it, as of a whole model or of weights alone."""
    layers = {
        "c": ARRAYS[:2],
        "batch_normalization": ARRAYS[2:6],
        "flatten": [],
        "dense": ARRAYS[6:8],
        "last": ARRAYS[8:],
    }
    with h5py.File(path, "w") as file:
        group = file.create_group("model_weights") if names else file
        group.attrs["layer_names"] = [name.encode() for name in layers]
        for name, arrays in layers.items():
            own = group.create_group(name)
            own.attrs["weight_names"] = [f"{name}/w{n}:0".encode() for n in range(len(arrays))]
            for number, array in enumerate(arrays):
                own[f"{name}/w{number}:0"] = array


# Which array each weight of Dense, BatchNormalization, Dense gets from a group that names its weights so.
IN_ORDERS = {
    "trained first": ("kernel bias gamma beta kernel bias moving_mean moving_variance", [0, 1, 2, 3, 6, 7, 4, 5]),
    "layer by layer": ("kernel bias gamma beta moving_mean moving_variance kernel bias", [0, 1, 2, 3, 4, 5, 6, 7]),
    "the second frozen": ("kernel bias kernel bias gamma beta moving_mean moving_variance", [0, 1, 4, 5, 6, 7, 2, 3]),
    "by no names": ("a b c d e f g h", [0, 1, 2, 3, 6, 7, 4, 5]),
}


@pytest.mark.parametrize("frozen", [None, 1])
@pytest.mark.parametrize("order", IN_ORDERS)
def test_a_model_inside_a_model_of_older_files(tmp_path: Path, order: str, frozen: int | None) -> None:
    names, expected = IN_ORDERS[order]
    arrays = [np.full((2, 2) if name == "kernel" else (2,), n, "float32") for n, name in enumerate(names.split())]
    if order == "by no names":
        arrays = [np.full((2, 2) if n in (0, 4) else (2,), n, "float32") for n in range(8)]
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["layer_names"] = [b"inner"]
        group = file.create_group("inner")
        paths = [f"part_{number}/{name}:0" for number, name in enumerate(names.split())]
        group.attrs["weight_names"] = [path.encode() for path in paths]
        for path, array in zip(paths, arrays, strict=True):
            group[path] = array
    inner = Sequential([Dense(2), BatchNormalization(), Dense(2)], name="inner")
    model = Sequential([Input(shape=[2]), inner])
    if frozen is not None:
        inner.layers[frozen].trainable = False
    if order == "the second frozen" and frozen is None:
        text = re.escape(
            f"load_weights: the weights of 'inner' in {str(tmp_path / 'old.h5')!r} are kernel, bias, kernel, bias, "
            "gamma, beta, moving_mean, moving_variance, and those of the model kernel, bias, gamma, beta, kernel, "
            "bias, moving_mean, moving_variance: layers in it were frozen when it was saved. Set trainable of the same "
            "ones to False."
        )
        with pytest.raises(ValueError, match=f"^{text}$"):
            model.load_weights(tmp_path / "old.h5")
        return
    model.load_weights(tmp_path / "old.h5")
    assert [value.flat[0] for value in model.get_weights()] == expected


@pytest.mark.parametrize("whole", [True, False])
def test_older_files(tmp_path: Path, whole: bool) -> None:
    older(tmp_path / "old.h5", whole)
    loads(network(), tmp_path / "old.h5", EXPECTED)
    model = Sequential([Dense(5, name="dense", input_shape=(144,)), Dense(7, name="other")])
    before = model.get_weights()
    model.load_weights(tmp_path / "old.h5", by_name=True)
    np.testing.assert_array_equal(model.get_weights()[0], ARRAYS[6])
    np.testing.assert_array_equal(model.get_weights()[2], before[2])


def refused(model: Any, path: Path, **options: Any) -> str:
    before = model.get_weights()
    with pytest.raises((ValueError, DataLossError)) as caught:
        model.load_weights(path, **options)
    for one, two in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    return str(caught.value)


def test_what_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.weights.h5"
    other = "The model is another than the one that was saved."
    write(path, {**TREE, "layers/dense_1/vars/0": np.ones((5, 3), "float32")})
    assert refused(network(), path) == (
        f"load_weights: net/dense_1/kernel:0 has shape (5, 2); /layers/dense_1/vars/0 in '{path}' has shape (5, 3) and "
        f"dtype float32. {other}"
    )
    write(path, {key: value for key, value in TREE.items() if "dense_1" not in key})
    assert refused(network(), path) == (
        f"load_weights: there is no 'layers/dense_1' in / of '{path}'; there are batch_normalization, conv2d, dense. "
        f"{other}"
    )
    write(path, {key: value for key, value in TREE.items() if key != "layers/dense/vars/1"})
    assert refused(network(), path) == (
        f"load_weights: 'dense' has 2 weights of its own; /layers/dense in '{path}' has 1. {other}"
    )
    write(path, TREE)
    assert refused(network(), path, by_name=True) == (
        f"load_weights: by_name=True is for older files; '{path}' is of Keras 3, which finds layers by their classes "
        "and places."
    )
    older(path)
    assert refused(Sequential([Dense(2, input_shape=(4,))], name="net"), path) == (
        f"load_weights: model 'net' has 1 layers with weights; '{path}' has 4: c, batch_normalization, dense, last. "
        "With by_name=True layers are found by their names."
    )
    model = Sequential([Dense(5, name="dense", use_bias=False, input_shape=(144,))])
    assert refused(model, path, by_name=True) == (
        f"load_weights: layer 'dense' has 1 weights; its group in '{path}' has 2. {other}"
    )


def test_links_lead_nowhere(tmp_path: Path) -> None:
    write(tmp_path / "secret.h5", {"x": ARRAYS[8]})
    path = tmp_path / "m.weights.h5"
    write(path, {key: value for key, value in TREE.items() if key != "layers/dense_1/vars/0"})
    with h5py.File(path, "a") as file:
        file["layers/dense_1/vars/0"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/x")
    assert refused(network(), path) == (
        f"load_weights: 'dense_1' has 2 weights of its own; /layers/dense_1 in '{path}' has 1. The model is another "
        "than the one that was saved."
    )
    write(path, {key: value for key, value in TREE.items() if key != "layers/dense_1/vars/0"})
    with h5py.File(path, "a") as file:
        layout = h5py.VirtualLayout((5, 2), "float32")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "x", (5, 2))
        file.create_virtual_dataset("layers/dense_1/vars/0", layout)
    assert refused(network(), path) == (
        f"load_weights: /layers/dense_1/vars/0 in '{path}' is in another file, which is not read."
    )


def test_a_model_without_weights(tmp_path: Path) -> None:
    write(tmp_path / "m.weights.h5", TREE)
    with says(
        ValueError,
        "Model 'net' has no weights to find in a file of Keras, since it was not built: call it on a batch, or call "
        "model.build(input_shape).",
    ):
        Sequential([Dense(2)], name="net").load_weights(tmp_path / "m.weights.h5")


def test_without_h5py(tmp_path: Path, monkeypatch: Any) -> None:
    write(tmp_path / "m.weights.h5", TREE)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with says(
        ImportError,
        f"load_weights: '{tmp_path}/m.weights.h5' is a file of Keras, in HDF5, for which h5py is needed: "
        'pip install "agog-training[h5]".',
    ):
        network().load_weights(tmp_path / "m.weights.h5")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_damaged_files_raise_one_error(tmp_path_factory: Any, data: Any) -> None:
    path = tmp_path_factory.mktemp("damaged") / "m.weights.h5"
    write(path, TREE)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        raw = raw[: data.draw(st.integers(8, len(raw) - 1))]
    else:
        for place in data.draw(st.lists(st.integers(8, len(raw) - 1), min_size=1, max_size=8)):
            raw[place] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    text = "load_weights: "
    try:
        network().load_weights(path)
    except (ValueError, DataLossError) as error:
        text = str(error)
    assert text.startswith("load_weights: ")


def with_description(path: Path, *settings: dict[str, Any]) -> Path:
    """An older file of a whole model: of Dense layers, as Keras 2 describes them."""
    zeros = {"class_name": "Zeros", "config": {}}
    shared = {"trainable": True, "dtype": "float32", "units": 2, "use_bias": True, "bias_initializer": zeros}
    layers = [
        {"class_name": "Dense", "config": {"name": f"d{n}", **shared, "activation": "linear", **own}}
        for n, own in enumerate(settings)
    ]
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}})
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"nothing", *(f"d{n}".encode() for n in range(len(settings)))]
        group.create_group("nothing").attrs["weight_names"] = []
        for n in range(len(settings)):
            own = group.create_group(f"d{n}")
            own.attrs["weight_names"] = [f"d{n}/kernel:0".encode(), f"d{n}/bias:0".encode()]
            own[f"d{n}/kernel:0"], own[f"d{n}/bias:0"] = np.ones((2, 2)), np.ones(2)
    return path


@pytest.mark.parametrize("by_name", [False, True])
def test_weights_of_an_older_file_for_layers_with_other_settings_warn(tmp_path: Path, by_name: bool) -> None:
    path = with_description(tmp_path / "old.h5", {"activation": "relu"}, {})
    names = ["d1", "d0"] if by_name else ["a", "b"]
    model = Sequential([Dense(2, input_shape=(2,), name=names[0]), Dense(2, name=names[1])])
    with pytest.warns(CheckpointWarning) as caught:
        model.load_weights(path, by_name=by_name)
    assert [str(each.message) for each in caught] == [
        f"load_weights: layer {'d0' if by_name else 'a'!r} has activation='linear', and its weights in {str(path)!r} "
        "are those of one with activation='relu'."
    ]
    assert [each.filename for each in caught] == [__file__]
    assert all((weight == 1).all() for weight in model.get_weights())
    Sequential([Dense(2, "relu", input_shape=(2,), name="d0"), Dense(2, name="d1")]).load_weights(path, by_name=by_name)


@pytest.mark.parametrize("damaged", ["7", "[]", '{"config": 7}', '{"config": {"layers": [7]}}', "{"])
def test_a_damaged_description_of_an_older_file_warns(tmp_path: Path, damaged: str) -> None:
    path = with_description(tmp_path / "old.h5", {})
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = damaged
    model = Sequential([Dense(2, input_shape=(2,))])
    text = (
        f"^load_weights: the description of the model in {re.escape(repr(str(path)))} is damaged, so that settings of "
    )
    with pytest.warns(CheckpointWarning, match=text + "layers were not compared: [A-Za-z]+Error: "):
        model.load_weights(path)
    assert (model.get_weights()[0] == 1).all()
