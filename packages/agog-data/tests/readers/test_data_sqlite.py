"""SqlDataset: rows of a SQLite database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agog_core import dtypes, errors
from agog_data import Iterator
from agog_data.readers import SqlDataset
from agog_testing import says

ROWS = [(1, 0.5, "one", b"\x00\xff"), (-2, 1.5, "zwölf", b""), (3, None, None, None), (300, 2.0, "4", b"x")]
TYPES = (dtypes.int32, dtypes.float64, dtypes.string, dtypes.string)
QUERY = "SELECT * FROM things ORDER BY rowid"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a file #1?.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE things (i INTEGER, f REAL, t TEXT, b BLOB)")
        database.executemany("INSERT INTO things VALUES (?, ?, ?, ?)", ROWS)
    return path


def values(dataset: Any) -> list[Any]:
    return [tuple(part.numpy() for part in element) for element in dataset]


def test_rows(path: Path) -> None:
    dataset = SqlDataset("sqlite", path, QUERY, TYPES)
    assert values(dataset) == [
        (1, 0.5, b"one", b"\x00\xff"),
        (-2, 1.5, "zwölf".encode(), b""),
        (3, 0.0, b"", b""),
        (300, 2.0, b"4", b"x"),
    ]
    assert dataset.output_types == TYPES
    assert dataset.output_shapes == ([], [], [], [])


def test_nothing_found(path: Path) -> None:
    assert values(SqlDataset("sqlite", path, "SELECT i FROM things WHERE i > 1000", (dtypes.int64,))) == []


@pytest.mark.parametrize("dtype", ["int16", "int64", "uint16", "float32", "bool", "string"])
def test_dtypes(path: Path, dtype: str) -> None:
    ((value,),) = SqlDataset("sqlite", path, "SELECT i FROM things WHERE i = 300", (dtype,))
    assert value.dtype.name == dtype
    assert value.numpy() == {"bool": True, "string": b"300"}.get(dtype, 300)


@pytest.mark.parametrize("taken", range(5))
def test_resume(path: Path, taken: int) -> None:
    dataset = SqlDataset("sqlite", path, QUERY, TYPES).prefetch(1)
    iterator = Iterator(dataset)
    for _ in range(taken):
        next(iterator)
    other = Iterator(dataset)
    other.load_state_dict(iterator.state_dict())
    assert values(other) == values(dataset)[taken:] == values(iterator)


@pytest.mark.parametrize(
    ("query", "types", "message"),
    [
        ("SELECT i FROM things", (dtypes.int8,), "row 3, column 0 holds 300, which is no int8."),
        ("SELECT f FROM things", (dtypes.int32,), "row 0, column 0 holds 0.5, which is no int32."),
        (
            "SELECT i, t FROM things",
            (dtypes.int32, dtypes.float32),
            "row 0, column 1 holds b'one', which is no float32.",
        ),
        ("SELECT i FROM things", TYPES, "the query gives 1 columns, and output_types has 4."),
        ("SELECT * FROM no", TYPES, "the query 'SELECT * FROM no' failed: no such table: no."),
        (
            "DELETE FROM things",
            (dtypes.int32,),
            "the query 'DELETE FROM things' failed: attempt to write a readonly database.",
        ),
        (
            "UPDATE things SET i = 1 RETURNING i",
            (dtypes.int32,),
            "the query 'UPDATE things SET i = 1 RETURNING i' failed: attempt to write a readonly database.",
        ),
        (
            "SELECT 1; SELECT 2",
            (dtypes.int32,),
            "the query 'SELECT 1; SELECT 2' failed: You can only execute one statement at a time.",
        ),
    ],
)
def test_errors_while_iterating(path: Path, query: str, types: Any, message: str) -> None:
    with says(errors.InvalidArgumentError, f"SqlDataset: {path}: {message}"):
        values(SqlDataset("sqlite", path, query, types))


@pytest.mark.parametrize(
    ("query", "action"),
    [
        ("VACUUM INTO 'copy.db'", "ATTACH copy.db"),
        ("ATTACH 'other.db' AS other", "ATTACH other.db"),
        ("DETACH main", "DETACH main"),
        ("PRAGMA user_version = 7", "PRAGMA user_version"),
        ("PRAGMA journal_mode = wal", "PRAGMA journal_mode"),
        ("PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint"),
        ("SELECT * FROM pragma_optimize", "PRAGMA optimize"),
        ("DROP TABLE things", "change of tables things"),
        ("CREATE TABLE t (x)", "change of tables t"),
        ("CREATE TEMP TABLE t (x)", "change of tables sqlite_temp_master"),
        ("BEGIN EXCLUSIVE", "TRANSACTION BEGIN"),
        ("SELECT load_extension('other')", "FUNCTION load_extension"),
    ],
)
def test_a_query_that_would_write_is_refused(path: Path, query: str, action: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(path.parent)
    before = path.read_bytes()
    with says(
        errors.InvalidArgumentError,
        f"SqlDataset: {path}: the query {query!r} is refused, because a query may only read: {action}.",
    ):
        values(SqlDataset("sqlite", path, query, (dtypes.int32,)))
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_queries_that_only_read(path: Path) -> None:
    def first(query: str, *types: Any) -> Any:
        return values(SqlDataset("sqlite", path, query, types))[0]

    assert first("PRAGMA user_version", dtypes.int32) == (0,)
    assert first("SELECT name FROM pragma_table_info('things') WHERE cid = 2", dtypes.string) == (b"t",)
    assert first("SELECT count(*), upper(min(t)) FROM things", dtypes.int32, dtypes.string) == (4, b"4")
    counting = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9) SELECT sum(x) FROM n"
    assert first(counting, dtypes.int32) == (45,)
    assert first("SELECT value FROM json_each('[5]')", dtypes.int32) == (5,)


def test_a_virtual_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "boxes.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIRTUAL TABLE boxes USING rtree (id, low, high)")
        database.execute("INSERT INTO boxes VALUES (3, 0, 1)")
    assert values(SqlDataset("sqlite", path, "SELECT id FROM boxes", (dtypes.int32,))) == [(3,)]
    with pytest.raises(errors.InvalidArgumentError):
        values(SqlDataset("sqlite", path, "INSERT INTO boxes VALUES (4, 0, 1) RETURNING id", (dtypes.int32,)))
    assert values(SqlDataset("sqlite", path, "SELECT count(*) FROM boxes", (dtypes.int32,))) == [(1,)]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is no database, and long enough that SQLite looks at it" * 20)
    with says(
        errors.InvalidArgumentError, f"SqlDataset: {path}: the query 'SELECT x FROM y' failed: file is not a database."
    ):
        values(SqlDataset("sqlite", path, "SELECT x FROM y", (dtypes.int32,)))


def test_wrong_arguments(path: Path, tmp_path: Path) -> None:
    with says(errors.InvalidArgumentError, "SqlDataset: the only driver is 'sqlite'; got 'mysql'."):
        SqlDataset("mysql", path, QUERY, TYPES)
    with says(TypeError, "SqlDataset: output_types must be a tuple of dtypes; got tf.int32."):
        SqlDataset("sqlite", path, QUERY, dtypes.int32)
    with says(
        errors.InvalidArgumentError,
        "SqlDataset: column 0 is to have dtype complex64; columns have int8, int16, int32, int64, uint8, uint16, "
        "float32, float64, bool, string.",
    ):
        SqlDataset("sqlite", path, QUERY, (dtypes.complex64,))
    with says(errors.NotFoundError, f"{tmp_path / 'none.db'}: there is no such file."):
        SqlDataset("sqlite", tmp_path / "none.db", QUERY, TYPES)
