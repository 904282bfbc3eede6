"""Arguments of networks: what cannot be is said before anything is computed or downloaded."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import DataLossError, UnavailableError
from agog_keras.applications import published as published_weights
from agog_keras.applications.inception_v3 import InceptionV3
from agog_keras.applications.mobilenet_v2 import MobileNetV2
from agog_keras.applications.resnet import ResNet50
from agog_keras.applications.vgg import VGG16
from agog_layers import Input
from agog_testing import says

NO_TOP: dict[str, Any] = {"include_top": False, "weights": None}


@pytest.fixture(autouse=True)
def _nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setattr(published_weights, "_STORAGE", (tmp_path / "storage").as_uri())


@pytest.mark.parametrize(
    ("network", "options", "text"),
    [
        (
            ResNet50,
            {"classes": 10},
            "ResNet50: with weights='imagenet' and include_top=True classes must be 1000; got 10. Pass "
            "include_top=False and add a layer for your classes, or weights=None.",
        ),
        (
            ResNet50,
            {"input_shape": (200, 200, 3)},
            "ResNet50: with weights='imagenet' and include_top=True input_shape must be (224, 224, 3); got "
            "(200, 200, 3). Pass include_top=False, or weights=None.",
        ),
        (
            VGG16,
            {"include_top": False, "input_shape": (64, 64, 1)},
            "VGG16: weights='imagenet' is for images of 3 channels; got input_shape=(64, 64, 1).",
        ),
        (
            VGG16,
            {**NO_TOP, "input_shape": (31, 32, 3)},
            "VGG16: images must have at least 32 x 32 pixels; got input_shape=(31, 32, 3).",
        ),
        (
            InceptionV3,
            {**NO_TOP, "input_shape": (74, 299, 3)},
            "InceptionV3: images must have at least 75 x 75 pixels; got input_shape=(74, 299, 3).",
        ),
        (
            VGG16,
            {"weights": None, "input_shape": (None, 64, 3)},
            "VGG16: with include_top=True all sizes must be known; got input_shape=(None, 64, 3). Pass "
            "include_top=False, or sizes such as (224, 224, 3).",
        ),
        (
            VGG16,
            {**NO_TOP, "input_shape": (64, 64)},
            "VGG16: input_shape must be (height, width, channels), without the batch; got (64, 64).",
        ),
        (
            MobileNetV2,
            {**NO_TOP, "input_shape": (64,)},
            "MobileNetV2: input_shape must be (height, width, channels), without the batch; got (64,).",
        ),
        (
            ResNet50,
            {"classifier_activation": "relu"},
            "ResNet50: with weights classifier_activation must be 'softmax' or None; got 'relu'.",
        ),
        (ResNet50, {**NO_TOP, "pooling": "mean"}, "ResNet50: pooling must be None, 'avg' or 'max'; got 'mean'."),
        (
            ResNet50,
            {**NO_TOP, "input_tensor": 3},
            "ResNet50: input_tensor must be symbolic, a tf.keras.Input or what layers make of one; got 3. Call the "
            "model on a tensor.",
        ),
        (
            MobileNetV2,
            {"alpha": 0.4},
            "MobileNetV2: with weights='imagenet' alpha must be one of (0.35, 0.5, 0.75, 1.0, 1.3, 1.4); got 0.4.",
        ),
        (
            MobileNetV2,
            {**NO_TOP, "weights": "imagnet", "input_shape": (32, 32, 3)},
            "MobileNetV2: weights must be None, 'imagenet' or the path of a file; got 'imagnet', and there is no such "
            "file.",
        ),
    ],
)
def test_what_cannot_be(network: Any, options: dict[str, Any], text: str) -> None:
    with says(ValueError, text):
        network(**options)


def test_shapes_of_input_tensors() -> None:
    images = Input((32, 64, 3))
    with says(
        ValueError,
        "MobileNetV2: input_shape and input_tensor must have one width; got (32, 32, 3) and (?, 32, 64, 3).",
    ):
        MobileNetV2((32, 32, 3), include_top=False, weights=None, input_tensor=images)


def test_images_of_other_channels() -> None:
    with pytest.warns(UserWarning, match=r"VGG16: images mostly have 1 or 3 channels") as record:
        model = VGG16(include_top=False, weights=None, input_shape=(32, 32, 5))
    assert record[0].filename == __file__
    assert model(ag.zeros([1, 32, 32, 5])).shape == (1, 1, 1, 512)


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    file = "resnet50_weights_tf_dim_ordering_tf_kernels_notop.h5"
    path = tmp_path / "keras" / "models" / file
    address = f"{(tmp_path / 'storage').as_uri()}/tensorflow/keras-applications/resnet/{file}"
    with says(
        UnavailableError,
        f"get_file: {address} could not be fetched: <urlopen error [Errno 2] No such file or directory: "
        f"'{tmp_path}/storage/tensorflow/keras-applications/resnet/{file}'>. Try again later, or put the file there by "
        f"hand, as {path}.",
    ):
        ResNet50(include_top=False)
    stored = tmp_path / "storage" / "tensorflow" / "keras-applications" / "resnet" / file
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"no weights")
    with says(
        DataLossError,
        f"get_file: {address} has the md5 checksum a531743590a6ac9fa02a1b5e6e55248b; "
        "4d473c1dd8becc155b73f8504c6f6626 is expected.",
    ):
        ResNet50(include_top=False)


def test_weights_that_are_there(tmp_path: Path) -> None:
    """A file that Keras has downloaded is read without asking the network; Keras knows no checksum of this one."""
    options: dict[str, Any] = {"alpha": 0.35, "include_top": False, "input_shape": (96, 96, 3)}
    model = MobileNetV2(weights=None, **options)
    folder = tmp_path / "keras" / "models"
    folder.mkdir(parents=True)
    file = folder / "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_0.35_96_no_top.h5"
    model.save_weights(file, save_format="h5")
    again = MobileNetV2(**options)
    assert again.name == "mobilenetv2_0.35_96"
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(other, one)
    file.rename(folder / file.name.replace("_96_", "_224_"))
    with pytest.warns(UserWarning, match=r"images of height and width 96, 128, 160, 192, 224; those for 224 are taken"):
        MobileNetV2(**{**options, "input_shape": (96, 64, 3)})


def test_functions_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(ResNet50)) is ResNet50
