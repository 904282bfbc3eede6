"""Boston and California housing: small files made here, beside NumPy's own random orders."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import boston_housing, california_housing
from agog_testing import says

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(700, 13)), RNG.normal(size=700)


def prices(path: Path, **arrays: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **(arrays or {"x": X, "y": Y}))
    return path


def same(found: Any, expected: Any) -> None:
    for parts, wanted in zip(found, expected, strict=True):
        for part, each in zip(parts, wanted, strict=True):
            assert part.dtype == each.dtype
            assert np.array_equal(part, each)


def by_hand(rows: int, seed: int, count: int) -> Any:
    order = np.random.RandomState(seed).permutation(rows)
    train, test = order[:count], order[count:]
    return (X[train], Y[train]), (X[test], Y[test])


def test_orders_and_parts(keras_folder: Path, tmp_path: Path) -> None:
    prices(keras_folder / "boston_housing.npz")
    prices(keras_folder / "california_housing.npz")
    same(boston_housing.load_data(), by_hand(700, 113, 560))
    same(boston_housing.load_data(test_split=0, seed=5), by_hand(700, 5, 700))
    same(california_housing.load_data(), by_hand(700, 113, 560))
    same(california_housing.load_data("small", test_split=0.35, seed=2), by_hand(600, 2, 390))
    own = prices(tmp_path / "own.npz")
    same(boston_housing.load_data(own, 0.5), by_hand(700, 113, 350))
    same(boston_housing.load_data(str(own), 0.5), by_hand(700, 113, 350))


def test_the_order_of_the_program_is_left_alone(keras_folder: Path) -> None:
    prices(keras_folder / "boston_housing.npz")
    np.random.seed(1)
    expected = np.random.random()
    np.random.seed(1)
    boston_housing.load_data()
    assert np.random.random() == expected


def test_they_are_downloaded_once(mirror: Any, keras_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((boston_housing, "boston_housing.npz"), (california_housing, "california_housing.npz")):
        file = prices(mirror.folder / name)
        monkeypatch.setattr(module, "CHECKSUM", hashlib.sha256(file.read_bytes()).hexdigest())
        for _ in range(2):
            same(module.load_data(), by_hand(700, 113, 560))  # type: ignore[attr-defined]
        same(module.load_data(path=f"other_{name}"), by_hand(700, 113, 560))  # type: ignore[attr-defined]
        assert mirror.requests == [f"/{name}"] * 2
        mirror.requests.clear()
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        monkeypatch.setattr(module, "CHECKSUM", "0" * 64)
        with says(
            errors.DataLossError,
            f"{keras_folder / 'third.npz'}: it could not be downloaded:\n"
            f"  {mirror.url}/{name}: SHA-256 {'0' * 64} is expected; it is {found}\n"
            f"Try again later, or put the files {name} into {keras_folder} by hand.",
        ):
            module.load_data(path="third.npz")  # type: ignore[attr-defined]
        mirror.requests.clear()
    assert sorted(path.name for path in keras_folder.iterdir()) == [
        "boston_housing.npz", "california_housing.npz", "other_boston_housing.npz", "other_california_housing.npz"
    ]  # fmt: skip


def test_arguments(keras_folder: Path) -> None:
    for part in (1, -0.1, 2):
        with says(ValueError, f"boston_housing.load_data: test_split must be at least 0 and less than 1; got {part}."):
            boston_housing.load_data(test_split=part)
    with says(ValueError, "california_housing.load_data: version must be 'large' or 'small'; got 'huge'."):
        california_housing.load_data("huge")
    keras_folder.parent.write_bytes(b"")
    with says(
        errors.PermissionDeniedError,
        f"{keras_folder / 'boston_housing.npz'}: its folder cannot be made: Not a directory. Give the path of a file "
        "that is there, or set KERAS_HOME to a folder that can be written.",
    ):
        boston_housing.load_data()


def test_broken_files(tmp_path: Path) -> None:
    def lost(path: Path) -> str:
        with pytest.raises(errors.DataLossError) as error:
            boston_housing.load_data(path)
        return str(error.value)

    path = prices(tmp_path / "a.npz", x=X, z=Y)
    assert lost(path) == f"{path}: it has not the arrays y; it has x, z."
    prices(path, x=X, y=Y[1:])
    assert lost(path) == (
        f"boston_housing.load_data: {path}: numbers x of shape (n, features) and y of shape (n,) are expected; they "
        "are float64 of shape (700, 13) and float64 of shape (699,)."
    )
    whole = prices(path).read_bytes()
    path.write_bytes(whole[:1000])
    assert lost(path) == f"{path}: it is no whole .npz file: File is not a zip file."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"text")
        archive.writestr("y.npy", b"")
    assert lost(path) == (
        f"{path}['x']: at byte 0: an array begins with b'\\x93NUMPY' and a version; this begins with b'text'."
    )
    prices(path)
    with says(
        errors.ResourceExhaustedError,
        f"{path}['x']: the array of shape (700, 13) and dtype float64 has 72800 bytes, and at most 1000 are read; "
        "max_bytes=... allows more.",
    ):
        boston_housing.load_data(path, max_bytes=1000)
    with says(errors.InvalidArgumentError, "boston_housing.load_data: max_bytes must be greater than zero; got 0."):
        boston_housing.load_data(path, max_bytes=0)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), 3):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.integers(len(data))] if rng.random() < 0.3 else data)
        try:
            boston_housing.load_data(path)
        except (errors.DataLossError, errors.ResourceExhaustedError, errors.InvalidArgumentError):
            refused += 1
    assert refused > 200
