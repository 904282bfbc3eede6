"""What is done with labels, sequences and texts before a training, against loops and NumPy."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras.preprocessing.labels import normalize, to_categorical
from agog_keras.preprocessing.sequences import pad_sequences
from agog_keras.preprocessing.tokenizer import (
    Tokenizer,
    hashing_trick,
    one_hot,
    text_to_word_sequence,
    tokenizer_from_json,
)
from agog_keras.seeds import set_random_seed
from agog_testing import says


@pytest.mark.parametrize(("x", "classes"), [([0, 2, 1], None), ([[1], [0]], 4), ([[0, 1], [2, 2]], 3), ([], 2)])
def test_categories(x: Any, classes: int | None) -> None:
    numbers = np.array(x, int)
    flat = numbers[..., 0] if numbers.ndim > 1 and numbers.shape[-1] == 1 else numbers
    expected = np.zeros((*flat.shape, classes or 3))
    for index in np.ndindex(*flat.shape):
        expected[(*index, flat[index])] = 1
    found = to_categorical(x, classes)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_class_numbers_that_are_too_large() -> None:
    with says(ValueError, "to_categorical: class numbers must be from 0 to 2, one less than num_classes; got 0 to 3."):
        to_categorical([0, 3], 3)


def test_norms() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(normalize(x), [[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(normalize(x, axis=0, order=1), [[1.0, 1.0], [0.0, 0.0]])


ROWS = [[1], [2, 3], [], [4, 5, 6, 7]]


@pytest.mark.parametrize("truncating", ["pre", "post"])
@pytest.mark.parametrize("padding", ["pre", "post"])
@pytest.mark.parametrize("length", [None, 3, 6, 0])
def test_padding(length: int | None, padding: str, truncating: str) -> None:
    size = 4 if length is None else length
    expected = []
    for row in ROWS:
        kept = row[max(0, len(row) - size) :] if truncating == "pre" else row[:size]
        filled = [9] * (size - len(kept))
        expected.append(filled + kept if padding == "pre" else kept + filled)
    found = pad_sequences(ROWS, length, padding=padding, truncating=truncating, value=9)
    assert found.dtype == np.int32
    assert found.tolist() == expected


def test_padding_of_vectors() -> None:
    assert pad_sequences([[[1, 2]], [[3, 4], [5, 6]]]).tolist() == [[[0, 0], [1, 2]], [[3, 4], [5, 6]]]
    with says(ValueError, "pad_sequences: all sequences must hold numbers or vectors of one size; got [(2,), (3,)]."):
        pad_sequences([[[1, 2]], [[1, 2, 3]]])
    with says(ValueError, "pad_sequences: padding must be 'pre' or 'post'; got 'left'."):
        pad_sequences([[1]], padding="left")


def test_words() -> None:
    assert text_to_word_sequence("A-b, C!  d") == ["a", "b", "c", "d"]
    assert text_to_word_sequence("A-b,C", filters="-", lower=False, split=",") == ["A", "b", "C"]
    numbers = hashing_trick("the cat the", 10)
    assert numbers[0] == numbers[2]
    assert all(0 < number < 10 for number in numbers)
    assert one_hot("the cat the", 10) == numbers
    assert hashing_trick("ab c", 10, len) == [3, 2]
    with says(ValueError, "hashing_trick: hash_function must be a function, 'md5' or None; got 'sha'."):
        hashing_trick("a", 10, "sha")


TEXTS = ["The cat sat.", "the dog; the cat"]


def test_tokenizers() -> None:
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(TEXTS)
    assert tokenizer.word_index == {"the": 1, "cat": 2, "sat": 3, "dog": 4}
    assert (tokenizer.word_counts["the"], tokenizer.word_docs["the"], tokenizer.document_count) == (3, 2, 2)
    assert tokenizer.texts_to_sequences(["a dog sat", ["cat"]]) == [[4, 3], [2]]
    assert tokenizer.sequences_to_texts([[1, 4], [9]]) == ["the dog", ""]
    again = tokenizer_from_json(tokenizer.to_json())
    assert again.texts_to_sequences(TEXTS) == tokenizer.texts_to_sequences(TEXTS)
    few = Tokenizer(num_words=3, oov_token="?")
    few.fit_on_texts(TEXTS)
    assert few.texts_to_sequences(["the cat sat"]) == [[2, 1, 1]]
    letters = Tokenizer(char_level=True)
    letters.fit_on_texts(["aab"])
    assert letters.texts_to_sequences(["ba"]) == [[2, 1]]


def test_matrices_of_texts() -> None:
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(TEXTS)
    rows = {
        "binary": [0, 1, 1, 0, 1],
        "count": [0, 2, 1, 0, 1],
        "freq": [0, 0.5, 0.25, 0, 0.25],
        "tfidf": [
            0,
            (1 + math.log(2)) * math.log(1 + 2 / 3),
            math.log(1 + 2 / 3),
            0,
            math.log(1 + 2 / 2),
        ],
    }
    for mode, row in rows.items():
        np.testing.assert_allclose(tokenizer.texts_to_matrix(TEXTS, mode)[1], row, rtol=1e-12)
    with says(ValueError, "sequences_to_matrix: mode must be 'binary' or 'count' or 'freq' or 'tfidf'; got 'sum'."):
        tokenizer.texts_to_matrix(TEXTS, "sum")


def test_one_seed_for_all() -> None:
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(ag.random_uniform([]))

    set_random_seed(3)
    first = draw()
    assert draw() != first
    set_random_seed(3)
    assert draw() == first


def test_numbers_of_words_one_text_after_the_other() -> None:
    tokenizer = Tokenizer()
    tokenizer.fit_on_texts(["a b", "a c"])
    rows = tokenizer.texts_to_sequences_generator(["c a", "d"])
    assert next(rows) == [3, 1]
    assert list(rows) == [[]]
