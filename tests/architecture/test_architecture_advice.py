"""Advice: every public name of TensorFlow 1.12, TensorFlow 2 and Keras 3 is there, or its error says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import agog as tf
from agog_compat import advice, habits
from agog_testing import says

FOLDER = Path(__file__).parent / "names"
# A line for each namespace: a colon, and its names; `list_names.py` reads them from wheels.
LISTS = {file.stem: file.read_text(encoding="utf-8").splitlines() for file in sorted(FOLDER.glob("*.txt"))}
NAMES = {
    which: [
        f"{namespace}.{name}"
        for namespace, _, names in (line.partition(": ") for line in lines)
        for name in names.split()
    ]
    for which, lines in LISTS.items()
}


def reached(name: str) -> tuple[Any, str, str | None]:
    """How far a program gets with a name: the last value, its name, and the text of the error, if there is one."""
    value: Any = tf
    so_far = "tf"
    for part in name.split(".")[1:]:
        so_far = f"{so_far}.{part}"
        try:
            value = getattr(value, part)
        except AttributeError as error:
            return value, so_far, str(error)
    return value, so_far, None


def test_there_is_enough_to_look_at() -> None:
    least = {"keras_3": 1600, "pytorch": 40, "tensorflow_1": 2100, "tensorflow_2": 1700, "tensorflow_between": 5}
    assert {which: len(names) for which, names in NAMES.items() if len(names) < least[which]} == {}


@pytest.mark.parametrize("which", NAMES)
def test_every_name_is_there_or_teaches(which: str) -> None:
    silent = {}
    for name in NAMES[which]:
        _, missing, text = reached(name)
        if text is not None and ": not in agog; " not in text:
            silent[missing] = text
    assert silent == {}


def test_no_advice_is_for_what_is_there() -> None:
    there = [name for name in advice.absent() if not name.endswith(".*") and reached(name)[2] is None]
    assert there == []


def test_no_advice_is_for_what_nobody_asks() -> None:
    asked = {name for names in NAMES.values() for name in names}
    asked |= {name.rpartition(".")[0] for name in asked}
    assert [name for name in advice.absent() if not name.endswith(".*") and name not in asked] == []


def test_what_advice_names_is_there() -> None:
    """The names that texts of advice begin with ``tf.`` or ``tfe.`` exist."""
    import re

    texts = {*advice.absent().values(), *(text for _, text in advice.refused().values())}
    texts |= {text for name, table in vars(habits).items() if name.startswith("OF_") for text in table.values()}
    texts |= {*habits.SAID_INSTEAD.values()}
    named = {word for text in texts for word in re.findall(r"\btf\.[A-Za-z_.0-9]*\w", text)}
    assert len(named) > 50
    assert sorted(name for name in named if reached(name)[2] is not None) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tf.ragged", "tf.ragged: not in agog; use padded_batch with masks"),
        (
            "tf.no_grad",
            "tf.no_grad: not in agog; leave it out: nothing is recorded outside of tf.GradientTape; inside, use "
            "tape.stop_recording()",
        ),
        ("tf.contrib.slim", "tf.contrib.slim: not in agog; use tf.keras.layers"),
        (
            "tf.contrib.layers.conv2d",
            "tf.contrib.layers.conv2d: not in agog; use tf.keras.layers, or tf.layers for functions",
        ),
        ("tf.keras.layers.Dens", "module 'agog.keras.layers' has no attribute 'Dens'"),
        ("tf.no_such_name", "module 'agog' has no attribute 'no_such_name'"),
    ],
)
def test_texts(name: str, text: str) -> None:
    assert reached(name)[2] == text


def test_an_import_of_what_is_missing_teaches_too() -> None:
    with says(
        ImportError, "cannot import name 'ragged' from 'agog': tf.ragged: not in agog; use padded_batch with masks"
    ):
        exec("from agog import ragged", {})
    with says(
        ImportError,
        "cannot import name 'JaxLayer' from 'agog.keras.layers': tf.keras.layers.JaxLayer: not in agog; hand over "
        "arrays with tensor.numpy() or DLPack, in a layer of your own",
    ):
        exec("from agog.keras.layers import Dense, JaxLayer", {})


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (
            tf.data.Dataset.range(3),
            "save",
            "use cache(filename), or tf.data.experimental.TFRecordWriter(path).write(dataset)",
        ),
        (tf.random.Generator(1), "normal", "use tf.random.set_generator(g), and tf.random.normal(shape)"),
        (tf.keras.Sequential(), "to_yaml", "use m.to_json()"),
        (tf.keras.Sequential(), "parameters", "use m.trainable_variables"),
        (tf.keras.optimizers.Adam(), "get_weights", "use [v.numpy() for v in optimizer.variables()]"),
    ],
)
def test_objects_teach_too(value: object, name: str, text: str) -> None:
    with says(AttributeError, f"{type(value).__name__}.{name}: not in agog; {text}"):
        getattr(value, name)
