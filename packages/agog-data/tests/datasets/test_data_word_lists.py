"""IMDB and Reuters: small files that NumPy and Python's pickle write here, beside what Keras makes of them, by hand."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import imdb, reuters
from agog_testing import says

RNG = np.random.default_rng(8)


def texts(count: int) -> np.ndarray[Any, Any]:
    found = np.empty(count, object)
    found[:] = [[int(word) for word in np.minimum(RNG.zipf(1.3, RNG.integers(1, 60)), 90_000)] for _ in range(count)]
    return found


X, Y = texts(400), RNG.integers(0, 46, 400)
TEST_X, TEST_Y = texts(300), RNG.integers(0, 2, 300)


def by_keras(x: Any, start: int | None, oov: int | None, index_from: int, skip_top: int, end: int) -> list[Any]:
    """The texts, word for word, as Keras's documentation says."""
    found = []
    for text in x:
        words = ([] if start is None else [start]) + [word + index_from for word in text]
        known = [word if skip_top <= word < end else oov for word in words]
        found.append([word for word in known if word is not None])
    return found


def lists(array: Any, expected: Any) -> None:
    assert array.dtype == object
    assert array.shape == (len(expected),)
    assert {type(text) for text in array} <= {list}
    assert array.tolist() == expected


@pytest.fixture
def files(keras_folder: Path) -> Path:
    keras_folder.mkdir(parents=True)
    np.savez(keras_folder / "reuters.npz", x=X, y=Y)
    np.savez_compressed(keras_folder / "imdb.npz", x_train=X, y_train=Y % 2, x_test=TEST_X, y_test=TEST_Y)
    return keras_folder


def test_imdb(files: Path) -> None:
    (x_train, y_train), (x_test, y_test) = imdb.load_data()
    random = np.random.RandomState(113)
    train, test = random.permutation(400), random.permutation(300)
    end = 3 + max(max(text) for text in [*X, *TEST_X])
    lists(x_train, by_keras(X[train], 1, 2, 3, 0, end))
    lists(x_test, by_keras(TEST_X[test], 1, 2, 3, 0, end))
    assert y_train.dtype == y_test.dtype == np.int64
    assert y_train.tolist() == (Y % 2)[train].tolist()
    assert y_test.tolist() == TEST_Y[test].tolist()
    (x_train, _), (x_test, _) = imdb.load_data(
        num_words=50, skip_top=5, seed=4, start_char=None, oov_char=None, index_from=0
    )
    random = np.random.RandomState(4)
    lists(x_train, by_keras(X[random.permutation(400)], None, None, 0, 5, 50))
    lists(x_test, by_keras(TEST_X[random.permutation(300)], None, None, 0, 5, 50))


def test_long_reviews_are_left_out_of_their_half(files: Path) -> None:
    (x_train, y_train), (x_test, y_test) = imdb.load_data(num_words=1000, maxlen=30)
    random = np.random.RandomState(113)
    for x, y, kept, labels in (
        (X, Y % 2, x_train, y_train), (TEST_X, TEST_Y, x_test, y_test)
    ):  # fmt: skip
        order = [number for number in random.permutation(len(x)) if len(x[number]) + 1 < 30]
        lists(kept, by_keras(x[order], 1, 2, 3, 0, 1000))
        assert labels.tolist() == y[order].tolist()


def test_reuters(files: Path) -> None:
    (x_train, y_train), (x_test, y_test) = reuters.load_data()
    order = np.random.RandomState(113).permutation(400)
    expected = by_keras(X[order], 1, 2, 3, 0, 3 + max(max(text) for text in X))
    lists(x_train, expected[:320])
    lists(x_test, expected[320:])
    assert [*y_train, *y_test] == Y[order].tolist()
    (x_train, y_train), (x_test, y_test) = reuters.load_data(
        "reuters.npz", 100, 10, 20, 0.35, 7, start_char=8, oov_char=9, index_from=10
    )
    order = np.array([number for number in np.random.RandomState(7).permutation(400) if len(X[number]) + 1 < 20])
    expected = by_keras(X[order], 8, 9, 10, 10, 100)
    count = int(len(order) * 0.65)
    lists(x_train, expected[:count])
    lists(x_test, expected[count:])
    assert [*y_train, *y_test] == Y[order].tolist()
    (x_train, _), (x_test, _) = reuters.load_data(test_split=1)
    assert (len(x_train), len(x_test)) == (0, 400)


def test_topics() -> None:
    names = reuters.get_label_names()
    assert (len(set(names)), names[0], names[16], names[45]) == (46, "cocoa", "crude", "lead")


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_files_of_all_ages(tmp_path: Path, protocol: int) -> None:
    file = tmp_path / "own.npz"
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in (("x", X), ("y", Y)):
            data = io.BytesIO()
            np.lib.format.write_array_header_1_0(data, np.lib.format.header_data_from_array_1_0(array))
            data.write(pickle.dumps(array, protocol) if array.dtype.hasobject else array.tobytes())
            archive.writestr(f"{name}.npy", data.getvalue())
    (x, _), _ = reuters.load_data(file, test_split=0, start_char=None, index_from=0, num_words=10**6)
    assert x.tolist() == X[np.random.RandomState(113).permutation(400)].tolist()


def test_texts_of_one_length(tmp_path: Path) -> None:
    x = np.empty(3, object)
    x[:] = [[1, 2], [3, 4], [5, 6]]
    np.savez(tmp_path / "a.npz", x=x, y=[0, 1, 2])
    (x_train, _), _ = reuters.load_data(tmp_path / "a.npz", 100, test_split=0, start_char=None, index_from=0)
    assert x_train.shape == (3,)
    assert sorted(x_train.tolist()) == [[1, 2], [3, 4], [5, 6]]


def test_numbers_of_words(mirror: Any, keras_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((imdb, "imdb_word_index.json"), (reuters, "reuters_word_index.json")):
        data = json.dumps({"the": 1, "é": 2}).encode()
        (mirror.folder / name).write_bytes(data)
        monkeypatch.setattr(module, "WORD_INDEX_CHECKSUM", hashlib.md5(data).hexdigest())
        for _ in range(2):
            assert module.get_word_index() == {"the": 1, "é": 2}  # type: ignore[attr-defined]
        assert mirror.requests == [f"/{name}"]
        mirror.requests.clear()
        function = f"{module.__name__.rpartition('.')[2]}.get_word_index"
        for text, problem in (
            (
                b"{",
                "it is no whole JSON file: Expecting property name enclosed in double quotes: line 1 column 2 "
                "(char 1).",
            ),
            (b"[" * 100_000, "it is no whole JSON file: it is nested too deep."),
            (b"[1]", "an object of words and their numbers is expected."),
            (b'{"a": "b"}', "an object of words and their numbers is expected."),
        ):  # fmt: skip
            (keras_folder / name).write_bytes(text)
            with says(errors.DataLossError, f"{function}: {keras_folder / name}: {problem}"):
                module.get_word_index()  # type: ignore[attr-defined]


def test_they_are_downloaded_once(mirror: Any, keras_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(mirror.folder / "reuters.npz", x=X, y=Y)
    np.savez(mirror.folder / "imdb.npz", x_train=X, y_train=Y, x_test=TEST_X, y_test=TEST_Y)
    for module, name in ((imdb, "imdb.npz"), (reuters, "reuters.npz")):
        data = (mirror.folder / name).read_bytes()
        older = hashlib.md5(data).hexdigest()
        with says(
            errors.DataLossError,
            f"{keras_folder / name}: it could not be downloaded:\n  {mirror.url}/{name}: SHA-256 {module.CHECKSUMS[0]} "
            f"is expected; it is {hashlib.sha256(data).hexdigest()}\n"
            f"Try again later, or put the files {name} into {keras_folder} by hand.",
        ):
            module.load_data()  # type: ignore[attr-defined]
        monkeypatch.setattr(module, "CHECKSUMS", ("0" * 64, older))
        mirror.requests.clear()
        for _ in range(2):
            (x_train, _), _ = module.load_data()  # type: ignore[attr-defined]
        assert len(x_train) == (400 if module is imdb else 320)
        assert mirror.requests == [f"/{name}"]
        mirror.requests.clear()


def test_arguments(files: Path) -> None:
    with pytest.warns(DeprecationWarning, match=r".") as warned:
        (x, _), _ = imdb.load_data(nb_words=50)
    assert str(warned[0].message) == "imdb.load_data: nb_words has been renamed to num_words."
    assert max(map(max, x)) < 50
    with says(TypeError, "reuters.load_data: there is no argument 'words'."):
        reuters.load_data(words=50)
    with says(TypeError, "reuters.load_data: num_words must be an integer; got 'all' of type str."):
        reuters.load_data(num_words="all")  # type: ignore[arg-type]
    for module in (imdb, reuters):
        name = f"{module.__name__.rpartition('.')[2]}.load_data"
        with says(ValueError, f"{name}: no text is shorter than maxlen=1; give a larger one."):
            module.load_data(maxlen=1)  # type: ignore[attr-defined]
    with says(ValueError, "reuters.load_data: test_split must be from 0 to 1; got 1.5."):
        reuters.load_data(test_split=1.5)


class Hostile:
    """What runs a program where it is read as Python reads it."""

    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/this-must-not-be",)


def lost(path: Path, **arrays: Any) -> str:
    if arrays:
        np.savez(path, **arrays)
    with pytest.raises(errors.DataLossError) as error:
        reuters.load_data(path)
    return str(error.value).removeprefix("reuters.load_data: ").removeprefix(str(path))


def test_hostile_files(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    hostile = np.array([Hostile(), [1]], object)
    assert lost(path, x=hostile, y=[0, 1]).endswith(
        f": the pickle names {os.system.__module__}.system, which is never called: only NumPy's arrays of numbers and "
        "of objects are read."
    )
    assert not os.path.exists("/tmp/this-must-not-be")
    assert lost(path, x=X, y=Y[:-1]) == (
        ": n lists and n labels, which are integers, are expected; they are object of shape (400,) and int64 of shape "
        "(399,)."
    )
    assert lost(path, x=X.reshape(20, 20), y=Y) == (
        ": n lists and n labels, which are integers, are expected; they are object of shape (20, 20) and int64 of "
        "shape (400,)."
    )
    for strange in ("text", [1, "a"], {"a": 1}, (1, 2), [[1]], [1.5], [True], None, 3):
        x = np.empty(2, object)
        x[:] = [[1], 0]
        x[1] = strange
        assert lost(path, x=x, y=[0, 1]) == ": the text 1 (the first is 0) is no list of integers."
    shared = [1] * 1000
    x = np.empty(1000, object)
    x[:] = [shared] * 1000
    assert lost(path, x=x, y=np.zeros(1000, int)).endswith(
        "the pickle uses an object twice that is no number, text or dtype, or that it has not."
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        data = io.BytesIO()
        np.lib.format.write_array_header_1_0(data, {"descr": "|O", "fortran_order": False, "shape": (3,)})
        archive.writestr("x.npy", data.getvalue() + pickle.dumps([1, 2, 3]))
        archive.writestr("y.npy", b"")
    assert lost(path) == "['x']: the pickle holds no array of objects of shape (3,)."
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", data.getvalue() + bytes(10_000_000))
        archive.writestr("y.npy", b"")
    with says(
        errors.ResourceExhaustedError,
        f"{path}['x']: the array of objects has more than 1000000 bytes; max_bytes=... allows more.",
    ):
        reuters.load_data(path, max_bytes=1_000_000)


def test_any_damage_is_one_of_our_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=X[:30], y=Y[:30])
    whole = path.read_bytes()
    refused = 0
    for _ in range(400):
        data = bytearray(whole[: RNG.integers(1, len(whole))] if RNG.random() < 0.3 else whole)
        for place in RNG.integers(0, len(data), RNG.integers(1, 4)):
            data[place] = RNG.integers(256)
        path.write_bytes(data)
        try:
            reuters.load_data(path)
        except (errors.DataLossError, errors.InvalidArgumentError, errors.ResourceExhaustedError):
            refused += 1
    assert refused > 300
