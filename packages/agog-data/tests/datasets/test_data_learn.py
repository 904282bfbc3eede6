"""Databases of ``tf.contrib.learn``, and examples in CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import learn
from agog_data.datasets.csv_examples import Dataset, load_csv_with_header, load_csv_without_header, maybe_download
from agog_testing import says


def test_iris() -> None:
    iris = learn.load_iris()
    assert isinstance(iris, Dataset)
    assert (iris.data.dtype, iris.data.shape, iris.target.dtype) == (np.float64, (150, 4), np.int64)
    assert np.bincount(iris.target).tolist() == [50, 50, 50]
    # As in every description of these data.
    np.testing.assert_allclose(iris.data.mean(0), [5.843333, 3.054, 3.758667, 1.198667], atol=1e-6)
    np.testing.assert_allclose(iris.data[iris.target == 1].mean(0), [5.936, 2.77, 4.26, 1.326])
    assert (iris.data.min(), iris.data.max()) == (0.1, 7.9)
    assert np.array_equal(learn.load_dataset("iris").data, iris.data)


def test_boston(keras_folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(5, 13)), rng.normal(size=5)
    keras_folder.mkdir(parents=True)
    np.savez(keras_folder / "boston_housing.npz", x=x, y=y)
    for found in (learn.load_boston(), learn.load_dataset("boston")):
        assert np.array_equal(found.data, x)
        assert np.array_equal(found.target, y)
    file = tmp_path / "own.csv"
    file.write_text("1,2,a,b\n1.5,-2,30\n")
    data, target = learn.load_boston(file)
    assert (data.tolist(), target.tolist(), target.dtype) == ([[1.5, -2.0]], [30.0], np.float64)


def test_mnist(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(learn, "read_data_sets", asked.append)
    learn.load_dataset("mnist")
    learn.load_mnist("own")
    assert asked == ["MNIST-data", "own"]


def test_names() -> None:
    with says(ValueError, "load_dataset: name must be 'iris', 'boston' or 'mnist'; got 'dbpedia'."):
        learn.load_dataset("dbpedia", size="large")


def test_csv_files(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('3,2,x,y\r\n7,"1",2\r\n8,3,4.5\r\n\r\n9,-5,6e1\r\n')
    for column, data, target in (
        (0, [[1, 2], [3, 4.5], [-5, 60]], [7, 8, 9]),
        (-2, [[7, 2], [8, 4.5], [9, 60]], [1, 3, -5]),
    ):
        found = load_csv_with_header(str(file), np.int32, np.float32, column)
        assert (found.data.dtype, found.target.dtype) == (np.float32, np.int32)
        assert (found.data.tolist(), found.target.tolist()) == (data, target)
    file.write_text("1,2,red\n3,4,blue\n")
    found = load_csv_without_header(filename=file, target_dtype=str, features_dtype=int)
    assert (found.data.tolist(), found.target.tolist()) == ([[1, 2], [3, 4]], ["red", "blue"])
    file.write_text("0,4\n")
    assert load_csv_with_header(file, int, float).data.shape == (0, 4)


def test_broken_csv_files(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for text, problem in (
        (b"", "line 1: the numbers of examples and of features are expected first; it is []."),
        (b"a,b\n1,2\n", "line 1: the numbers of examples and of features are expected first; it is ['a', 'b']."),
        (b"1\n1,2\n", "line 1: the numbers of examples and of features are expected first; it is ['1']."),
        (b"3,1\n1,2\n", "line 1 says 3 examples; there are 1."),
        (b"1,2\n1,2\n", "row 2: 2 features and a target are expected; it has 2 fields."),
        (b"1,1\nx,2\n", "row 2: could not convert string to float: 'x'."),
        (b"1,1\n1,x\n", "row 2: invalid literal for int() with base 10: 'x'."),
        (
            b"1,1\n1,\xff\n",
            "it is no CSV file: 'utf-8' codec can't decode byte 0xff in position 6: invalid start byte.",
        ),
    ):
        file.write_bytes(text)
        with says(errors.DataLossError, f"load_csv_with_header: {file}: {problem}"):
            load_csv_with_header(file, int, float)
    file.write_bytes(b"")
    with says(errors.DataLossError, f"load_csv_without_header: {file}: there are no rows."):
        load_csv_without_header(file, int, float)
    file.write_bytes(b"1,2\n")
    with says(errors.InvalidArgumentError, "load_csv_without_header: target_column must be from -2 to 1; got 2."):
        load_csv_without_header(file, int, float, target_column=2)
    with says(errors.NotFoundError, f"{tmp_path / 'none'}: there is no such file."):
        load_csv_without_header(tmp_path / "none", int, float)


def test_what_is_there_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source.csv").write_text("1,2\n")
    url = (tmp_path / "source.csv").as_uri()
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert maybe_download("a.csv", "deep/folder", url) == str(tmp_path / "deep" / "folder" / "a.csv")
        assert (tmp_path / "deep" / "folder" / "a.csv").read_text() == "1,2\n"
        (tmp_path / "source.csv").write_text("3,4\n")
