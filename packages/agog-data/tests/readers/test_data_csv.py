"""Comma-separated values: records, fields, files and tables."""

from __future__ import annotations

import csv
import gzip
import io
import tracemalloc
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import values

import agog_core as ag
from agog_data.readers.csv_fields import decode_csv, split_record
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError


def decoded(*arguments: Any, **options: Any) -> list[Any]:
    return [np.asarray(column.numpy()).tolist() for column in decode_csv(*arguments, **options)]


def test_columns_are_decoded() -> None:
    defaults = [[7], ag.constant([], ag.int64), [""], 0.5, ag.constant([1.0], ag.float64)]
    found = decode_csv(["1,2,a,3,4", ",-2,,,"], defaults)
    assert [column.dtype for column in found] == [ag.int32, ag.int64, ag.string, ag.float32, ag.float64]
    assert [column.numpy().tolist() for column in found] == [[1, 7], [2, -2], [b"a", b""], [3.0, 0.5], [4.0, 1.0]]
    assert decoded([["1"], ["2"]], [[0]]) == [[[1], [2]]]
    assert decoded("5,x", [[0], [""]]) == [5, b"x"]
    assert decoded(ag.constant([], ag.string), [[0]]) == [[]]


def test_options_of_decoding() -> None:
    assert decoded("1;NA", [[0], [9]], field_delim=";", na_value="NA") == [1, 9]
    assert decoded('"a,b', [[""], [""]], use_quote_delim=False) == [b'"a', b"b"]
    assert decoded("1,x,3", [[0], [0]], select_cols=[0, 2]) == [1, 3]
    assert decoded(" 4 ,+5", [[0], [0]]) == [4, 5]
    assert decoded("inf,-1e3,nan,1e60", [[0.0]] * 4)[:2] == [float("inf"), -1000.0]


def test_fields_are_split_as_by_the_standard_library() -> None:
    rng = np.random.default_rng(3)
    alphabet = np.array(list('ab,"\n\r '))
    for trial in range(300):
        fields = ["".join(rng.choice(alphabet, rng.integers(0, 6))) for _ in range(rng.integers(1, 5))]
        written = io.StringIO()
        csv.writer(written, lineterminator="\r\n").writerow(fields)
        record = written.getvalue().removesuffix("\r\n").encode()
        assert split_record(record, b",", True) == [field.encode() for field in fields], trial


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "number of fields": (
        lambda: decode_csv(["1,2", "3"], [[0], [0]]),
        InvalidArgumentError,
        "decode_csv: record 1: Expect 2 fields but have 1 in record 1.",
    ),
    "empty": (
        lambda: decode_csv([""], [[0]]),
        InvalidArgumentError,
        "decode_csv: record 0: Expect 1 fields but have 0 in record 0: it is empty.",
    ),
    "required": (
        lambda: decode_csv(["1,"], [[0], ag.constant([], ag.int32)]),
        InvalidArgumentError,
        "decode_csv: record 0: Field 1 is required but missing in record 0! The first field is 0.",
    ),
    "integer": (
        lambda: decode_csv(["1.5"], [[0]]),
        InvalidArgumentError,
        "decode_csv: record 0: Field 0 in record 0 is not a valid int32: 1.5: the first field is 0.",
    ),
    "large integer": (
        lambda: decode_csv(["2147483648"], [[0]]),
        InvalidArgumentError,
        "decode_csv: record 0: Field 0 in record 0 is not a valid int32: 2147483648: the first field is 0.",
    ),
    "underscore": (
        lambda: decode_csv(["1_0"], [[0.0]]),
        InvalidArgumentError,
        "decode_csv: record 0: Field 0 in record 0 is not a valid float: 1_0: the first field is 0.",
    ),
    "float": (
        lambda: decode_csv(["x"], [[0.0]]),
        InvalidArgumentError,
        "decode_csv: record 0: Field 0 in record 0 is not a valid float: x: the first field is 0.",
    ),
    "open quote": (
        lambda: decode_csv(['"a'], [[""]]),
        InvalidArgumentError,
        "decode_csv: record 0: Quoted field has to end with quote followed by delim, CRLF, or EOF: one is not closed.",
    ),
    "quote within": (
        lambda: decode_csv(['x,a"b"'], [[""], [""]]),
        InvalidArgumentError,
        "decode_csv: record 0: Unquoted fields cannot have quotes/CRLFs inside: look at field 1.",
    ),
    "after a quote": (
        lambda: decode_csv(['"a"b'], [[""]]),
        InvalidArgumentError,
        "decode_csv: record 0: Quoted field has to end with quote followed by delim, CRLF, or EOF: field 0 goes on "
        "after it.",
    ),
    "line end": (
        lambda: decode_csv(["a\n"], [[""]]),
        InvalidArgumentError,
        "decode_csv: record 0: Unquoted fields cannot have quotes/CRLFs inside: there is a line end in a field.",
    ),
    "selected": (
        lambda: decode_csv(["1"], [[0]], select_cols=[1]),
        InvalidArgumentError,
        "decode_csv: record 0: Expect 1 fields but have 0 in record 0: field 1 is selected; there are 1 fields, the "
        "first is 0.",
    ),
    "order": (
        lambda: decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0]),
        ValueError,
        "decode_csv: select_cols is not strictly increasing. Got [1, 0], for 2 record_defaults.",
    ),
    "selected below 0": (
        lambda: decode_csv(["1,2"], [[0], [0]], select_cols=[-1, 0]),
        ValueError,
        "decode_csv: select_cols contains negative values. Got [-1, 0], for 2 record_defaults.",
    ),
    "as many selected": (
        lambda: decode_csv(["1,2"], [[0], [0]], select_cols=[0]),
        ValueError,
        "decode_csv: Length of select_cols and record_defaults do not match. Got [0], for 2 record_defaults.",
    ),
    "rank of a default": (
        lambda: decode_csv(["1"], [[[0]]]),
        InvalidArgumentError,
        "decode_csv: Each record default should be at most rank 1. That of column 0 has shape (1, 1).",
    ),
    "dtype": (
        lambda: decode_csv(["1"], [ag.constant([True])]),
        InvalidArgumentError,
        "decode_csv: the default of column 0 must be of dtype float32, float64, int32, int64 or string, and have at "
        "most one element; got dtype bool and shape (1,).",
    ),
    "delimiter": (
        lambda: decode_csv(["1"], [[0]], field_delim="ab"),
        InvalidArgumentError,
        "decode_csv: field_delim must be one character, no quote and no line end; got 'ab'.",
    ),
    "numbers": (
        lambda: decode_csv([1], [[0]]),
        InvalidArgumentError,
        "decode_csv: records must hold strings; got dtype int32.",
    ),
}


@pytest.mark.parametrize(("act", "kind", "text"), WRONG.values(), ids=WRONG)
def test_errors(act: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with says(kind, text):
        act()


def test_files_of_records(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'a,b\r\n1,"x, ""y"\n2,"li\nne"\r\n,\n3,z')
    dataset = CsvDataset(str(path), [[7], [b"none"]], header=True)
    assert dataset.output_types == (ag.int32, ag.string)
    assert values(dataset) == [(1, b'x, "y'), (2, b"li\nne"), (7, b"none"), (3, b"z")]
    assert values(dataset.map(lambda number, text: number).batch(2)) == [[1, 2], [7, 3]]


def test_errors_name_file_record_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'n,t\n1,a"b\nx,c\n3,d\n4\n5,"e')
    iterator = iter(CsvDataset(str(path), [ag.int32, ag.string], header=True))
    found: list[Any] = []
    while True:
        try:
            found += values([next(iterator)])
        except StopIteration:
            break
        except InvalidArgumentError as error:
            found.append(str(error))
    place = f"CsvDataset: {path}: record {{}} (the first is 0), at byte {{}}: "
    assert found == [
        place.format(0, 4) + "Unquoted fields cannot have quotes inside: look at field 1.",
        place.format(1, 10) + "Field 0 in record is not a valid int32: x: the first field is 0.",
        (3, b"d"),
        place.format(3, 18) + "Expect 2 fields but have 1 in record.",
        place.format(4, 20) + "Reached end of file without closing quoted field in record: one is not closed.",
    ]


def test_errors_of_files(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'"a"b,c\n1,2,3\n')
    place = f"CsvDataset: {path}: record {{}} (the first is 0), at byte {{}}: "
    iterator = iter(CsvDataset(str(path), [ag.string, ag.string]))
    for number, offset, text in [
        (0, 0, "Quote inside a string has to be escaped by another quote: field 0 goes on after it."),
        (1, 7, "Expect 2 fields but have more in record: 3."),
    ]:
        with says(InvalidArgumentError, place.format(number, offset) + text):
            next(iterator)
    path.write_bytes(b"")
    assert values(CsvDataset(str(path), [ag.string])) == []
    with says(InvalidArgumentError, place.format(0, 0) + "Can't read header of file: it is empty."):
        list(CsvDataset(str(path), [ag.string], header=True))
    with says(InvalidArgumentError, "CsvDataset: buffer_size should be positive; got 0."):
        list(CsvDataset(str(path), [ag.string], buffer_size=0))


@pytest.mark.parametrize("buffer_size", [None, 1, 3])
@pytest.mark.parametrize(
    "text",
    [
        b'"a\nb\n",1\n"c",2\n',
        b'"a""\n""b\n""\nc",1\n"d",2\n',
        b'"a",1\n"\n\n",2\n"\n"" ""\n",3\n',
        b'"a\r\nb",1\r\nc,2\r\n',
        b'"a\rb",1\rc,2\r"\n\r\n",3\r',
        b'a,1\r"b",2\r\nc,3\n"\r",4',
    ],
)
def test_records_of_several_lines(tmp_path: Path, text: bytes, buffer_size: int) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    expected = [(a.encode(), int(b)) for a, b in csv.reader(io.StringIO(text.decode(), newline=""))]
    assert values(CsvDataset(str(path), [ag.string, ag.int32], buffer_size=buffer_size)) == expected


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_records_have_a_limit(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "table.csv"
    text = b'a,1\n"' + 50 * b"b\n" + b'",2\nc,3\n'
    path.write_bytes(gzip.compress(text) if compression else text)
    whole = len(text) - len(b"a,1\nc,3\n")
    defaults = [ag.string, ag.int32]
    assert len(values(CsvDataset(str(path), defaults, compression, max_bytes=whole))) == 3
    for buffer_size in (1, 7, None):
        iterator = iter(CsvDataset(str(path), defaults, compression, buffer_size, max_bytes=whole - 1))
        assert values([next(iterator)]) == [(b"a", 1)]
        with says(
            ag.errors.ResourceExhaustedError,
            f"CsvDataset: {path}: record 1 (the first is 0), at byte 4: the record has more than 104 bytes; "
            "max_bytes=... allows more.",
        ):
            next(iterator)
    with says(InvalidArgumentError, "CsvDataset: max_bytes must be greater than zero; got 0."):
        CsvDataset(str(path), defaults, max_bytes=0)


def test_memory_for_a_record_of_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'"' + 1_000_000 * b"a\n" + b'"\n')
    dataset = CsvDataset(str(path), [ag.string])
    list(dataset.take(0))
    tracemalloc.start()
    try:
        ((field,),) = values(dataset)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert field == 1_000_000 * b"a\n"
    assert most < 6 * len(field)


def test_tables_of_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n1,2\n")[:-9])
    with says(ag.errors.DataLossError, f"make_csv_dataset: {path}: at byte 8: the compressed bytes end too early."):
        make_csv_dataset(str(path), 1, compression_type="GZIP")


def write_table(folder: Path) -> str:
    for number, rows in enumerate(["1,0.5,a\n2,,b\n", "3000000000,1e300,\n"]):
        (folder / f"part{number}.csv").write_bytes(gzip.compress(f"x,y,kind\n{rows}".encode()))
    return str(folder / "part*.csv")


def test_tables(tmp_path: Path) -> None:
    pattern = write_table(tmp_path)
    dataset = make_csv_dataset(pattern, 2, num_epochs=1, shuffle=False, compression_type="GZIP")
    assert [*dataset.output_types.items()] == [("x", ag.int64), ("y", ag.float64), ("kind", ag.string)]
    assert values(dataset) == [
        OrderedDict(x=[1, 2], y=[0.5, 0.0], kind=[b"a", b"b"]),
        OrderedDict(x=[3000000000], y=[1e300], kind=[b""]),
    ]


def test_labels_selections_and_defaults_of_tables(tmp_path: Path) -> None:
    pattern = write_table(tmp_path)
    options: dict[str, Any] = {"num_epochs": 1, "shuffle": False, "compression_type": "GZIP"}
    labelled = make_csv_dataset([pattern], 3, label_name="kind", select_columns=["kind", "x"], **options)
    assert values(labelled) == [({"x": [1, 2, 3000000000]}, [b"a", b"b", b""])]
    given = make_csv_dataset(pattern, 3, select_columns=[1], column_defaults=[[-1.0]], **options)
    assert values(given) == [{"y": [0.5, -1.0, float("inf")]}]
    renamed = make_csv_dataset(pattern, 3, column_names=["a", "b", "c"], num_rows_for_inference=1, **options)
    with pytest.raises(InvalidArgumentError, match="not a valid int32: 3000000000"):
        values(renamed)


def test_tables_are_shuffled_and_repeated(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(10)))
    dataset = make_csv_dataset(str(tmp_path / "t.csv"), 4, shuffle_seed=1)
    batches = [batch["x"] for batch in values(dataset.take(5))]
    assert [len(batch) for batch in batches] == [4] * 5
    flat = [x for batch in batches for x in batch]
    assert sorted(flat[:10]) == sorted(flat[10:]) == list(range(10))
    assert flat[:10] != list(range(10))


def test_errors_of_tables(tmp_path: Path) -> None:
    pattern = write_table(tmp_path)
    zipped = {"compression_type": "GZIP"}
    (tmp_path / "other.csv").write_bytes(gzip.compress(b"x,z\n1,2\n"))
    (tmp_path / "none.csv").write_bytes(b"")
    first, other = str(tmp_path / "part0.csv"), str(tmp_path / "other.csv")
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: make_csv_dataset("/no/*.csv", 2), "no file matches '/no/*.csv'."),
        (
            lambda: make_csv_dataset(pattern, 2, label_name="z", **zipped),
            "label_name must be one of ['x', 'y', 'kind']; got 'z'.",
        ),
        (
            lambda: make_csv_dataset(pattern, 2, select_columns=["x", "z"], **zipped),
            "select_columns has 'z'; the 3 columns are ['x', 'y', 'kind'].",
        ),
        (
            lambda: make_csv_dataset(pattern, 2, select_columns=["x", 0], **zipped),
            "select_columns has a column twice: ['x', 0].",
        ),
        (
            lambda: make_csv_dataset([first, other], 2, **zipped),
            f"all files must have the same columns; {other} has ['x', 'z'] and {first} has ['x', 'y', 'kind'].",
        ),
        (lambda: make_csv_dataset(pattern, 2, header=False), "column_names must be given for files without a header."),
        (
            lambda: make_csv_dataset(pattern, 2, ["a", "a"], **zipped),
            "the names of columns must differ; they are ['a', 'a'].",
        ),
        (
            lambda: make_csv_dataset(pattern, 2, ["a", "b"], **zipped),
            f"{first} has a record of 3 fields; 2 are expected.",
        ),
        (lambda: make_csv_dataset(str(tmp_path / "none.csv"), 2), f"{tmp_path}/none.csv has no header; it is empty."),
    ]
    for act, text in wrong:
        with says(ValueError, f"make_csv_dataset: {text}"):
            act()
