"""Applications: they have Keras's layers and weights, and compute on files that Keras has written what Keras does."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "jax"

from itertools import product
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import pytest
from keras.src.legacy.saving import legacy_h5_format
from keras.src.utils import file_utils

import agog as tf
from agog_data.datasets import fetching

# Keras's own variables speak an older NumPy's.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
NETWORKS = ("DenseNet121", "EfficientNetB0", "InceptionV3", "MobileNetV2", "ResNet50", "VGG16")
SIBLINGS = (
    *("DenseNet169", "DenseNet201", "ResNet101", "ResNet152", "VGG19"),
    *(f"EfficientNetB{number}" for number in range(1, 8)),
)
FILES = ("published.h5", "m.weights.h5", "m.keras")
# What layers and weights are called in Keras 3, by Keras 2's names.
NEW_NAMES = {"input_1": "input_layer", "depthwise_kernel": "kernel"}


def made(framework: Any, network: str, **options: Any) -> Any:
    framework.backend.clear_session()
    return getattr(framework.applications, network)(**{"weights": None, **options})


def small(network: str, **options: Any) -> dict[str, Any]:
    side = 75 if network == "InceptionV3" else 64
    return {"input_shape": (side, side, 3), **options}


def randomize(model: Any) -> None:
    """Weights that keep numbers near 1 through many layers."""
    random = np.random.RandomState(0)

    def value(variable: Any) -> Any:
        if variable.name in ("gamma", "moving_variance", "variance"):
            return random.uniform(0.5, 1.5, variable.shape)
        if "kernel" in variable.name:
            fan = max(1, np.prod(variable.shape[:-1]))
            return random.normal(0, (1.5 / fan) ** 0.5, variable.shape)
        return random.uniform(-0.2, 0.2, variable.shape)

    model.set_weights([value(variable).astype(variable.dtype) for variable in model.weights])


def images(model: Any, count: int) -> Any:
    return np.random.RandomState(1).uniform(-1, 1, (count, *model.input_shape[1:])).astype("float32")


def save(model: Any, path: Path) -> None:
    if path.name == "published.h5":  # as Keras 2 writes weights
        with h5py.File(path, "w") as file:
            legacy_h5_format.save_weights_to_hdf5_group(file, model)
    elif path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        model.save(path)


def near(ours: Any, theirs: Any) -> None:
    """The same numbers, within 1e-5 of the largest."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


def renamed(name: str) -> str:
    return NEW_NAMES.get(name, name)


@pytest.mark.parametrize(("network", "include_top"), [*product(NETWORKS, [True, False]), *product(SIBLINGS, [False])])
def test_layers_and_weights(network: str, include_top: bool) -> None:
    options = {"include_top": include_top, "pooling": None if include_top else "max"}
    # The top of VGG has a hundred million weights for images of full size.
    options |= small(network, classes=7) if network.startswith("VGG") else {}
    ours, theirs = made(tf.keras, network, **options), made(keras, network, **options)
    assert ours.name == theirs.name
    assert [renamed(layer.name) for layer in ours.layers] == [layer.name for layer in theirs.layers]
    outputs = [(layer.name, tuple(layer.output.shape)) for layer in theirs.layers[1:]]
    assert [(layer.name, tuple(layer.output_shape.as_list())) for layer in ours.layers[1:]] == outputs
    names = [
        (f"{layer.name}/{variable.name}", tuple(variable.shape))
        for layer in theirs.layers
        for variable in layer.weights
    ]
    assert [(_weight_name(variable), tuple(variable.shape.as_list())) for variable in ours.weights] == names
    assert ours.count_params() == theirs.count_params()


def _weight_name(variable: Any) -> str:
    layer, name = variable.name.removesuffix(":0").split("/")[-2:]
    return f"{layer}/{renamed(name)}"


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("network", NETWORKS)
def test_features_of_small_images(tmp_path: Path, network: str, file: str) -> None:
    options = small(network, include_top=False, pooling="avg")
    theirs = made(keras, network, **options)
    randomize(theirs)
    save(theirs, tmp_path / file)
    ours = made(tf.keras, network, **options, weights=tmp_path / file)
    x = images(theirs, 2)
    near(ours(x), theirs(x))


@pytest.mark.parametrize("network", NETWORKS)
def test_classes_of_images_of_full_size(tmp_path: Path, network: str) -> None:
    theirs = made(keras, network, classifier_activation=None)
    randomize(theirs)
    save(theirs, tmp_path / "m.weights.h5")
    ours = made(tf.keras, network, classifier_activation=None, weights=tmp_path / "m.weights.h5")
    x = images(theirs, 1)
    near(ours(x), theirs(x))
    assert made(tf.keras, network, weights=tmp_path / "m.weights.h5")(x).numpy().sum() == pytest.approx(1, abs=1e-5)


class Asked(Exception):
    """What a network wants to download."""


@pytest.mark.filterwarnings("ignore:.*(in|height and width).*96, 128, 160, 192, 224:UserWarning")
@pytest.mark.parametrize("include_top", [True, False])
@pytest.mark.parametrize("network", [*NETWORKS, *SIBLINGS])
def test_published_files(monkeypatch: pytest.MonkeyPatch, network: str, include_top: bool) -> None:
    def ask(name: str, origin: str, cache_subdir: str, file_hash: str | None = None) -> None:
        raise Asked(name, origin, cache_subdir, file_hash)

    monkeypatch.setattr(file_utils, "get_file", ask)
    monkeypatch.setattr(fetching, "get_file", ask)
    wanted = []
    for framework in (tf.keras, keras):
        with pytest.raises(Asked) as asked:
            made(framework, network, weights="imagenet", include_top=include_top)
        wanted.append(asked.value.args)
    assert wanted[0] == wanted[1]


@pytest.mark.parametrize("network", ["EfficientNetB0", "MobileNetV2"])
def test_published_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    """EfficientNet scales images in another way for them."""
    options = {"include_top": False, "input_shape": (96, 96, 3), "pooling": "avg"}
    theirs = made(keras, network, **options)
    randomize(theirs)
    save(theirs, tmp_path / "published.h5")
    for module in (file_utils, fetching):
        monkeypatch.setattr(module, "get_file", lambda *arguments, **options: str(tmp_path / "published.h5"))
    ours, theirs = (made(each, network, weights="imagenet", **options) for each in (tf.keras, keras))
    assert [renamed(layer.name) for layer in ours.layers] == [layer.name for layer in theirs.layers]
    x = images(theirs, 2)
    near(ours(x), theirs(x))


@pytest.mark.parametrize("include_top", [True, False])
@pytest.mark.parametrize("side", [None, 32, 96])
def test_names_of_mobile_net(side: int | None, include_top: bool) -> None:
    def name(framework: Any, takes_tensor: bool) -> str:
        framework.backend.clear_session()
        shape = None if side is None else (side, side, 3)
        given = {"input_tensor": framework.Input(shape or (224, 224, 3))} if takes_tensor else {"input_shape": shape}
        model = framework.applications.MobileNetV2(weights=None, include_top=include_top, **given)
        return str(model.name)

    for takes_tensor in (False, True):
        assert name(tf.keras, takes_tensor) == name(keras, takes_tensor)


@pytest.mark.parametrize("file", ["m.h5", "m.weights.h5"])
@pytest.mark.parametrize("network", NETWORKS)
def test_keras_reads_our_files(tmp_path: Path, network: str, file: str) -> None:
    options = small(network, include_top=False, pooling="avg")
    ours, theirs = made(tf.keras, network, **options), made(keras, network, **options)
    randomize(theirs)
    ours.set_weights([value + 1 for value in theirs.get_weights()])
    ours.save_weights(tmp_path / file, save_format="h5")
    theirs.load_weights(tmp_path / file)
    for one, other in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("alpha", [0.35, 0.5, 0.75, 1.3, 1.4])
def test_widths_of_mobile_net(alpha: float) -> None:
    ours, theirs = (made(each, "MobileNetV2", alpha=alpha, input_shape=(96, 96, 3)) for each in (tf.keras, keras))
    assert (ours.name, ours.count_params()) == (theirs.name, theirs.count_params())
    assert [tuple(each.shape.as_list()) for each in ours.weights] == [tuple(each.shape) for each in theirs.weights]


def test_whole_models_come_along(tmp_path: Path) -> None:
    theirs = made(keras, "EfficientNetB0", **small("EfficientNetB0", classes=5))
    randomize(theirs)
    theirs.save(tmp_path / "m.keras")
    x = images(theirs, 2)
    near(tf.keras.models.load_model(tmp_path / "m.keras")(x), theirs(x))


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
def test_pixels(mode: str, data_format: str) -> None:
    random = np.random.RandomState(0)
    for shape in ((3, 5, 3), (2, 3, 5, 3)):
        pixels = random.randint(0, 256, shape)
        if data_format == "channels_first":
            pixels = np.moveaxis(pixels, -1, -3)
        theirs = keras.applications.imagenet_utils.preprocess_input(pixels.copy(), data_format, mode)
        ours = tf.keras.applications.imagenet_utils.preprocess_input(pixels, data_format, mode)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
        tensor = tf.keras.applications.imagenet_utils.preprocess_input(tf.constant(pixels), data_format, mode)
        np.testing.assert_allclose(tensor.numpy(), theirs, rtol=1e-5, atol=1e-5)
