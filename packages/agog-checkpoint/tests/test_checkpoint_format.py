"""What lies on the disk, read by hand and by the safetensors package."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_checkpoint.tensors import load_tensors
from agog_core.errors import InvalidArgumentError, UnimplementedError
from agog_testing import says


class Model(ag.Checkpointable):
    pass


class Position(ag.Checkpointable):
    def __init__(self, **state: Any) -> None:
        self.state = state

    def checkpoint_state(self) -> dict[str, Any]:
        return self.state

    def restore_checkpoint_state(self, state: Any) -> None:
        self.state = dict(state)


class Optimizer(ag.Checkpointable):
    def __init__(self, *slots: tuple[str, ag.Variable, ag.Variable]) -> None:
        self._slots = {(name, id(variable)): (variable, slot) for name, variable, slot in slots}

    def checkpoint_slots(self) -> Any:
        return ((name, variable, slot) for (name, _), (variable, slot) in self._slots.items())

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return {}


def by_hand(file: Path) -> tuple[dict[str, Any], bytes]:
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert (8 + length) % 8 == 0
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def test_a_path_names_one_file(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(1.0)).save(tmp_path / "ckpt")
    assert path == f"{tmp_path}/ckpt-1"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["checkpoint", "ckpt-1.safetensors"]


def test_write_does_not_double_the_suffix(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    assert checkpoint.write(tmp_path / "a.safetensors") == f"{tmp_path}/a.safetensors"
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]
    checkpoint.restore(tmp_path / "a").assert_consumed()
    checkpoint.restore(tmp_path / "a.safetensors").assert_consumed()


def test_keys_are_shortest_paths(tmp_path: Path) -> None:
    model = Model()
    model.layer1 = Model()
    model.layer1.kernel = ag.Variable([1.0])
    model.layers = [model.layer1, Model(), 3]
    model.layers[1].kernel = ag.Variable([2.0])
    model.pair = (ag.Variable(3.0), "not saved")
    model.named = {"a/b": ag.Variable(4.0), "v1.0": ag.Variable(5.0), ".slot": ag.Variable(6.0), "": ag.Variable(7.0)}
    model.not_saved = 8
    root = Checkpoint(model=model, optimizer=Optimizer(("m", model.layer1.kernel, ag.Variable([9.0]))))
    root.save(tmp_path / "ckpt")
    loaded = load_file(tmp_path / "ckpt-1.safetensors")
    assert {key: value.tolist() for key, value in loaded.items()} == {
        "model/layer1/kernel": [1.0],
        "model/layers/1/kernel": [2.0],
        "model/pair/0": 3.0,
        "model/named/a%2Fb": 4.0,
        "model/named/v1.0": 5.0,
        "model/named/%2Eslot": 6.0,
        "model/named/%": 7.0,
        "optimizer/.slot/m/model/layer1/kernel": [9.0],
        "save_counter": 1,
    }
    assert loaded["save_counter"].dtype == np.int64


@pytest.mark.parametrize("name", ["__metadata__", "größe", "a b", "\n", "%0A", "\ud800", "/", "..", "\xa00", "ਠ"])
def test_any_name_can_be_saved(tmp_path: Path, name: str) -> None:
    root, other = (Checkpoint(v={name: ag.Variable(value)}) for value in (1.0, 2.0))
    for checkpoint in (root, other):
        setattr(checkpoint, name, ag.Variable(3.0))
    root.v[name].assign(4.0)
    other.restore(root.write(tmp_path / "a")).assert_consumed()
    assert (float(other.v[name]), float(getattr(other, name))) == (4.0, 3.0)
    assert len(load_file(tmp_path / "a.safetensors")) == 2


def test_names_that_look_alike_get_different_keys(tmp_path: Path) -> None:
    names = [
        "a/b",
        "a%2Fb",
        "a%b",
        "",
        "%",
        ".",
        "%2E",
        "/",
        "\n0",
        "\n",
        "%0A",
        "\x00",
        "__metadata__",
        "%5F_metadata__",
    ]
    root = Checkpoint(d={name: ag.Variable(float(i)) for i, name in enumerate(names)}, a=Model())
    root.a.b = ag.Variable(-1.0)
    root.write(tmp_path / "a")
    header, data = by_hand(tmp_path / "a.safetensors")
    values = [np.frombuffer(data, "<f4", 1, header[key]["data_offsets"][0])[0] for key in header if key[0] != "_"]
    assert sorted(values) == [-1.0, *range(len(names))]


@pytest.mark.parametrize(
    ("dtype", "code"),
    [
        *(("float16", "F16"), ("float32", "F32"), ("float64", "F64"), ("bfloat16", "BF16"), ("bool", "BOOL")),
        *(("int8", "I8"), ("int16", "I16"), ("int32", "I32"), ("int64", "I64")),
        *(("uint8", "U8"), ("uint16", "U16"), ("uint32", "U32"), ("uint64", "U64")),
        *(("float8_e4m3fn", "F8_E4M3"), ("float8_e5m2", "F8_E5M2")),
    ],
)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_every_dtype(tmp_path: Path, dtype: str, code: str, shape: tuple[int, ...]) -> None:
    host_dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    value = np.arange(math.prod(shape)).reshape(shape).astype(host_dtype)
    saved, loaded = Checkpoint(v=ag.Variable(value)), Checkpoint(v=ag.Variable(np.zeros_like(value)))
    loaded.restore(saved.write(tmp_path / "a")).assert_consumed()
    assert loaded.v.dtype == dtype
    np.testing.assert_array_equal(loaded.v.numpy(), value)
    header, data = by_hand(tmp_path / "a.safetensors")
    assert header["v"] == {"dtype": code, "shape": list(shape), "data_offsets": [0, value.nbytes]}
    assert data == value.tobytes()
    with safe_open(str(tmp_path / "a.safetensors"), "numpy") as opened:
        assert opened.get_slice("v").get_dtype() == code
    loaded_by_name = load_tensors(tmp_path / "a.safetensors")["v"]
    assert loaded_by_name.dtype == host_dtype
    np.testing.assert_array_equal(loaded_by_name, value)


@pytest.mark.parametrize(("dtype", "code"), [("complex64", "F32"), ("complex128", "F64")])
def test_complex_values_are_pairs(tmp_path: Path, dtype: str, code: str) -> None:
    value = np.array([[1 + 2j, 3 - 4j]], dtype)
    saved, loaded = Checkpoint(v=ag.Variable(value)), Checkpoint(v=ag.Variable(np.zeros_like(value)))
    loaded.restore(saved.write(tmp_path / "a")).assert_consumed()
    np.testing.assert_array_equal(loaded.v.numpy(), value)
    header, _ = by_hand(tmp_path / "a.safetensors")
    assert (header["v"]["dtype"], header["v"]["shape"]) == (code, [1, 2, 2])
    assert load_file(tmp_path / "a.safetensors")["v"].tolist() == [[[1.0, 2.0], [3.0, -4.0]]]


def test_special_values_keep_their_bits(tmp_path: Path) -> None:
    bits = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 0x7F800000, 0x00000001], np.uint32)
    saved, loaded = Checkpoint(v=ag.Variable(bits.view(np.float32))), Checkpoint(v=ag.Variable(np.zeros(5, np.float32)))
    loaded.restore(saved.write(tmp_path / "a"))
    np.testing.assert_array_equal(loaded.v.numpy().view(np.uint32), bits)


def test_values_that_are_not_contiguous(tmp_path: Path) -> None:
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    with ag.device(None):  # other devices may copy where those in host memory return a view
        root = Checkpoint(
            fortran=ag.Variable(np.asfortranarray(value)),
            transposed=ag.Variable(ag.transpose(ag.constant(value))),
            view=ag.Variable(np.zeros((3, 2), np.float32)),
            reversed=ag.Variable(value[::-1, ::2]),
        )
        root.view._tensor = ag.transpose(ag.constant(value))
    assert not root.view.numpy().flags.c_contiguous  # otherwise this test would notice nothing
    root.write(tmp_path / "a")
    loaded = load_file(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(loaded["fortran"], value)
    np.testing.assert_array_equal(loaded["transposed"], value.T)
    np.testing.assert_array_equal(loaded["view"], value.T)
    np.testing.assert_array_equal(loaded["reversed"], value[::-1, ::2])


def test_many_dtypes_are_aligned(tmp_path: Path) -> None:
    dtypes = ["uint8", "float64", "int16", "float32", "bool", "int64"]
    Checkpoint(v=[ag.Variable(np.ones(3, dtype)) for dtype in dtypes]).write(tmp_path / "a")
    header, _ = by_hand(tmp_path / "a.safetensors")
    for number, dtype in enumerate(dtypes):
        assert header[f"v/{number}"]["data_offsets"][0] % np.dtype(dtype).itemsize == 0


def test_the_package_writes_the_same_tensors(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    dtypes = ["bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))]
    dtypes += ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
    values = {
        f"{dtype}{name}": rng.integers(0, 2, shape).astype(getattr(ml_dtypes, dtype, dtype))
        for dtype in dtypes
        for name, shape in {"": (), "a": (2, 3), "ü": (0, 4), " 9": (5,)}.items()
    }
    Checkpoint(**{name: ag.Variable(value) for name, value in values.items()}).write(tmp_path / "a")
    header, data = by_hand(tmp_path / "a.safetensors")
    theirs = save(values, header["__metadata__"])
    length = int.from_bytes(theirs[:8], "little")
    assert list(json.loads(theirs[8 : 8 + length]).items()) == list(header.items())  # in the same order
    assert theirs[8 + length :] == data


def test_metadata_hold_version_graph_and_checksums(tmp_path: Path) -> None:
    kernel = ag.Variable([1.0, 2.0])
    root = Checkpoint(
        optimizer=Optimizer(("m", kernel, ag.Variable([3.0, 4.0]))), model=[kernel], position=Position(row=7, name="ü")
    )
    root.write(tmp_path / "a")
    with safe_open(str(tmp_path / "a.safetensors"), "numpy") as opened:
        metadata = opened.metadata()
    assert metadata.keys() == {"agog_format", "agog_graph", "agog_checksum"}
    assert metadata["agog_format"] == "2"
    assert metadata["agog_checksum"] == f"{zlib.crc32(metadata['agog_graph'].encode()):08x}"

    def variable(key: str, *values: float) -> dict[str, Any]:
        checksum = f"{zlib.crc32(np.array(values, '<f4').tobytes()):08x}00000000"
        facts = {"key": key, "dtype": "float32", "shape": [len(values)], "checksum": checksum, "name": "Variable"}
        return {"variable": facts}

    assert json.loads(metadata["agog_graph"]) == {
        "nodes": [
            {"children": {"model": 1, "optimizer": 2, "position": 3}},
            {"children": {"0": 4}},
            {},
            {"state": {"row": 7, "name": "ü"}},
            variable("model/0", 1.0, 2.0),
            variable("optimizer/.slot/m/model/0", 3.0, 4.0),
        ],
        "slots": [[2, "m", 4, 5]],
    }


def test_shared_objects_and_loops_are_saved_once(tmp_path: Path) -> None:
    model = Model()
    model.deep = Model()
    model.deep.parent = model
    model.deep.shared = model.shared = ag.Variable(1.0)
    Checkpoint(model=model).write(tmp_path / "a")
    assert list(load_file(tmp_path / "a.safetensors")) == ["model/shared"]


def test_a_slot_is_saved_where_variable_and_optimizer_are_reached(tmp_path: Path) -> None:
    mine, other = ag.Variable(1.0), ag.Variable(2.0)
    optimizer = Optimizer(("m", mine, ag.Variable(3.0)), ("m", other, ag.Variable(4.0)))
    Checkpoint(mine=mine, optimizer=optimizer).write(tmp_path / "a")
    assert sorted(load_file(tmp_path / "a.safetensors")) == ["mine", "optimizer/.slot/m/mine"]
    Checkpoint(mine=mine).write(tmp_path / "b")
    assert sorted(load_file(tmp_path / "b.safetensors")) == ["mine"]


def test_strings_are_refused(tmp_path: Path) -> None:
    root = Checkpoint(model=[ag.Variable(["a", "b"], name="words")])
    with says(
        UnimplementedError,
        "Checkpoint: variable 'words:0' at 'model/0' has dtype string and shape (2,), but a safetensors file holds "
        "numbers only; keep text in what an object's checkpoint_state() returns.",
    ):
        root.save(tmp_path / "ckpt")
    assert list(tmp_path.iterdir()) == []
    assert int(root.save_counter) == 0


@pytest.mark.parametrize("state", [{"a": {1: 2}}, {"a": [b"bytes"]}, {"a": np.float32(1)}, {"a": {1, 2}}, ["a"]])
def test_state_that_is_not_json_is_refused(tmp_path: Path, state: Any) -> None:
    position = Position()
    position.state = state
    with says(
        ValueError,
        f"Checkpoint: checkpoint_state() of the Position at 'position' returned {state!r}, but it must return a dict "
        "that JSON can hold: of strings to None, bool, int, float, str, lists and such dicts.",
    ):
        Checkpoint(position=position).write(tmp_path / "a")


def test_keys_of_dicts_must_be_strings(tmp_path: Path) -> None:
    with says(
        ValueError,
        "Checkpoint: the dict 'model/0' has a non-string key, 1 of type int, for an object with state, but names in a "
        "checkpoint are strings; use a string as key.",
    ):
        Checkpoint(model=[{1: ag.Variable(1.0)}]).write(tmp_path / "a")


def test_a_header_that_readers_refuse_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agog_checkpoint.layout.LONGEST_HEADER", 1000)
    with pytest.raises(InvalidArgumentError) as raised:
        Checkpoint(position=Position(text="x" * 1000)).write(tmp_path / "a")
    length = str(raised.value).split("take ")[1].split(" ")[0]
    assert str(raised.value) == (
        f"Checkpoint: the names, the shapes and the state outside of variables take {length} bytes, but a safetensors "
        "file holds at most 1000 of them; keep large state in variables."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_safetensors_package_with_our_metadata_can_be_restored(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    Checkpoint(a=ag.Variable([1.0, 2.0]), b=ag.Variable(3)).write(tmp_path / "ours")
    with safe_open(str(tmp_path / "ours.safetensors"), "numpy") as opened:
        metadata = opened.metadata()
    save_file(load_file(tmp_path / "ours.safetensors"), tmp_path / "theirs.safetensors", metadata)
    root = Checkpoint(a=ag.Variable([0.0, 0.0]), b=ag.Variable(0))
    root.restore(tmp_path / "theirs").assert_consumed()
    assert (root.a.numpy().tolist(), int(root.b)) == ([1.0, 2.0], 3)
