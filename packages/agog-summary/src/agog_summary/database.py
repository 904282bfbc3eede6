"""Databases of summaries: SQLite files with the tables of TensorBoard 1."""

from __future__ import annotations

import sqlite3
import struct
import threading
import time
import weakref
from functools import cache
from typing import Any

import numpy as np

from agog_core.errors import FailedPreconditionError
from agog_summary.event_file import Sink

_TABLES = """
CREATE TABLE IF NOT EXISTS Ids (id INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS Users (user_id INTEGER PRIMARY KEY, user_name TEXT UNIQUE, inserted_time REAL);
CREATE TABLE IF NOT EXISTS Experiments (experiment_id INTEGER PRIMARY KEY, user_id INTEGER, experiment_name TEXT,
    inserted_time REAL, UNIQUE (user_id, experiment_name));
CREATE TABLE IF NOT EXISTS Runs (run_id INTEGER PRIMARY KEY, experiment_id INTEGER, run_name TEXT, inserted_time REAL,
    UNIQUE (experiment_id, run_name));
CREATE TABLE IF NOT EXISTS Tags (tag_id INTEGER PRIMARY KEY, run_id INTEGER, tag_name TEXT, inserted_time REAL,
    plugin_name TEXT, plugin_data BLOB, UNIQUE (run_id, tag_name));
CREATE TABLE IF NOT EXISTS Tensors (rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER,
    computed_time REAL, shape TEXT, data BLOB);
CREATE INDEX IF NOT EXISTS TensorSeriesStepIndex ON Tensors (series, step);
CREATE TABLE IF NOT EXISTS TensorStrings (tensor_rowid INTEGER, idx INTEGER, data BLOB, UNIQUE (tensor_rowid, idx));
CREATE TABLE IF NOT EXISTS Graphs (graph_id INTEGER PRIMARY KEY, run_id INTEGER, inserted_time REAL, graph_def BLOB);
CREATE TABLE IF NOT EXISTS Nodes (graph_id INTEGER, node_id INTEGER, node_name TEXT, op TEXT, device TEXT,
    node_def BLOB, UNIQUE (graph_id, node_id));
"""


class Database(Sink):
    """A database that gets the events of one run. Each is on disk when it is written; threads may share the database.

    It is closed when its last user is gone.
    """

    def __init__(self, uri: str, experiment: str, run: str, user: str) -> None:
        self._uri = uri
        self._user, self._experiment, self._run = user, experiment, run
        self._lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        self._connection = sqlite3.connect(self._uri, uri=self._uri.startswith("file:"), check_same_thread=False)
        self._connection.executescript("PRAGMA journal_mode=wal; PRAGMA synchronous=normal;" + _TABLES)
        self._finish = weakref.finalize(self, self._connection.close)

    @property
    def closed(self) -> bool:
        return not self._finish.alive

    def append(self, event: Any) -> None:
        with self._lock:
            if self.closed:
                raise FailedPreconditionError(
                    f"The summary writer of {self._uri} is closed; its init() opens the database again."
                )
            with self._connection:
                user = self._row("Users", "user", user_name=self._user)
                experiment = self._row("Experiments", "experiment", user_id=user, experiment_name=self._experiment)
                run = self._row("Runs", "run", experiment_id=experiment, run_name=self._run)
                for value in event.summary.value:
                    plugin = value.metadata.plugin_data
                    tag = self._row("Tags", "tag", run_id=run, tag_name=value.tag)
                    self._put("Tags", tag_id=tag, run_id=run, tag_name=value.tag, inserted_time=time.time(),
                              plugin_name=plugin.plugin_name, plugin_data=plugin.content)  # fmt: skip
                    self._write_tensor(tag, event, *_tensor_of(value))
                if event.graph_def:
                    self._write_graph(run, event.graph_def)

    def _write_tensor(
        self, tag: int, event: Any, dtype: int, shape: tuple[int, ...], data: bytes | list[bytes]
    ) -> None:
        text = ",".join(map(str, shape))
        row = self._put("Tensors", series=tag, step=event.step, dtype=dtype, computed_time=event.wall_time, shape=text,
                        data=data if isinstance(data, bytes) else b"")  # fmt: skip
        if not isinstance(data, bytes):
            for index, each in enumerate(data):
                self._put("TensorStrings", tensor_rowid=row, idx=index, data=each)

    def _write_graph(self, run: int, serialized: bytes) -> None:
        from tensorboardX.proto.graph_pb2 import GraphDef

        graph = self._id()
        self._put("Graphs", graph_id=graph, run_id=run, inserted_time=time.time(), graph_def=serialized)
        for index, node in enumerate(GraphDef.FromString(serialized).node):
            self._put("Nodes", graph_id=graph, node_id=index, node_name=node.name, op=node.op, device=node.device,
                      node_def=node.SerializeToString())  # fmt: skip

    def _row(self, table: str, what: str, **names: Any) -> int:
        """The number of the row that has these names, which is made if there is none."""
        where = " AND ".join(f"{name} = ?" for name in names)
        found = self._connection.execute(f"SELECT {what}_id FROM {table} WHERE {where}", (*names.values(),)).fetchone()
        if found is not None:
            return int(found[0])
        number = self._id()
        self._put(table, **names, **{f"{what}_id": number, "inserted_time": time.time()})
        return number

    def _id(self) -> int:
        return int(self._connection.execute("INSERT INTO Ids DEFAULT VALUES").lastrowid or 0)

    def _put(self, table: str, **values: Any) -> int:
        marks = ", ".join("?" * len(values))
        sql = f"REPLACE INTO {table} ({', '.join(values)}) VALUES ({marks})"
        return int(self._connection.execute(sql, (*values.values(),)).lastrowid or 0)

    def flush(self) -> None:
        """Do nothing: each event is on disk when it is written."""

    def reopen(self) -> None:
        with self._lock:
            if self.closed:
                self._open()

    def close(self) -> None:
        with self._lock:
            self._finish()


def _tensor_of(value: Any) -> tuple[int, tuple[int, ...], bytes | list[bytes]]:
    """The number of the dtype, the shape, and the bytes or strings of what a summary holds, as one tensor."""
    types = _types()
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return types["DT_FLOAT"], (), struct.pack("<f", value.simple_value)
    if kind == "histo":
        right = np.array(value.histo.bucket_limit)
        buckets = np.stack([np.concatenate([right[:1], right[:-1]]), right, np.array(value.histo.bucket)], axis=1)
        return types["DT_DOUBLE"], buckets.shape, buckets.astype("<f8").tobytes()
    if kind == "image":
        sizes = [str(value.image.width).encode(), str(value.image.height).encode()]
        return types["DT_STRING"], (3,), [*sizes, value.image.encoded_image_string]
    if kind == "audio":
        return types["DT_STRING"], (1, 2), [value.audio.encoded_audio_string, b""]
    shape = tuple(dim.size for dim in value.tensor.tensor_shape.dim)
    strings = value.tensor.dtype == types["DT_STRING"]
    return value.tensor.dtype, shape, list(value.tensor.string_val) if strings else value.tensor.tensor_content


@cache
def _types() -> dict[str, int]:
    from tensorboardX.proto.types_pb2 import DataType

    return dict(DataType.items())
