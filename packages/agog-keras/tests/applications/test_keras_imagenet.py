"""ImageNet: pixels in three modes, and the names of classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras.applications import imagenet
from agog_layers import Input
from agog_testing import says
from agog_training import Model

BGR, RGB, DEVIATION = [103.939, 116.779, 123.68], [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
FORMULAS = {
    "caffe": lambda x: x[..., ::-1] - BGR,
    "tf": lambda x: x / 127.5 - 1,
    "torch": lambda x: (x / 255 - RGB) / DEVIATION,
}


def integers(*shape: int) -> Any:
    return np.random.RandomState(0).randint(0, 256, shape).astype("uint8")


@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 2, 3, 3)])
@pytest.mark.parametrize("mode", FORMULAS)
def test_pixels(mode: str, shape: tuple[int, ...]) -> None:
    pixels = integers(*shape)
    expected = FORMULAS[mode](pixels.astype("float64"))
    result = imagenet.preprocess_input(pixels, mode=mode)
    assert (type(result), result.dtype) == (np.ndarray, "float32")
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    first = imagenet.preprocess_input(ag.constant(np.moveaxis(pixels, -1, -3)), "channels_first", mode)
    assert isinstance(first, ag.Tensor)
    np.testing.assert_allclose(np.moveaxis(first.numpy(), -3, -1), expected, rtol=1e-5, atol=1e-5)
    of_network = getattr(imagenet, f"preprocess_input_by_{mode}")
    np.testing.assert_array_equal(of_network(pixels), result)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_pixels_inside_of_models(dtype: str) -> None:
    pixels = integers(2, 2, 3, 3).astype(dtype)
    inputs = Input((2, 3, 3), dtype=dtype)
    for mode in FORMULAS:
        model = Model(inputs, imagenet.preprocess_input(inputs, mode=mode))
        np.testing.assert_allclose(model(pixels).numpy(), imagenet.preprocess_input(pixels, mode=mode), rtol=1e-6)


def test_arrays_stay_as_they_are() -> None:
    pixels = integers(2, 3, 3).astype("float64")
    before = pixels.copy()
    assert imagenet.preprocess_input(pixels).dtype == "float64"
    np.testing.assert_array_equal(pixels, before)
    assert imagenet.preprocess_input_inside(pixels) is pixels


def test_modes_and_formats() -> None:
    with says(ValueError, "preprocess_input: mode must be 'caffe' or 'tf' or 'torch'; got 'keras'."):
        imagenet.preprocess_input(np.zeros([1, 1, 3]), mode="keras")
    for function in (imagenet.preprocess_input, imagenet.preprocess_input_inside):
        with says(
            ValueError, "preprocess_input: data_format must be 'channels_last' or 'channels_first'; got 'channels'."
        ):
            function(np.zeros([1, 1, 3]), "channels")


def index(folder: Path) -> Path:
    """A file like Keras's, with made-up names."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "imagenet_class_index.json"
    path.write_text(json.dumps({str(k): [f"n{k:08}", f"thing_{k}"] for k in range(1000)}))
    return path


def test_names_of_classes(tmp_path: Path) -> None:
    scores = np.zeros([2, 1000], "float32")
    scores[0, [7, 999, 3]] = 0.5, 0.3, 0.2
    scores[1, 0] = 1
    first = [("n00000007", "thing_7", 0.5), ("n00000999", "thing_999", np.float32(0.3))]
    path = index(tmp_path)
    assert imagenet.decode_predictions(scores, 2, path)[0] == first
    assert imagenet.decode_predictions(ag.constant(scores), 1, str(path)) == [first[:1], [("n00000000", "thing_0", 1)]]


def test_names_of_keras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are taken from Keras's folder, whose checksum is looked at."""
    import hashlib

    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    path = index(tmp_path / "models")
    monkeypatch.setattr(imagenet, "_CLASSES_MD5", hashlib.md5(path.read_bytes()).hexdigest())
    scores = np.eye(1000, dtype="float32")[5:6]
    assert imagenet.decode_predictions(scores, 1) == [[("n00000005", "thing_5", 1)]]


def test_predictions_of_other_shapes() -> None:
    with says(
        ValueError,
        "decode_predictions: predictions must have shape (images, 1000); got (1, 10). Networks for other classes have "
        "other names.",
    ):
        imagenet.decode_predictions(np.zeros([1, 10]))
