"""Model files that somebody forged: small ones take little memory, and whatever they say, one clear error comes."""

from __future__ import annotations

import copy
import json
import random
import re
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog_layers as layers
from agog_checkpoint.file import read_file, save_file
from agog_checkpoint.objects import snapshot
from agog_core.errors import DataLossError
from agog_layers import Input
from agog_layers.metrics.keras.counts import AUC
from agog_layers.metrics.keras.operating_points import PrecisionAtRecall
from agog_layers.naming.names import layer_names
from agog_training import Model, Sequential, load_model, model_from_config, model_from_json
from agog_training.saving.model_file import _File

SMALL = 50_000_000  # bytes that a refused file may take
LARGE = 1_500_000_000  # bytes of a few values as large as those of a model may be


def images() -> Model:
    x = Input((8, 8, 3))
    y = layers.Conv2D(4, 3, padding="same", dilation_rate=2)(x)
    z = layers.UpSampling2D(2)(layers.MaxPooling2D(2, padding="same")(y))
    return Model(x, layers.Dense(3)(layers.GlobalAveragePooling2D()(layers.Add()([y, z]))) * 2.0)


def words() -> Model:
    x = Input((5,), dtype="int32")
    y = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(layers.Embedding(10, 4, mask_zero=True)(x))
    return Model(x, layers.RepeatVector(3)(layers.GRU(4)(y)))


def attention() -> Model:
    x = Input((5, 8))
    y = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(x, x))
    return Model(x, layers.Reshape((15,))(layers.TimeDistributed(layers.Dense(3))(y)))


def nested() -> Model:
    inner = Sequential([layers.UpSampling1D(2, input_shape=(4, 3)), layers.Conv1D(4, 2), layers.ZeroPadding1D(1)])
    x = Input((4, 3))
    return Model(x, layers.Flatten()(inner(x)))


def stateful() -> Sequential:
    return Sequential([layers.LSTM(3, stateful=True, batch_input_shape=(2, 4, 3)), layers.BatchNormalization()])


def turned() -> Sequential:
    last = layers.Conv2DTranspose(2, 2, strides=2, padding="same")
    return Sequential([layers.SeparableConv2D(2, 2, input_shape=(4, 4, 2)), layers.DepthwiseConv2D(2), last])


MODELS: list[Callable[[], Any]] = [images, words, attention, nested, stateful, turned]
# What numbers and other parts of a description are forged to.
FORGED: list[Any] = [10**9, 10**8, [10**5, 10**5], [10**9], [None, 10**9], 2**31, 10**18, -(10**9), 0, 1e30]
FORGED += [float("nan"), None, "x", [], {}, True, "10**9", {"class_name": "Dense", "config": {"units": 10**9}}]


def compiled(model: Any) -> Any:
    model.compile("adam", "mse", metrics=["mae", AUC(num_thresholds=20), PrecisionAtRecall(0.5, num_thresholds=30)])
    return model


def description_of(model: Any, path: Path) -> dict[str, Any]:
    model.save(path)
    return copy.deepcopy(read_file(str(path))[0].nodes[0].state)


def peak_of(function: Callable[[], Any]) -> int:
    """How many bytes were taken at most at one time."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(path: Path, kind: type[Exception] = DataLossError) -> str:
    """The text of the error that loading a file raises, which takes little memory."""
    texts = []

    def load() -> None:
        with pytest.raises(kind) as caught:
            load_model(path)
        texts.append(str(caught.value))

    assert peak_of(load) < SMALL
    return texts[0]


def outcome(path: Path) -> tuple[str, int]:
    """What loading a file says, and how many bytes it takes."""
    texts = ["load_model: "]

    def load() -> None:
        try:
            load_model(path)
        except (ValueError, DataLossError) as error:
            texts.append(str(error))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peak = peak_of(load)
    return texts[-1], peak


def forged(path: Path, model: Any, layer: int, **config: Any) -> Path:
    """A file in whose description a layer of a model has other settings; its checksums are right."""
    description = description_of(model, path)
    description["model"]["config"]["layers"][layer]["config"].update(config)
    save_file(str(path), snapshot(_File(model, description)))
    return path


def test_weights_that_the_file_cannot_have_are_not_made(tmp_path: Path) -> None:
    model = Sequential([layers.Dense(3, input_shape=(4,), name="hidden")], name="net")
    path = forged(tmp_path / "m.agog", model, 0, units=10**8)
    assert path.stat().st_size < 2000
    assert refused(path) == (
        f"load_model: the description of the model in {str(path)!r} is damaged: weight 'net/hidden/kernel' would have "
        "shape (4, 100000000), and all arrays of the file together have 15 numbers"
    )


def test_weights_add_up(tmp_path: Path) -> None:
    model = Sequential([layers.Dense(3, input_shape=(4,), name="d0")], name="net")
    description = description_of(model, tmp_path / "m.agog")
    entry = description["model"]["config"]["layers"][0]
    rows = [copy.deepcopy(entry) for _ in range(40)]
    for n, row in enumerate(rows):
        row["config"].update(name=f"d{n}", units=400)
    description["model"]["config"]["layers"] = rows
    save_file(str(tmp_path / "m.agog"), snapshot(_File(model, description)))
    assert "weight 'net/d7/kernel' would have shape (400, 400)" in refused(tmp_path / "m.agog")


@pytest.mark.parametrize(
    ("make", "layer", "config", "what"),
    [
        (images, 0, {"batch_input_shape": [None, 10**6, 10**6, 3]}, "value 'input_1' would have shape (1, 1000000, 1"),
        (images, 1, {"dilation_rate": [10**5, 10**5]}, "padded input of layer 'conv2d' would have shape (300008, 300"),
        (images, 2, {"pool_size": [10**5, 10**5]}, "padded input of layer 'max_pooling2d' would have shape (100008, "),
        (images, 3, {"size": [10**5, 10**5]}, "output of layer 'up_sampling2d' would have shape (1, 400000, 400000, "),
        (words, 4, {"n": 10**9}, "the output of layer 'repeat_vector' would have shape (1, 1000000000, 4)"),
        (words, 1, {"input_dim": 10**9}, "weight 'embedding/embeddings' would have shape (1000000000, 4)"),
        (stateful, 0, {"batch_input_shape": [10**9, 1, 3]}, "the value 'lstm_input' would have shape (1000000000, 1, "),
        (stateful, 0, {"batch_input_shape": [10**6, 1, 3], "units": 400}, "a state would have shape (1000000, 400)"),
    ],
)
def test_values_that_are_too_large_are_not_made(
    tmp_path: Path, make: Callable[[], Any], layer: int, config: dict[str, Any], what: str
) -> None:
    layer_names.forget()
    model = make()
    text = refused(forged(tmp_path / "m.agog", model, layer, **config))
    assert what in text


@pytest.mark.parametrize("make", MODELS)
def test_forged_descriptions_take_little_memory_and_raise_one_error(
    tmp_path: Path, places: Callable[[Any], list[tuple[Any, Any]]], make: Callable[[], Any]
) -> None:
    chance = random.Random(make.__name__)
    model, path = compiled(make()), tmp_path / "m.agog"
    description = description_of(model, path)
    load_model(path)
    for _ in range(40):
        other = copy.deepcopy(description)
        whole = [(holder, key) for holder, key in places(other) if type(holder[key]) is int]
        holder, key = chance.choice(whole if chance.random() < 0.6 else places(other))
        before, holder[key] = holder[key], chance.choice(FORGED)
        save_file(str(path), snapshot(_File(model, other)))
        text, peak = outcome(path)
        assert (text.startswith(("load_model: ", "Checkpoint")), peak < LARGE) == (True, True), (
            f"{key!r}: {before!r} -> {holder[key]!r}: {text}, {peak} bytes"
        )


def test_nested_descriptions_raise_one_error(tmp_path: Path) -> None:
    text = json.dumps({"class_name": "Sequential", "config": {"layers": "DEEP"}})
    deep = text.replace('"DEEP"', "[" * 5000 + "]" * 5000)
    with pytest.raises(ValueError, match=r"^model_from_json: the text is no description of a model: RecursionError: "):
        model_from_json(deep)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("7", "model_from_config: a description is a dict with 'class_name' and 'config'; got 7."),
        ("{}", "model_from_config: a description is a dict with 'class_name' and 'config'; got {}."),
        (
            '{"class_name": "Sequential", "config": []}',
            "model_from_config: the description of a Sequential is damaged: AttributeError: 'list' object has no "
            "attribute 'items'",
        ),
        (
            '{"class_name": ["Dense"], "config": {}}',
            "model_from_config: a description is a dict with 'class_name' and 'config'; got {'class_name': ['Dense'], "
            "'config': {}}.",
        ),
    ],
)
def test_descriptions_that_are_none(text: str, error: str) -> None:
    for make in (lambda: model_from_json(text), lambda: model_from_config(json.loads(text))):
        with pytest.raises(ValueError, match=f"^{re.escape(error)}$"):
            make()
