"""Names that no file can have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agog_core import dtypes, errors
from agog_data import Dataset
from agog_data.readers import (
    FixedLengthRecordDataset,
    ImageFolder,
    NumpyDataset,
    SqlDataset,
    TextLineDataset,
    TFRecordDataset,
    TFRecordWriter,
    WebDataset,
)
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset
from agog_testing import says


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("TextLineDataset", lambda name: list(TextLineDataset(name))),
        ("TextLineDataset", lambda name: list(TextLineDataset(name, "GZIP"))),
        ("FixedLengthRecordDataset", lambda name: list(FixedLengthRecordDataset(name, 1))),
        ("CsvDataset", lambda name: list(CsvDataset(name, [0]))),
        ("TFRecordDataset", lambda name: list(TFRecordDataset(name))),
        ("TFRecordWriter", TFRecordWriter),
        ("Glob", lambda name: make_csv_dataset(name, 1)),
    ],
)
def test_nul_characters_in_names_of_records(tmp_path: Path, function: str, call: Callable[[str], Any]) -> None:
    with says(errors.InvalidArgumentError, f"{function}: a file name must not hold a NUL character."):
        call(f"{tmp_path}/a\0b")


@pytest.mark.parametrize(
    "call",
    [
        lambda name: SqlDataset("sqlite", name, "SELECT 1", (dtypes.int32,)),
        NumpyDataset,
        lambda name: list(WebDataset(name)),
        ImageFolder,
        lambda name: list(Dataset.range(2).cache(name)),
    ],
    ids=["sqlite", "numpy", "webdataset", "folder", "cache"],
)
def test_nul_characters_in_other_names(tmp_path: Path, call: Callable[[str], Any]) -> None:
    name = f"{tmp_path}/a\0b"
    with says(errors.InvalidArgumentError, f"{name!r}: a file name must not hold a NUL character."):
        call(name)
    assert list(tmp_path.iterdir()) == []
