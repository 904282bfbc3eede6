"""Files that are damaged, cut, foreign or hostile: one clear error, and nothing changes."""

from __future__ import annotations

import json
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.checkpointable import listeners
from agog_core.errors import DataLossError

FUZZ = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Position(ag.Checkpointable):
    def __init__(self, row: int) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Any) -> None:
        self.row = state["row"]


def objects(value: float) -> Checkpoint:
    return Checkpoint(
        model=[ag.Variable(np.full((2, 3), value, np.float32)), ag.Variable(np.full(4, value, np.float64))],
        step=ag.Variable(int(value)),
        flag=ag.Variable(value > 0),
        position=Position(int(value)),
    )


def values(checkpoint: Checkpoint) -> list[Any]:
    variables = [*checkpoint.model, checkpoint.step, checkpoint.flag]
    return [*(v.numpy().tolist() for v in variables), checkpoint.position.row]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    objects(7.0).write(folder / "a")
    return (folder / "a.safetensors").read_bytes()


@pytest.fixture(autouse=True)
def _nobody_else_waits() -> None:
    listeners.clear()  # what other tests have left waiting


UNTOUCHED = [[[-1.0] * 3] * 2, [-1.0] * 4, -1, False, -1]


def restore(folder: Path, content: bytes) -> str | None:
    """Restore a file: the reason in the one error that may come, or None where all values are the saved ones."""
    (folder / "a.safetensors").write_bytes(content)
    checkpoint = objects(-1.0)
    try:
        checkpoint.restore(folder / "a").assert_consumed()
    except DataLossError as error:
        text = str(error)
        assert values(checkpoint) == UNTOUCHED
        assert listeners == []
        begin = f"Checkpoint: the file '{folder}/a.safetensors' is not a whole checkpoint: "
        end = ". Nothing was changed; restore another checkpoint."
        assert text.startswith(begin)
        assert text.endswith(end)
        return text.removeprefix(begin).removesuffix(end)
    assert values(checkpoint) == values(objects(7.0))
    return None


def test_the_good_file_is_good(tmp_path: Path, good: bytes) -> None:
    assert restore(tmp_path, good) is None


def test_every_truncation(tmp_path: Path, good: bytes) -> None:
    assert all(restore(tmp_path, good[:length]) for length in range(len(good)))


@FUZZ
@given(data=st.data())
def test_flipped_bits(tmp_path: Path, good: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(good) - 1))
    content = bytearray(good)
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    header = good.index(b"}}") + 2
    # Blanks behind the header may be other blanks, and nothing else may change unnoticed.
    assert restore(tmp_path, bytes(content)) or (header <= position and content[position] in b" \t\r\n")


@FUZZ
@given(data=st.data())
def test_replaced_and_inserted_bytes(tmp_path: Path, good: bytes, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(begin, min(begin + 16, len(good))))
    restore(tmp_path, good[:begin] + data.draw(st.binary(max_size=32)) + good[end:])


@FUZZ
@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"\xff" * 64)
@example(content=(2).to_bytes(8, "little") + b"{}")
@example(content=(100_000).to_bytes(8, "little") + b"[" * 100_000)
@example(content=(100_000).to_bytes(8, "little") + b'{"":' * 25_000)
@example(content=(5000).to_bytes(8, "little") + b"9" * 5000)
def test_random_bytes(tmp_path: Path, content: bytes) -> None:
    assert restore(tmp_path, content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=5), parts, max_size=3),
    max_leaves=5,
)


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: Any, data: bytes) -> bytes:
    raw = json.dumps(header).encode()
    return len(raw).to_bytes(8, "little") + raw + data


def with_graph(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """The file with another object graph, and the checksum that belongs to it."""
    header, data = split(content)
    text = json.dumps(change(json.loads(header["__metadata__"]["agog_graph"])))
    header["__metadata__"] |= {
        "agog_graph": text,
        "agog_checksum": f"{zlib.crc32(text.encode('utf-8', 'replace')):08x}",
    }
    return joined(header, data)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in items for found in paths_in(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@FUZZ
@given(data=st.data())
def test_headers_of_other_values(tmp_path: Path, good: bytes, data: st.DataObject) -> None:
    header, tensors = split(good)
    path = data.draw(st.sampled_from(paths_in(header)))
    restore(tmp_path, joined(replaced(header, path, data.draw(json_values)), tensors))


@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@FUZZ
@given(data=st.data())
def test_graphs_of_other_values(tmp_path: Path, good: bytes, data: st.DataObject) -> None:
    graph = json.loads(split(good)[0]["__metadata__"]["agog_graph"])
    path = data.draw(st.sampled_from([path for path in paths_in(graph) if "state" not in path]))
    content = with_graph(good, lambda graph: replaced(graph, path, data.draw(json_values)))
    (tmp_path / "a.safetensors").write_bytes(content)
    checkpoint = objects(-1.0)
    failed = False
    try:
        checkpoint.restore(tmp_path / "a")  # of other objects, it may be a whole one
    except (DataLossError, ValueError):
        failed = True
    if failed:
        assert values(checkpoint) == UNTOUCHED
        assert listeners == []


def reason(folder: Path, content: bytes) -> str:
    found = restore(folder, content)
    assert found is not None
    return found


def test_texts_of_broken_files(tmp_path: Path, good: bytes) -> None:
    header, data = split(good)
    length = int.from_bytes(good[:8], "little")
    metadata = header["__metadata__"]

    def changed(**changes: Any) -> bytes:
        return joined(header | {"__metadata__": metadata | changes}, data)

    crc = f"{zlib.crc32(metadata['agog_graph'].encode()):08x}"

    def refused(content: bytes) -> str:
        begin = f"safetensors cannot read its {len(content)} bytes: "
        found = reason(tmp_path, content)
        assert found.startswith(begin)
        return found.removeprefix(begin)

    assert refused(b"") == "header too small"
    assert refused(good[: length // 2]) == "invalid header length"
    assert refused((2**63).to_bytes(8, "little") + good[8:]) == "header too large"
    assert refused((4).to_bytes(8, "little") + b"nope").startswith("invalid JSON in header: ")
    assert refused(joined([], b"")).startswith("invalid JSON in header: ")
    assert refused(good[:-5]) == refused(good + b"\0") == "incomplete metadata, file not fully covered"
    assert reason(tmp_path, changed(agog_format="7")) == (
        "its format version is '7', but this release reads the versions '1' and '2'; another release of "
        "agog-checkpoint may read it"
    )
    del metadata["agog_graph"]
    assert reason(tmp_path, changed()) == "its metadata have no object graph"
    metadata = split(good)[0]["__metadata__"]
    assert (
        reason(tmp_path, changed(agog_checksum="0"))
        == f"its object graph has the checksum {crc!r}, but '0' was written"
    )
    header["__metadata__"] = metadata
    none = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    assert reason(tmp_path, joined(header | {"x": none}, data)) == (
        "its header and its object graph do not name the same tensors; they differ in ['x']"
    )
    for change in ({"dtype": "U32"}, {"shape": [1]}):
        assert reason(tmp_path, joined(header | {"step": header["step"] | change}, data)) == (
            "the dtype or shape of 'step' in its header is not that in its object graph"
        )
    assert refused(joined(header | {"step": 1}, data)).startswith("invalid JSON in header: ")
    for offsets in ([-4, 0], [0.0, 4.0]):
        change = header["step"] | {"data_offsets": offsets}
        assert refused(joined(header | {"step": change}, data)).startswith("invalid JSON in header: ")
    for offsets in ([0, 8], [4000, 4004]):
        change = header["step"] | {"data_offsets": offsets}
        assert refused(joined(header | {"step": change}, data)).startswith("invalid ")


def test_a_flipped_byte_of_a_tensor(tmp_path: Path, good: bytes) -> None:
    header, data = split(good)
    begin, end = header["model/0"]["data_offsets"]
    damaged = bytearray(data)
    damaged[begin] ^= 1
    was, now = (f"{zlib.crc32(content[begin:end]):08x}00000000" for content in (data, damaged))
    assert reason(tmp_path, joined(header, bytes(damaged))) == (
        f"the bytes of 'model/0' have the checksum {now!r}, but {was!r} was written"
    )


def test_a_file_of_another_program(tmp_path: Path) -> None:
    save_file({"v": np.zeros(3)}, tmp_path / "b.safetensors", {"format": "np"})
    expected = "its metadata have no 'agog_format': it is of another program, so read it with load_tensors"
    assert reason(tmp_path, (tmp_path / "b.safetensors").read_bytes()) == expected
    save_file({"v": np.zeros(3)}, tmp_path / "b.safetensors")
    assert reason(tmp_path, (tmp_path / "b.safetensors").read_bytes()) == expected


VARIABLE = {"key": "v", "dtype": "float32", "shape": [], "checksum": "0" * 16}


@pytest.mark.parametrize(
    ("graph", "fault"),
    [
        ([], "has not the two parts nodes and slots"),
        ({"nodes": []}, "has not the two parts nodes and slots"),
        ({"nodes": [], "slots": []}, "has no nodes"),
        ({"nodes": [{}], "slots": {}}, "has no list of slots"),
        ({"nodes": [[]], "slots": []}, "has a malformed node 0"),
        ({"nodes": [{"code": "print()"}], "slots": []}, "has a malformed node 0"),
        ({"nodes": [{"children": []}], "slots": []}, "has malformed children of node 0"),
        ({"nodes": [{"children": {"a": 1}}], "slots": []}, "has children of node 0 that do not exist"),
        ({"nodes": [{"children": {"a": -1}}], "slots": []}, "has children of node 0 that do not exist"),
        ({"nodes": [{"children": {"a": True}}, {}], "slots": []}, "has children of node 0 that do not exist"),
        ({"nodes": [{"state": []}], "slots": []}, "has a malformed state of node 0"),
        ({"nodes": [{}, {"variable": 1}], "slots": []}, "has a malformed variable, node 1"),
        ({"nodes": [{"variable": VARIABLE, "state": {}}], "slots": []}, "has a variable, node 0, with parts"),
        ({"nodes": [{"variable": VARIABLE | {"dtype": "string"}}], "slots": []}, "has an unknown dtype of node 0"),
        ({"nodes": [{"variable": VARIABLE | {"dtype": []}}], "slots": []}, "has an unknown dtype of node 0"),
        ({"nodes": [{"variable": VARIABLE | {"shape": [-1]}}], "slots": []}, "has a malformed shape of node 0"),
        ({"nodes": [{"variable": VARIABLE | {"shape": 3}}], "slots": []}, "has a malformed shape of node 0"),
        ({"nodes": [{"variable": VARIABLE | {"checksum": 0}}], "slots": []}, "has a malformed checksum of node 0"),
        ({"nodes": [{"variable": VARIABLE}] * 2, "slots": []}, "has two variables of one key"),
        ({"nodes": [{}], "slots": [[0, "m", 0]]}, "has a malformed slot"),
        ({"nodes": [{}], "slots": [[0, 1, 0, 0]]}, "has a malformed slot"),
        ({"nodes": [{}], "slots": [[0, "m", 0, 1]]}, "has a slot of nodes that do not exist"),
        ({"nodes": [{}], "slots": [[0, "m", 0, 0]]}, "has a slot that is not a variable"),
    ],
)
def test_texts_of_broken_graphs(tmp_path: Path, good: bytes, graph: Any, fault: str) -> None:
    assert reason(tmp_path, with_graph(good, lambda _: graph)) == f"its object graph {fault}"


def test_shapes_that_no_array_can_have(tmp_path: Path, good: bytes) -> None:
    for shape in ([0, 2**70], [1] * 100, [2**63, 2**63, 0]):
        size = 4 if 0 not in shape else 0
        variable = VARIABLE | {"shape": shape, "checksum": f"{zlib.crc32(bytes(size)):08x}00000000"}
        entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}
        header = {"__metadata__": split(good)[0]["__metadata__"], "v": entry}
        graph = {"nodes": [{"children": {"v": 1}}, {"variable": variable}], "slots": []}
        assert restore(tmp_path, with_graph(joined(header, bytes(size)), lambda _, graph=graph: graph))


def test_huge_claims_allocate_nothing(tmp_path: Path, good: bytes) -> None:
    def claim_terabytes(graph: Any) -> Any:
        path = next(path for path in paths_in(graph) if path[-1:] == ("shape",))
        return replaced(graph, path, [2**40])

    claims = [(2**62).to_bytes(8, "little") + good[8:], with_graph(good, claim_terabytes)]
    tracemalloc.start()
    try:
        for content in claims:
            assert restore(tmp_path, content)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
