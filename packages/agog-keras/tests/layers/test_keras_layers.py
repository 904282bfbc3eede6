"""What preprocessing layers have in common: descriptions, shapes, calls inside of datasets, and files of Keras."""

from __future__ import annotations

import inspect
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import DataLossError
from agog_data import Dataset
from agog_keras import layers
from agog_keras.layers import Normalization, TextVectorization
from agog_layers import Dense, Layer
from agog_layers.serialization.description import describe, revive
from agog_testing import says
from agog_testing.layers import check_description, check_model, check_shapes
from agog_training import load_model

IMAGES = np.random.default_rng(5).uniform(0, 1, (4, 5, 6, 3)).astype("float32")
NUMBERS, WHOLE = IMAGES[:, 0, 0], np.array([[0, 1], [2, 1], [1, 1], [0, 2]])
TEXTS = np.array([["a cat"], ["no"], ["the cat"], ["a dog"]])
# How each layer is made, the batch that it gets, and the shape of what it makes of an example.
CASES: dict[str, tuple[Callable[[], Layer], Any, tuple[int, ...]]] = {
    "CategoryEncoding": (lambda: layers.CategoryEncoding(3, "count"), WHOLE, (3,)),
    "CenterCrop": (lambda: layers.CenterCrop(3, 4), IMAGES, (3, 4, 3)),
    "Discretization": (lambda: layers.Discretization([0.25, 0.5]), NUMBERS, (3,)),
    "Hashing": (lambda: layers.Hashing(7, salt=133), TEXTS, (1,)),
    "IntegerLookup": (lambda: layers.IntegerLookup(vocabulary=[1, 2]), WHOLE, (2,)),
    "Normalization": (lambda: layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 5.0, 6.0]), NUMBERS, (3,)),
    "RandomBrightness": (lambda: layers.RandomBrightness(0.5, (0.0, 1.0), seed=3), IMAGES, (5, 6, 3)),
    "RandomContrast": (lambda: layers.RandomContrast(0.5, seed=3), IMAGES, (5, 6, 3)),
    "RandomCrop": (lambda: layers.RandomCrop(3, 4, seed=3), IMAGES, (3, 4, 3)),
    "RandomFlip": (lambda: layers.RandomFlip("vertical", seed=3), IMAGES, (5, 6, 3)),
    "RandomRotation": (lambda: layers.RandomRotation((0.1, 0.2), "wrap", seed=3), IMAGES, (5, 6, 3)),
    "RandomShear": (lambda: layers.RandomShear(0.2, (0.1, 0.3), seed=3), IMAGES, (5, 6, 3)),
    "RandomTranslation": (lambda: layers.RandomTranslation(0.1, (0.0, 0.3), "nearest", seed=3), IMAGES, (5, 6, 3)),
    "RandomZoom": (lambda: layers.RandomZoom(0.2, 0.3, "constant", fill_value=0.5, seed=3), IMAGES, (5, 6, 3)),
    "Rescaling": (lambda: layers.Rescaling(2.0, 1.0), NUMBERS, (3,)),
    "Resizing": (lambda: layers.Resizing(3, 4, "bicubic", crop_to_aspect_ratio=True), IMAGES, (3, 4, 3)),
    "StringLookup": (lambda: layers.StringLookup(vocabulary=["no", "a cat"]), TEXTS, (1,)),
    "TextVectorization": (
        lambda: layers.TextVectorization(vocabulary=["a", "cat"], output_sequence_length=3),
        TEXTS,
        (3,),
    ),
}


@pytest.mark.parametrize(("make", "given", "out"), CASES.values(), ids=CASES)
def test_every_layer(make: Callable[[], Layer], given: Any, out: tuple[int, ...]) -> None:
    x = ag.constant(given)
    check_description(make(), x)
    check_model(make(), x)
    check_shapes(make, x, out)


def test_every_class_is_in_the_table() -> None:
    known = {each for each in vars(layers).values() if inspect.isclass(each) and issubclass(each, Layer)}
    found = {each.__name__ for each in known if each.__module__.startswith("agog_keras.")}
    assert found - {"TFSMLayer"} == CASES.keys()  # which is made of a folder


def test_descriptions_mean_the_class_that_they_came_of() -> None:
    layer = Normalization()
    again = revive(describe(layer))
    assert type(again) is Normalization
    assert again.get_config() == layer.get_config()


def test_a_layer_can_be_called_first_inside_of_a_dataset() -> None:
    texts = TextVectorization(output_sequence_length=2)
    texts.adapt(["a b", "b"])
    dense = Dense(2)
    dataset = Dataset.from_tensor_slices(["a b", "b c"]).map(
        lambda x: dense(ag.cast(texts(ag.expand_dims(x, 0)), "float32"))
    )
    assert [tuple(element.shape) for element in dataset] == [(1, 2), (1, 2)]


def layer(kind: str, name: str, **settings: Any) -> dict[str, Any]:
    policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    config = {"name": name, "trainable": True, "dtype": policy, **settings}
    return {"module": "keras.layers", "class_name": kind, "config": config, "registered_name": None}


def written(path: Path, described: Any, place: str, vocabulary: str) -> Path:
    """A file as Keras 3 writes it of a sequential model of one layer with a vocabulary."""
    h5py = pytest.importorskip("h5py", reason="h5py reads HDF5")
    config = {"name": "net", "trainable": True, "layers": [described]}
    model = {"module": "keras", "class_name": "Sequential", "config": config, "registered_name": None}
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file.create_group("layers")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", '{"keras_version": "3.15.1"}')
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", weights.getvalue())
        archive.writestr(f"assets/layers/{place}/vocabulary.txt", vocabulary.encode())
    return path


LOOKUP = {
    **{"max_tokens": None, "num_oov_indices": 1, "invert": False, "output_mode": "int", "sparse": False},
    **{"pad_to_max_tokens": False, "vocabulary": None, "idf_weights": None, "vocabulary_size": 4},
}
TEXTS = {
    **{"max_tokens": None, "standardize": "lower_and_strip_punctuation", "split": "whitespace", "ngrams": None},
    **{"output_mode": "int", "output_sequence_length": 3, "pad_to_max_tokens": False, "sparse": False, "ragged": False},
    **{"vocabulary": None, "idf_weights": None, "encoding": "utf-8", "vocabulary_size": 4},
}
VOCABULARIES = [
    (
        *("string_lookup", layer("StringLookup", "v", mask_token=None, oov_token="[UNK]", encoding="utf-8", **LOOKUP)),
        *("[UNK]\nthe\ncat\nd\u00f6g", [["d\u00f6g", "cow"]], [[3, 0]]),
    ),
    (
        *(
            "integer_lookup",
            layer("IntegerLookup", "v", mask_token=None, oov_token=-1, vocabulary_dtype="int64", **LOOKUP),
        ),
        *("-1\n7\n12", [[12, 3]], [[2, 0]]),
    ),
    ("text_vectorization", layer("TextVectorization", "v", **TEXTS), "\n[UNK]\nthe\ncat\n", ["The cat!"], [[2, 3, 0]]),
]


@pytest.mark.parametrize(("place", "described", "text", "given", "expected"), VOCABULARIES)
def test_vocabularies_beside_the_weights(
    tmp_path: Path, place: str, described: Any, text: str, given: Any, expected: Any
) -> None:
    path = written(tmp_path / "m.keras", described, place, text)
    assert load_model(path).layers[0](given).numpy().tolist() == expected


def test_a_vocabulary_that_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "m.keras", VOCABULARIES[1][1], "integer_lookup", "x")
    with says(
        DataLossError,
        f"load_model: '{path}' is not a whole file of Keras: invalid literal for int() with base 10: 'x'.",
    ):
        load_model(path)
