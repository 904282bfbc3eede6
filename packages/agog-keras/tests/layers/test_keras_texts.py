"""Layers with vocabularies: strings, integers and texts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.errors import InvalidArgumentError
from agog_data import Dataset
from agog_keras.layers import IntegerLookup, StringLookup, TextVectorization
from agog_layers import Embedding, Sequential
from agog_testing import says

WORDS = ["cat", "dog", "bird"]
ROWS = [["dog", "cat", "dog"], ["cow", "bird", "cat"]]


def test_strings_by_a_given_vocabulary() -> None:
    layer = StringLookup(vocabulary=WORDS)
    assert layer(ROWS).numpy().tolist() == [[2, 1, 2], [0, 3, 1]]
    assert (layer.get_vocabulary(), layer.vocabulary_size()) == (["[UNK]", *WORDS], 4)
    assert layer.get_vocabulary(include_special_tokens=False) == WORDS
    back = StringLookup(vocabulary=layer.get_vocabulary(), invert=True)
    assert back([[2, 1], [0, 9]]).numpy().tolist() == [[b"dog", b"cat"], [b"[UNK]", b"[UNK]"]]
    masked = StringLookup(vocabulary=WORDS, mask_token="")
    assert masked([["", "bird", "cow"]]).numpy().tolist() == [[0, 4, 1]]
    assert masked.get_vocabulary() == ["", "[UNK]", *WORDS]


def test_unknown_strings() -> None:
    with says(
        InvalidArgumentError,
        "StringLookup layer 's': 'cow' is not in the vocabulary, and num_oov_indices is 0; give it a place with "
        "num_oov_indices=1.",
    ):
        StringLookup(vocabulary=WORDS, num_oov_indices=0, name="s")(["cow"])
    several = StringLookup(vocabulary=WORDS, num_oov_indices=3)
    cow, pig, cat = several(["cow", "pig", "cat"]).numpy().tolist()
    assert cat == 3
    assert [cow, pig] == ag.string_to_hash_bucket_fast(["cow", "pig"], 3).numpy().tolist()


@pytest.mark.parametrize(
    "data",
    [ROWS, Dataset.from_tensor_slices(ROWS).batch(1), Dataset.from_tensor_slices(ROWS)],
    ids=["list", "batches", "rows"],
)
def test_strings_of_data(data: Any) -> None:
    layer = StringLookup()
    layer.adapt(data)
    assert layer.get_vocabulary() == ["[UNK]", "dog", "cat", "cow", "bird"]
    few = StringLookup(max_tokens=3)
    few.adapt(data)
    assert few.get_vocabulary() == ["[UNK]", "dog", "cat"]


MODES: dict[str, Any] = {
    "one_hot": [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]],
    "multi_hot": [[0, 1, 1, 0], [1, 1, 0, 1]],
    "count": [[0, 1, 2, 0], [1, 1, 0, 1]],
}


@pytest.mark.parametrize("mode", MODES)
def test_vectors(mode: str) -> None:
    layer = StringLookup.from_config(StringLookup(vocabulary=WORDS, output_mode=mode).get_config())
    rows = ["dog", "cat", "cow"] if mode == "one_hot" else ROWS
    assert layer(rows).numpy().tolist() == MODES[mode]


def test_vectors_by_the_names_of_older_versions() -> None:
    config = StringLookup(vocabulary=WORDS, output_mode="binary").get_config()
    assert config == {**StringLookup(vocabulary=WORDS, output_mode="multi_hot", name=config["name"]).get_config()}
    assert StringLookup(output_mode="tf-idf").output_mode == "tf_idf"


def test_inverse_document_frequencies() -> None:
    layer = StringLookup(output_mode="tf_idf")
    layer.adapt(ROWS)
    weights = {word: math.log(1 + 2 / (1 + n)) for word, n in (("dog", 1), ("cat", 2), ("cow", 1), ("bird", 1))}
    expected = [0.0, 2 * weights["dog"], weights["cat"], 0.0, 0.0]
    np.testing.assert_allclose(layer(ROWS).numpy()[0], expected, rtol=1e-6)
    again = StringLookup.from_config(layer.get_config())
    np.testing.assert_array_equal(again(ROWS).numpy(), layer(ROWS).numpy())
    unknown = sum(weights.values()) / 4
    np.testing.assert_allclose(layer([["pig", "pig"]]).numpy()[0, 0], 2 * unknown, rtol=1e-6)
    with says(
        RuntimeError, "StringLookup layer 's' has no idf_weights: call adapt on data, or set_vocabulary with them."
    ):
        StringLookup(vocabulary=WORDS, output_mode="tf_idf", name="s")(ROWS)


def test_integers() -> None:
    layer = IntegerLookup()
    layer.adapt(np.array([[7, 7, 1000], [7, 42, 42]]))
    assert layer.get_vocabulary() == [-1, 7, 42, 1000]
    again = IntegerLookup.from_config(layer.get_config())
    assert again([[1000, 5]]).numpy().tolist() == [[3, 0]]
    masked = IntegerLookup(mask_token=0, vocabulary=[12, 36])
    assert masked([0, 36, 5]).numpy().tolist() == [0, 3, 1]
    assert IntegerLookup(vocabulary=[12, 36], invert=True)([1, 2, 0]).numpy().tolist() == [12, 36, -1]


def test_vocabularies_that_do_not_fit(tmp_path: Path) -> None:
    for make, text in (
        (lambda: StringLookup(vocabulary=["a", "b", "a"], name="s"), "the vocabulary has 'a' twice."),
        (
            lambda: StringLookup(3, vocabulary=WORDS, name="s"),
            "the vocabulary has 3 terms, and 1 places are for others; max_tokens is 3.",
        ),
        (
            lambda: StringLookup(vocabulary=WORDS, idf_weights=[1.0], name="s"),
            "there are 3 terms and 1 idf_weights.",
        ),
        (
            lambda: StringLookup(vocabulary=WORDS, name="s").adapt(ROWS),
            "the vocabulary was given, so there is nothing to adapt; leave it out.",
        ),
    ):
        with says(ValueError, f"StringLookup layer 's': {text}"):
            make()
    with says(RuntimeError, "StringLookup layer 's' has no vocabulary yet: call adapt on data, or set_vocabulary."):
        StringLookup(name="s")(ROWS)
    file = tmp_path / "words.txt"
    file.write_text("\n".join(WORDS))
    assert StringLookup(vocabulary=str(file))(["bird"]).numpy().tolist() == [3]


TEXTS = ["The cat -- sat!", "the DOG sat; the cat's dog"]


def test_texts() -> None:
    layer = TextVectorization()
    layer.adapt(TEXTS)
    assert layer.get_vocabulary() == ["", "[UNK]", "the", "sat", "dog", "cats", "cat"]
    assert layer(TEXTS).numpy().tolist() == [[2, 6, 3, 0, 0, 0], [2, 4, 3, 2, 5, 4]]
    assert layer([["a cat"], ["dog"]]).numpy().tolist() == [[1, 6], [4, 0]]
    assert layer(ag.constant("sat dog")).numpy().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"standardize": None}, ["the", "sat;", "sat!", "dog", "cat's", "cat", "The", "DOG", "--"]),
        ({"standardize": "lower"}, ["the", "dog", "sat;", "sat!", "cat's", "cat", "--"]),
        ({"standardize": "strip_punctuation"}, ["the", "sat", "dog", "cats", "cat", "The", "DOG"]),
        ({"split": None}, ["the dog sat the cats dog", "the cat  sat"]),
        ({"standardize": None, "split": lambda x: ag.constant([["a", "b"]])}, ["b", "a"]),
        ({"standardize": lambda x: ag.constant(["x y x"])}, ["x", "y"]),
        ({"ngrams": 2, "max_tokens": 8}, ["the", "sat", "dog", "the dog", "the cats", "the cat"]),
        ({"ngrams": [2], "max_tokens": 5}, ["the dog", "the cats", "the cat"]),
    ],
)
def test_terms_of_texts(options: dict[str, Any], expected: list[str]) -> None:
    layer = TextVectorization(**options)
    layer.adapt(TEXTS)
    assert layer.get_vocabulary(include_special_tokens=False) == expected


def test_characters() -> None:
    layer = TextVectorization(split="character", standardize=None, vocabulary=list("abc"))
    assert layer(["cab", "ax"]).numpy().tolist() == [[4, 2, 3], [2, 1, 0]]


def test_sequences_of_one_length() -> None:
    layer = TextVectorization(output_sequence_length=3, vocabulary=["the", "cat"])
    again = TextVectorization.from_config(layer.get_config())
    assert again(["the cat sat on", "cat"]).numpy().tolist() == [[2, 3, 1], [3, 0, 0]]


def test_vectors_of_texts() -> None:
    counts = TextVectorization(output_mode="count", vocabulary=["the", "cat"])
    assert counts(["the the dog", "cat"]).numpy().tolist() == [[1, 2, 0], [0, 0, 1]]
    some = TextVectorization(output_mode="multi_hot", vocabulary=["the", "cat"])
    assert some(["the the dog"]).numpy().tolist() == [[1, 1, 0]]


def test_vocabularies_are_saved_with_the_model(tmp_path: Path) -> None:
    def model() -> Any:
        return Sequential([TextVectorization(output_sequence_length=4), Embedding(10, 3)])

    one, other = model(), model()
    one.layers[0].adapt(TEXTS)
    expected = one(ag.constant(TEXTS)).numpy()
    path = Checkpoint(model=one).write(str(tmp_path / "model"))
    Checkpoint(model=other).restore(path)
    np.testing.assert_array_equal(other(ag.constant(TEXTS)).numpy(), expected)
