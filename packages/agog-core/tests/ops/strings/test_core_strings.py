"""Strings: what the table of ops does not say."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.strings.strings import regex_full_match, string_length, string_split_v2


def test_parts_are_a_sparse_matrix() -> None:
    sparse = ag.string_split(["hello world", "", "a b c"])
    assert isinstance(sparse, ag.SparseTensor)
    assert sparse.indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
    assert sparse.values.numpy().tolist() == [b"hello", b"world", b"a", b"b", b"c"]
    assert sparse.shape == (3, 3) == sparse.get_shape()
    assert (sparse.dtype, sparse.indices.dtype, sparse.dense_shape.dtype) == (ag.string, ag.int64, ag.int64)


@pytest.mark.parametrize(
    ("text", "sep", "maxsplit"), [("a/b/c.csv", "/", -1), (" a  b ", None, -1), ("", ",", -1), ("a,b,c", ",", 1)]
)
def test_one_string_is_cut_into_a_vector(text: str, sep: str | None, maxsplit: int) -> None:
    found = string_split_v2(text, sep, maxsplit)
    assert isinstance(found, ag.Tensor)
    assert [part.decode() for part in found.numpy()] == text.split(sep, maxsplit)


def test_delimiters_patterns_and_separators_may_be_tensors() -> None:
    assert ag.string_split(["a,b"], ag.constant(",")).values.numpy().tolist() == [b"a", b"b"]
    assert ag.regex_replace("ab", ag.constant("a"), ag.constant("c")).numpy() == b"cb"
    assert ag.string_join(["a", "b"], separator=b"-").numpy() == b"a-b"


def test_sparse_tensors_keep_what_they_are_given() -> None:
    sparse = ag.SparseTensor([[0, 1]], [5.0], [3, 2])
    assert (sparse.indices.dtype, sparse.dense_shape.dtype, sparse.dtype) == (ag.int64, ag.int64, ag.float32)
    assert repr(sparse).startswith("SparseTensor(indices=<tf.Tensor: id=")


@pytest.mark.parametrize(("text", "units", "characters"), [("grün", 5, 4), ("€", 3, 1), ("", 0, 0), ("𝄞a", 5, 2)])
def test_lengths_in_bytes_and_in_characters(text: str, units: int, characters: int) -> None:
    assert int(string_length(text)) == units
    assert int(string_length(text, unit="UTF8_CHAR")) == characters


def test_bytes_of_images_become_numbers() -> None:
    pixels = np.arange(12, dtype=np.uint8)
    assert ag.decode_raw(pixels.tobytes(), ag.uint8).numpy().tolist() == pixels.tolist()
    assert ag.decode_raw(pixels.tobytes(), ag.float32).shape == (3,)


def test_numbers_go_there_and_back() -> None:
    numbers = np.array([0.5, -2.0, 1e10], np.float32)
    assert ag.string_to_number(ag.as_string(numbers)).numpy().tolist() == numbers.tolist()


def test_patterns_match_characters_of_utf8() -> None:
    assert ag.regex_replace("grün", ".", "x").numpy() == b"xxxx"
    assert ag.regex_replace(b"a\xff", ".", "x").numpy() == b"xx"
    assert ag.regex_replace(b"\xffa", "a", "ä").numpy() == b"\xff\xc3\xa4"
    assert bool(regex_full_match("é", "."))
    assert not bool(regex_full_match("é", r"\w"))
