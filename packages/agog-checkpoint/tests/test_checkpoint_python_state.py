"""State beside variables, parts that are left out, and the graph to look at."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import agog_core as ag
from agog_checkpoint import Checkpoint, NumpyState, PythonState, PythonStateWrapper
from agog_checkpoint.metadata import dot_graph_from_checkpoint, list_objects, object_metadata
from agog_core.checkpointable import NoDependency
from agog_core.variables.containers import List, Mapping, UniqueNameTracker
from agog_testing import says


def test_arrays_are_saved_and_restored(tmp_path: Path) -> None:
    state = NumpyState()
    state.a, state.b, state.c = np.ones((2, 2)), np.float32(3.5), np.array([True, False])
    checkpoint = Checkpoint(state=state)
    path = checkpoint.write(tmp_path / "a")
    assert {key: value.dtype.name for key, value in load_file(f"{path}.safetensors").items()} == {
        "state/a": "float64",
        "state/b": "float32",
        "state/c": "bool",
    }
    state.a[0, 0] = 7.0  # in place
    state.b = np.arange(3)
    second = checkpoint.write(tmp_path / "b")
    for value, where in ((np.ones((2, 2)), path), (np.array([[7.0, 1.0], [1.0, 1.0]]), second)):
        checkpoint.restore(where).assert_consumed()
        np.testing.assert_array_equal(state.a, value)
        state.a[1, 1] = 100.0  # what was restored may be changed
    assert (state.b.shape, state.b.dtype) == ((3,), np.int64)  # shapes and dtypes are those of the file


def test_arrays_are_made_by_a_restore(tmp_path: Path) -> None:
    state = NumpyState()
    state.a, state.b = np.array([1, 2]), np.array(3.0)
    path = Checkpoint(state=state).write(tmp_path / "a")
    other = NumpyState()
    other.b = np.zeros((5, 5))
    Checkpoint(state=other).restore(path).assert_consumed()
    assert (other.a.tolist(), other.b.tolist()) == ([1, 2], 3.0)
    late = Checkpoint()
    status = late.restore(path)
    late.state = NumpyState()
    assert late.state.a.tolist() == [1, 2]
    status.assert_consumed()


def test_what_is_no_array() -> None:
    state = NumpyState()
    with says(
        NotImplementedError,
        "NumpyState: the attribute 'x' must be a NumPy array, but is 3.0 of type float; put other objects with state "
        "beside the NumpyState, in the Checkpoint.",
    ):
        state.x = 3.0
    with says(
        ValueError,
        "NumpyState: the attribute 'x' has dtype <U1, which a checkpoint does not hold; use numbers or booleans.",
    ):
        state.x = np.array(["a"])
    with pytest.raises(AttributeError):
        state.y  # noqa: B018


def test_an_array_and_an_object_with_parts(tmp_path: Path) -> None:
    path = Checkpoint(s=ag.Checkpointable(), v=ag.Variable(1.0)).write(tmp_path / "a")
    state = NumpyState()
    state.v = np.zeros(2)
    with pytest.raises(ValueError, match=r"'v': the checkpoint has a variable, the program an object of"):
        Checkpoint(v=state).restore(path)


class Text(PythonState):
    def __init__(self, value: Any) -> None:
        self.value = value

    def serialize(self) -> Any:
        return self.value

    def deserialize(self, string_value: Any) -> None:
        self.value = string_value


def test_texts_and_bytes(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    for number, value in enumerate(("", "größe\n\0", b"", b"\xff\0", buffer.getvalue())):
        path = Checkpoint(text=Text(value)).write(tmp_path / str(number))
        other = Text("before")
        late = Checkpoint()
        status = late.restore(path)
        late.text = other
        status.assert_consumed()
        assert other.value == value
    with says(TypeError, "PythonState: serialize of Text must return a str or bytes; got 3 of type int."):
        Checkpoint(text=Text(3)).write(tmp_path / "c")
    for use, method in ((PythonState().serialize, "serialize"), (lambda: PythonState().deserialize(""), "deserialize")):
        with says(NotImplementedError, f"PythonState is a PythonState and needs a method {method}."):
            use()


def test_wrappers_by_the_names_of_tensorflow(tmp_path: Path) -> None:
    class Wrapper(PythonStateWrapper):
        def __init__(self, value: str) -> None:
            self.value = value

        def _serialize(self) -> str:
            return self.value

        def _deserialize(self, string_value: Any) -> None:
            self.value = string_value

    path = Checkpoint(w=Wrapper("saved")).write(tmp_path / "a")
    other = Checkpoint(w=Wrapper("before"))
    other.restore(path).assert_consumed()
    assert other.w.value == "saved"
    abstract = PythonStateWrapper()
    for use, method in ((abstract.serialize, "_serialize"), (lambda: abstract.deserialize(""), "_deserialize")):
        with says(NotImplementedError, f"PythonStateWrapper is a PythonStateWrapper and needs a method {method}."):
            use()


def test_attributes_that_are_left_out(tmp_path: Path) -> None:
    checkpoint = Checkpoint(a=ag.Variable(1.0))
    checkpoint.b = NoDependency(ag.Variable(2.0))
    checkpoint.c = NoDependency([ag.Variable(3.0)])
    assert (float(checkpoint.b), float(checkpoint.c[0])) == (2.0, 3.0)
    path = checkpoint.write(tmp_path / "a")
    assert sorted(load_file(f"{path}.safetensors")) == ["a"]
    checkpoint.restore(path).assert_consumed()
    checkpoint.b = ag.Variable(4.0)  # assigned as others are, it is saved as others are
    assert sorted(load_file(f"{checkpoint.write(path)}.safetensors")) == ["a", "b"]


def test_unique_names(tmp_path: Path) -> None:
    tracker = UniqueNameTracker()
    tracked = [tracker.track(ag.Variable(float(number)), name) for number, name in enumerate("xyxx")]
    path = Checkpoint(slots=tracker).write(tmp_path / "a")
    assert {key: float(value) for key, value in load_file(f"{path}.safetensors").items()} == {
        "slots/x": 0.0,
        "slots/y": 1.0,
        "slots/x_1": 2.0,
        "slots/x_2": 3.0,
    }
    other = Checkpoint(slots=UniqueNameTracker())
    status = other.restore(path)
    late = [other.slots.track(ag.Variable(9.0), name) for name in "xyxx"]
    assert [float(v) for v in late] == [float(v) for v in tracked]
    status.assert_consumed()
    with says(
        ValueError,
        "UniqueNameTracker.track: a variable, a Checkpointable, or a list or dict of those is expected; got 3.0 of "
        "type float.",
    ):
        tracker.track(3.0, "z")


@pytest.mark.parametrize("kind", [list, List])
def test_lists_are_saved_as_they_are(tmp_path: Path, kind: Any) -> None:
    """TensorFlow 1.12 refuses to save a list that was changed other than by appending; here the names are of now."""
    a, b, c = (ag.Variable(float(number)) for number in range(3))
    checkpoint = Checkpoint(v=kind([a, b]))
    checkpoint.v.insert(0, c)
    del checkpoint.v[1]
    checkpoint.v[1:1] = [b]
    checkpoint.v.append({"x": kind([a])})
    path = checkpoint.write(tmp_path / "a")
    assert {key: float(value) for key, value in load_file(f"{path}.safetensors").items()} == {
        "v/0": 2.0,
        "v/1": 1.0,
        "v/3/x/0": 0.0,
    }
    for variable in (a, b, c):
        variable.assign(9.0)
    checkpoint.restore(path).assert_consumed()
    assert [float(v) for v in (a, b, c)] == [0.0, 1.0, 2.0]


def test_a_list_that_grows_at_its_front_while_a_restore_waits(tmp_path: Path) -> None:
    path = Checkpoint(v=[ag.Variable(1.0), ag.Variable(2.0)]).write(tmp_path / "a")
    checkpoint = Checkpoint(v=[ag.Variable(0.0)])
    status = checkpoint.restore(path)
    checkpoint.v.insert(0, ag.Variable(-1.0))
    status.run_restore_ops()
    assert [float(v) for v in checkpoint.v] == [-1.0, 1.0]  # what has its value keeps it, and nothing gets a wrong one
    with pytest.raises(AssertionError, match=r"values in the file without an object \(1\): v/1"):
        status.assert_consumed()


def test_mappings(tmp_path: Path) -> None:
    checkpoint = Checkpoint(m=Mapping(a=ag.Variable(1.0), b=Mapping(c=ag.Variable(2.0))))
    path = checkpoint.write(tmp_path / "a")
    other = Checkpoint(m=Mapping())
    status = other.restore(path)
    other.m["a"] = ag.Variable(0.0)
    other.m["b"] = Mapping(c=ag.Variable(0.0))
    status.assert_consumed()
    assert (float(other.m["a"]), float(other.m["b"]["c"])) == (1.0, 2.0)


class Optimizer(ag.Checkpointable):
    def __init__(self, variable: ag.Variable) -> None:
        self._pair = variable, ag.Variable(0.5)

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return {}

    def checkpoint_slots(self) -> Any:
        yield "m", *self._pair


def test_metadata_have_the_names_of_variables(tmp_path: Path) -> None:
    kernel, strange = ag.Variable(1.0, name="net/kernel"), ag.Variable(2.0, name="\ud800/ü")
    checkpoint = Checkpoint(w=kernel, x=strange, v=ag.Variable(3.0, name="v"), note=Text("x"))
    nodes = object_metadata(checkpoint.write(tmp_path / "a")).nodes
    found = {each.checkpoint_key: each.full_name for node in nodes for each in node.attributes}
    assert found == {"w": "net/kernel", "x": "\ud800/ü", "v": "v", "note/.state": ""}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_the_objects_of_a_copy(copied: Callable[[Any], Any]) -> None:
    original, part = ag.Checkpointable(), ag.Checkpointable()
    original.rows, original.parts = [[1.0]], {"a": part}
    other = copied(original)
    objects = list_objects(other)
    expected = [other, other.parts, other.parts["a"], other.rows, other.rows[0]]
    assert list(map(id, objects)) == list(map(id, expected))
    assert (part in objects) is (copied is copy.copy)


def test_objects_under_keys_that_are_no_strings() -> None:
    owner = ag.Checkpointable()
    owner.named = {}
    owner.named["a"] = [3]
    owner.named[1] = NoDependency([4])
    owner.numbers = (1, 2)
    owner.aside = NoDependency([5])
    assert list_objects(owner) == [owner, owner.named, [3]]
    mapping = Mapping(a=ag.Variable(1.0))
    for put in (
        lambda: mapping.__setitem__(1, List()),
        lambda: mapping.update({1: List()}),
        lambda: mapping.setdefault(1, List()),
        lambda: Mapping({1: List()}),
    ):
        with says(
            TypeError, "Mapping: accepts only string keys, which are names in a checkpoint; got the key 1 of type int."
        ):
            put()
    assert list(mapping) == ["a"]


def test_the_graph_to_look_at(tmp_path: Path) -> None:
    v = ag.Variable(1.0)
    checkpoint = Checkpoint(v=[v], optimizer=Optimizer(v), note=Text("x"))
    path = checkpoint.write(tmp_path / "a")
    nodes = object_metadata(path).nodes
    assert [name for _, name in nodes[0].children] == ["note", "optimizer", "v"]
    keys = [attribute.checkpoint_key for node in nodes for attribute in node.attributes]
    assert sorted(keys) == ["note/.state", "optimizer/.slot/m/v/0", "v/0"]
    (slot,) = (slot for node in nodes for slot in node.slot_variables)
    assert (nodes[slot.original_variable_node_id].attributes[0].checkpoint_key, slot.slot_name) == ("v/0", "m")
    assert nodes[slot.slot_variable_node_id].attributes[0].checkpoint_key == "optimizer/.slot/m/v/0"
    objects = list_objects(checkpoint)
    assert objects[0] is checkpoint
    assert {id(part) for part in (v, checkpoint.optimizer, checkpoint.optimizer._pair[1])} <= set(map(id, objects))
    assert dot_graph_from_checkpoint(path).splitlines() == [
        "digraph {",
        '  n0 [label=""];',
        '  n1 [label="note"];',
        '  n2 [label="optimizer"];',
        '  n3 [label="v"];',
        '  n4 [label="v/0 (float32)" color=blue];',
        '  n5 [label="optimizer/.slot/m/v/0 (float32)" color=blue];',
        '  n0 -> n1 [label="note"];',
        '  n0 -> n2 [label="optimizer"];',
        '  n0 -> n3 [label="v"];',
        '  n3 -> n4 [label="0"];',
        '  n2 -> n5 [label="m" color=orange style=dashed];',
        "  n4 -> n5 [color=orange style=dashed];",
        "}",
    ]


@pytest.mark.parametrize(
    ("base", "methods"),
    [(PythonState, ("serialize", "deserialize")), (PythonStateWrapper, ("_serialize", "_deserialize"))],
)
def test_methods_that_are_missing(base: type[PythonState], methods: tuple[str, str]) -> None:
    class Bare(base):  # type: ignore[misc, valid-type]
        pass

    for method, call in zip(methods, (Bare().serialize, partial(Bare().deserialize, "")), strict=True):
        with says(NotImplementedError, f"Bare is a {base.__name__} and needs a method {method}."):
            call()
