"""Parquet and Arrow IPC files, written by pyarrow and compared with its own Python values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agog_core import errors
from agog_data import Iterator
from agog_data.readers import ArrowDataset
from agog_testing import says

# The session `endurance` tries many more broken files.
EXAMPLES = 20_000 if os.environ.get("AGOG_ENDURANCE") == "1" else 250

SIZE = 25
RNG = np.random.default_rng(11)
TABLE = pa.table(
    {
        "i8": pa.array(range(SIZE), pa.int8()),
        "u64": pa.array([2**63 + k for k in range(SIZE)], pa.uint64()),
        "f2": pa.array(np.arange(SIZE, dtype=np.float16)),
        "f8": pa.array(RNG.normal(size=SIZE)),
        "flag": pa.array([k % 3 == 0 for k in range(SIZE)]),
        "text": pa.array([f"ä{k}" for k in range(SIZE)]),
        "data": pa.array([bytes([0, k]) for k in range(SIZE)], pa.binary()),
        "kind": pa.array([f"c{k % 3}" for k in range(SIZE)]).dictionary_encode(),
        "vector": pa.array([[k, k + 1, k + 2] for k in range(SIZE)], pa.list_(pa.float32(), 3)),
        "matrix": pa.array([[[k, 1], [2, 3]] for k in range(SIZE)], pa.list_(pa.list_(pa.int32(), 2), 2)),
        "list": pa.array([list(range(k % 4)) for k in range(SIZE)], pa.list_(pa.int64())),
    }
)


def parquet(path: Path, table: pa.Table) -> None:
    pa.parquet.write_table(table, path, row_group_size=7)


def ipc_file(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def ipc_stream(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


each_format = pytest.mark.parametrize("write", [parquet, ipc_file, ipc_stream])
Write = Callable[[Path, pa.Table], None]


def python(value: Any) -> Any:
    """An element's component as Python has it."""
    host = value.numpy()
    return host if isinstance(host, bytes) else host.tolist()


def rows(dataset: Any) -> list[dict[str, Any]]:
    return [{name: python(part) for name, part in row.items()} for row in dataset]


def expected(table: pa.Table) -> list[dict[str, Any]]:
    return [
        {name: value.encode() if isinstance(value, str) else value for name, value in row.items()}
        for row in table.to_pylist()
    ]


@each_format
def test_rows(tmp_path: Path, write: Write) -> None:
    if write is parquet and int(pa.__version__.split(".")[0]) < 15:
        pytest.skip("older versions write no float16")
    path = tmp_path / "x"
    write(path, TABLE)
    dataset = ArrowDataset(path)
    assert rows(dataset) == expected(TABLE)
    assert list(dataset.output_types) == TABLE.column_names
    names = ["int8", "uint64", "float16", "float64", "bool", *["string"] * 3, "float32", "int32", "int64"]
    assert [dtype.name for dtype in dataset.output_types.values()] == names
    shapes = [*[[]] * 8, [3], [2, 2], [None]]
    assert [shape.as_list() for shape in dataset.output_shapes.values()] == shapes
    batch = next(iter(ArrowDataset(path, ["vector", "text"]).batch(10)))
    assert list(batch) == ["vector", "text"]
    assert batch["vector"].shape == (10, 3)
    assert len(rows(ArrowDataset([path, path]))) == 2 * SIZE


@each_format
def test_lists_that_differ_cannot_be_batched(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "x", TABLE)
    with pytest.raises(errors.InvalidArgumentError, match=r"^batch: component 0 of element 1 of batch 0 has "):
        next(iter(ArrowDataset(tmp_path / "x", ["list"]).batch(2)))


@each_format
def test_the_state_after_every_row(tmp_path: Path, write: Write) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    write(paths[0], TABLE)
    write(paths[1], TABLE.slice(3, 9))
    dataset = ArrowDataset(paths, ["i8", "list"])
    everything = rows(dataset)
    assert len(everything) == SIZE + 9
    iterator = Iterator(dataset)
    for done in range(len(everything) + 1):
        other = Iterator(dataset)
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert rows(other) == everything[done:]
        if done < len(everything):
            next(iterator)


@each_format
@pytest.mark.parametrize("size", [1, 4, 7, 10, 100])
def test_batches(tmp_path: Path, write: Write, size: int) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    write(paths[0], TABLE.drop_columns(["list"]))
    write(paths[1], TABLE.drop_columns(["list"]).slice(3, 9))
    dataset = ArrowDataset(paths, batch_size=size)
    rows_of = [range(begin, min(begin + size, SIZE)) for begin in range(0, SIZE, size)]
    rows_of += [range(begin, min(begin + size, 12)) for begin in range(3, 12, size)]
    everything = expected(TABLE.drop_columns(["list"]))
    batches = [{name: [everything[k][name] for k in rows] for name in everything[0]} for rows in rows_of]
    assert rows(dataset) == batches
    assert [shape.as_list() for shape in dataset.output_shapes.values()] == [*[[None]] * 8, [None, 3], [None, 2, 2]]
    iterator = Iterator(dataset)
    for done in range(len(batches) + 1):
        other = Iterator(dataset)
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert rows(other) == batches[done:]
        if done < len(batches):
            next(iterator)


def test_what_cannot_be_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "x"
    parquet(path, TABLE)
    with says(
        errors.InvalidArgumentError,
        f"ArrowDataset: {path}: the column 'list' has lists whose size varies, which cannot be in batches. Leave out "
        "batch_size, or the column with columns=[...].",
    ):
        ArrowDataset(path, batch_size=3)
    with pytest.raises(errors.InvalidArgumentError, match=r"^ArrowDataset: batch_size must be greater than"):
        ArrowDataset(path, ["i8"], batch_size=0)


def test_the_state_in_a_new_process(tmp_path: Path) -> None:
    parquet(tmp_path / "x", TABLE)
    iterator = Iterator(ArrowDataset(tmp_path / "x", ["i8"]).shuffle(5, seed=3).batch(2))
    for _ in range(5):
        next(iterator)
    program = (
        "import sys, json; from agog_data import Iterator; from agog_data.readers import ArrowDataset\n"
        f"iterator = Iterator(ArrowDataset({str(tmp_path / 'x')!r}, ['i8']).shuffle(5, seed=3).batch(2))\n"
        "iterator.load_state_dict(json.load(sys.stdin)); print([x['i8'].numpy().tolist() for x in iterator])"
    )
    state = json.dumps(iterator.state_dict())
    done = subprocess.run([sys.executable, "-c", program], input=state, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([x["i8"].numpy().tolist() for x in iterator])


@each_format
def test_nulls(tmp_path: Path, write: Write) -> None:
    path = tmp_path / "x"
    vectors = pa.array([[1.0, None], [2.0, 3.0]] * 5, pa.list_(pa.float32(), 2))
    ragged = pa.array([[1], [2, None]] * 5, pa.list_(pa.int32()))
    absent = pa.array([[1], None] * 5, pa.list_(pa.int32()))
    columns = {"x": [0.0] * 8 + [None, 1.0], "t": ["a", None] * 5, "v": vectors, "r": ragged, "n": absent}
    write(path, pa.table(columns))
    problems = {
        "x": "row 8 is null; give ArrowDataset a value for it in fill, or leave the column out.",
        "t": "row 1 is null; give ArrowDataset a value for it in fill, or leave the column out.",
        "v": "there is a null in a list; give ArrowDataset a value for it in fill, or leave the column out.",
        "r": "there is a null in a list; give ArrowDataset a value for it in fill, or leave the column out.",
        "n": "row 1 is null; leave the column out.",
    }
    for column, problem in problems.items():
        with says(errors.InvalidArgumentError, f"{path}: the column {column!r}: {problem}"):
            rows(ArrowDataset(path, [column]))
    found = rows(ArrowDataset(path, ["x", "t", "v", "r"], fill={"x": -1, "t": "none", "v": 9.0, "r": 7}))
    assert found[8]["x"] == -1
    assert found[9] == {"x": 1.0, "t": b"none", "v": [2.0, 3.0], "r": [2, 7]}
    assert found[0]["v"] == [1.0, 9.0]


def test_columns_that_are_no_tensors(tmp_path: Path) -> None:
    path = tmp_path / "x"
    table = pa.table({"ok": [1], "day": pa.array([0], pa.date32()), "deep": [[[1], [2, 3]]], "pair": [{"a": 1}]})
    parquet(path, table)
    assert rows(ArrowDataset(path, ["ok"])) == [{"ok": 1}]
    for column, kind in (("day", "date32[day]"), ("deep", "list<"), ("pair", "struct<")):
        with pytest.raises(errors.InvalidArgumentError) as info:
            ArrowDataset(path, [column])
        assert str(info.value).startswith(f"{path}: the column {column!r} has the type {kind}")
        assert str(info.value).endswith(
            ", which no tensor has; numbers, booleans, strings, binary data, and lists of those are read. Leave it out "
            "with columns=[...]."
        )


def test_wrong_arguments(tmp_path: Path) -> None:
    path, other = tmp_path / "x", tmp_path / "y"
    parquet(path, pa.table({"a": [1], "b": ["x"]}))
    parquet(other, pa.table({"a": [1.0]}))
    with says(errors.NotFoundError, f"{path}: there is no column 'c', or several; it has a, b."):
        ArrowDataset(path, ["c"])
    with says(
        errors.InvalidArgumentError,
        f"ArrowDataset: {path}: at least one column, and in fill only columns that are read, are expected; the columns "
        "are ['a'], and fill has ['b'].",
    ):
        ArrowDataset(path, ["a"], fill={"b": "x"})
    with says(errors.InvalidArgumentError, "ArrowDataset: fill has 'x' for the column 'a', which has the type int64."):
        ArrowDataset(path, fill={"a": "x"})
    with says(
        errors.InvalidArgumentError,
        f"{other}: the column 'a' has elements of dtype float64 and shape (); in {path} they have dtype int64 and "
        "shape ().",
    ):
        rows(ArrowDataset([path, other], ["a"]))
    with pytest.raises(errors.NotFoundError, match=r"none: there is no such file\.$"):
        ArrowDataset(tmp_path / "none")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed in /proc on Linux only")
@each_format
def test_files_are_closed_with_the_iterator(tmp_path: Path, write: Write) -> None:
    def opened() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        found = {os.readlink(link) for link in links if os.path.exists(link)}
        return [name for name in found if name.startswith(str(tmp_path))]

    path = tmp_path / "x.table"
    write(path, TABLE)
    iterator = iter(ArrowDataset(path))
    assert opened() == []
    next(iterator)
    assert opened() == [str(path)]
    del iterator
    assert opened() == []


def test_memory_is_that_of_a_row_group(tmp_path: Path) -> None:
    path = tmp_path / "x"
    values = np.arange(400_000.0)
    pa.parquet.write_table(pa.table({"x": values, "y": values}), path, row_group_size=10_000, compression="none")
    iterator = iter(ArrowDataset(path, ["x"]))
    most = 0
    for _ in range(30_000):
        next(iterator)
        most = max(most, pa.total_allocated_bytes())
    assert most < 10_000 * 8 * 4  # the whole column has 3200000 bytes


SMALL = TABLE.slice(0, 3).select(["i8", "text", "vector", "list", "kind"])


@settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES < 1000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from([parquet, ipc_file, ipc_stream]), st.data())
def test_any_bytes_are_rows_or_one_clear_error(tmp_path: Path, write: Write, data: st.DataObject) -> None:
    path = tmp_path / "x"
    write(path, SMALL)
    mutated = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 2))):
        mutated[data.draw(st.integers(0, len(mutated) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(mutated[: data.draw(st.integers(0, len(mutated)) | st.just(len(mutated)))]))
    try:
        rows(ArrowDataset(path))
    except (errors.DataLossError, errors.InvalidArgumentError, errors.NotFoundError) as error:
        assert str(path) in str(error)  # noqa: PT017  (most examples raise, some do not)


def test_without_pyarrow() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from agog_data.readers import ArrowDataset\n"
        "try: ArrowDataset('x')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "ArrowDataset needs the package pyarrow: pip install agog-data[arrow]\n"
