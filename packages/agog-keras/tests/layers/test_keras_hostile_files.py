"""Model files with preprocessing layers that somebody forged: they take little memory, and one clear error comes."""

from __future__ import annotations

import copy
import random
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint.file import read_file, save_file
from agog_checkpoint.objects import snapshot
from agog_core.errors import DataLossError
from agog_keras import layers
from agog_layers import Dense, EinsumDense, Input
from agog_layers.layer.policy import set_global_policy
from agog_training import Model, load_model
from agog_training.saving.model_file import _File

LARGE = 1_500_000_000  # bytes of a few values as large as those of a model may be
# What numbers and other parts of a description are forged to.
FORGED: list[Any] = [10**9, 10**8, [10**5, 10**5], [10**9], [None, 10**9], 2**31, 10**18, -(10**9), 0, 1e30]
FORGED += [float("nan"), None, "x", [], {}, True, "10**9", {"class_name": "Dense", "config": {"units": 10**9}}]


def pictures() -> Model:
    x = Input((6, 6, 3))
    y = layers.CenterCrop(2, 2)(layers.Rescaling(0.5)(layers.Resizing(4, 4)(x)))
    return Model(x, EinsumDense("abcd,de->abce", output_shape=(None, None, 5), bias_axes="e")(y))


def categories() -> Model:
    x = Input((1,), dtype="int64")
    return Model(x, Dense(2)(layers.CategoryEncoding(num_tokens=6, output_mode="one_hot")(x)))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Where something is in nested dicts and lists: what holds it, and its key."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *places(value[key])]]


def outcome(path: Path) -> tuple[str, int]:
    """What loading a file says, and how many bytes it takes."""
    text = "load_model: "
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_model(path)
    except (ValueError, DataLossError) as error:
        text = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return text, peak


@pytest.mark.parametrize("make", [pictures, categories])
def test_forged_descriptions_take_little_memory_and_raise_one_error(tmp_path: Path, make: Callable[[], Any]) -> None:
    chance = random.Random(make.__name__)
    model, path = make(), tmp_path / "m.agog"
    model.compile("adam", "mse")
    model.save(path)
    description = copy.deepcopy(read_file(str(path))[0].nodes[0].state)
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


def test_preprocessing_follows_the_policy() -> None:
    x = ag.constant(np.float32([[1.0, 2.0]]))
    set_global_policy("mixed_float16")
    try:
        y = layers.Rescaling(0.5)(x)
    finally:
        set_global_policy(None)
    assert y.dtype == ag.float16
    assert y.numpy().tolist() == [[0.5, 1.0]]
