"""Restoring under other names, only parts, and with other dtypes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointableSaver, Saver, load_tensors
from agog_core.checkpointable import notify
from agog_core.errors import DataLossError, NotFoundError
from agog_testing import says


class Position(ag.Checkpointable):
    def __init__(self, row: int = 0) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        self.row = state["row"]


class Momentum(ag.Checkpointable):
    def __init__(self, *variables: ag.Variable, fill: float = 0.0) -> None:
        self._pairs: list[tuple[ag.Variable, ag.Variable]] = []
        self.add(*variables, fill=fill)

    def add(self, *variables: ag.Variable, fill: float = 0.0) -> None:
        self._pairs += [(v, ag.Variable(np.full(v.shape, fill, np.float32))) for v in variables]
        notify()

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return {}

    def checkpoint_slots(self) -> Any:
        for v, slot in self._pairs:
            yield "m", v, slot


def group(**parts: Any) -> ag.Checkpointable:
    made = ag.Checkpointable()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def dense(value: float) -> ag.Checkpointable:
    return group(kernel=ag.Variable([value, value + 1]), bias=ag.Variable([value + 2]))


def values(layer: Any) -> list[float]:
    return [*layer.kernel.numpy().tolist(), *layer.bias.numpy().tolist()]


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A model of two layers with the values 1, 2, 3 and 4, 5, 6, slots of 7, a position and a step."""
    model = group(encoder=dense(1.0), head=dense(4.0))
    optimizer = Momentum(model.encoder.kernel, model.head.kernel, fill=7.0)
    return Checkpoint(old=model, optimizer=optimizer, at=Position(8), step=ag.Variable(9)).write(tmp_path / "saved")


def fresh() -> Checkpoint:
    model = group(encoder=dense(0.0), head=dense(0.0))
    optimizer = Momentum(model.encoder.kernel, model.head.kernel)
    return Checkpoint(old=model, optimizer=optimizer, at=Position(), step=ag.Variable(0))


def test_an_object_takes_its_parts_and_slots_with_it(saved: str) -> None:
    source = fresh()
    new = Checkpoint(model=group(trunk=source.old.encoder), optimizer=source.optimizer)
    status = new.restore(saved, mapping={"model/trunk": "old/encoder"}).expect_partial()
    assert values(source.old.encoder) == [1.0, 2.0, 3.0]
    assert [slot.numpy()[0] for _, slot in source.optimizer._pairs] == [7.0, 0.0]
    assert repr(status).splitlines()[1] == (
        "  matched (3): old/encoder/kernel, old/encoder/bias, optimizer/.slot/m/old/encoder/kernel"
    )


def test_renamed_objects_are_restored_when_they_are_created(saved: str) -> None:
    new = Checkpoint()
    status = new.restore(saved, mapping={"model": "old", "position": "at"})
    new.model = group(encoder=dense(0.0), head=dense(0.0))
    new.optimizer, new.position, new.step = Momentum(), Position(), ag.Variable(0)
    new.optimizer.add(new.model.encoder.kernel, new.model.head.kernel)
    status.assert_consumed()
    assert values(new.model.encoder) + values(new.model.head) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert (new.position.row, int(new.step)) == (8, 9)
    assert [slot.numpy()[0] for _, slot in new.optimizer._pairs] == [7.0, 7.0]


def test_names_can_be_swapped(saved: str) -> None:
    new = fresh()
    mapping = {"old/encoder": "old/head", "old/head": "old/encoder"}
    new.restore(saved, mapping=mapping).assert_consumed()
    assert values(new.old.encoder) + values(new.old.head) == [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]


def test_one_value_for_two_objects(saved: str) -> None:
    new = Checkpoint(a=dense(0.0), b=dense(0.0), c=ag.Variable([0.0]))
    status = new.restore(saved, mapping={"a": "old/encoder", "b": "old/encoder"}).expect_partial()
    assert values(new.a) == values(new.b) == [1.0, 2.0, 3.0]
    assert "objects without a value in the file (1): c" in repr(status)


def test_a_part_that_comes_from_elsewhere(saved: str) -> None:
    for turn in (1, -1):
        new = Checkpoint(a=dense(0.0))
        mapping = dict([("a", "old/encoder"), ("a/bias", "old/head/bias")][::turn])
        new.restore(saved, mapping=mapping, only="a").assert_consumed()
        assert values(new.a) == [1.0, 2.0, 6.0]


def test_one_large_value_for_two_variables(tmp_path: Path) -> None:
    ones = np.ones(100_000, np.float32)
    path = Checkpoint(v=ag.Variable(ones)).write(tmp_path / "a")
    new = Checkpoint(a=ag.Variable(ones * 0))
    status = new.restore(path, mapping={"a": "v", "b": "v"})
    new.a.assign_add(ones)
    new.b = ag.Variable(ones * 0)
    new.b.assign_add(ones)
    status.assert_consumed()
    np.testing.assert_array_equal(new.a.numpy(), ones * 2)
    np.testing.assert_array_equal(new.b.numpy(), ones * 2)


def test_the_root(tmp_path: Path, saved: str) -> None:
    model = group(encoder=dense(1.0), head=dense(4.0))
    path = CheckpointableSaver(model).save(tmp_path / "model")
    new = Checkpoint(model=group(encoder=dense(0.0), head=dense(0.0)))
    new.restore(path, mapping={"model": ""}).assert_consumed()
    assert values(new.model.head) == [4.0, 5.0, 6.0]
    layers = Checkpoint(encoder=dense(0.0), head=dense(0.0))
    layers.restore(saved, mapping={"": "old"}, only=["encoder", "head"]).assert_consumed()
    assert values(layers.encoder) == [1.0, 2.0, 3.0]


def test_files_of_a_saver(tmp_path: Path) -> None:
    path = Saver([ag.Variable([1.0, 2.0], name="net/dense/kernel"), ag.Variable(3.0, name="b")]).save(tmp_path / "c")
    new = Checkpoint(layer=group(kernel=ag.Variable([0.0, 0.0]), bias=ag.Variable(0.0)))
    new.restore(path, mapping={"layer/kernel": "net/dense/kernel", "layer/bias": "b"}).assert_consumed()
    assert new.layer.kernel.numpy().tolist() == [1.0, 2.0]


def test_files_of_a_saver_by_name(tmp_path: Path) -> None:
    saved = [
        ag.Variable([1.0, 2.0], name="net/kernel"),
        ag.Variable(3.0, name="bias"),
        ag.Variable(4.0, name="net/gone"),
    ]
    path = Saver(saved).save(tmp_path / "c")
    kernel, bias, new = (
        ag.Variable(value, name=name) for value, name in (([0.0, 0.0], "net/kernel"), (0.0, "bias"), (0.0, "new"))
    )
    checkpoint = Checkpoint(layer=group(k=kernel, b=bias), new=new)
    status = checkpoint.restore(path)
    assert (kernel.numpy().tolist(), float(bias), float(new)) == ([1.0, 2.0], 3.0, 0.0)
    with says(
        AssertionError,
        f"assert_consumed: checkpoint {path!r} and the program's objects do not match.\n"
        "  values in the file without an object (1): net/gone\n"
        "  objects without a value in the file (1): new",
    ):
        status.assert_consumed()
    other = Checkpoint(layer=group(k=kernel, b=bias), new=new)
    other.restore(path, mapping={"new": "net/gone"}).assert_consumed()
    assert float(new) == 4.0


def test_escaped_names(tmp_path: Path) -> None:
    path = Checkpoint(d={"a/b": ag.Variable(1.0), "": ag.Variable(2.0)}).write(tmp_path / "c")
    new = Checkpoint(e={"x/y": ag.Variable(0.0)}, f=ag.Variable(0.0))
    new.restore(path, mapping={"e/x%2Fy": "d/a%2Fb", "f": "d/%"}).assert_consumed()
    assert (float(new.e["x/y"]), float(new.f)) == (1.0, 2.0)


def test_only_and_skip(saved: str) -> None:
    new = fresh()
    status = new.restore(saved, only="old", skip="old/*/bias")
    assert values(new.old.encoder) + values(new.old.head) == [1.0, 2.0, 2.0, 4.0, 5.0, 2.0]
    assert (new.at.row, int(new.step)) == (0, 0)
    status.assert_consumed()
    new = fresh()
    new.restore(saved, skip=["at", "step"]).assert_consumed()
    assert (new.at.row, int(new.step)) == (0, 0)
    assert values(new.old.head) == [4.0, 5.0, 6.0]


def test_a_skipped_variable_may_have_another_shape_and_so_may_its_slots(saved: str) -> None:
    new = fresh()
    new.old.head = group(kernel=ag.Variable([0.0] * 5), bias=ag.Variable([0.0]))
    new.optimizer = Momentum(new.old.encoder.kernel, new.old.head.kernel)
    status = new.restore(saved, skip="old/head/kernel")
    assert values(new.old.encoder) == [1.0, 2.0, 3.0]
    assert new.old.head.bias.numpy().tolist() == [6.0]
    assert [slot.numpy()[0] for _, slot in new.optimizer._pairs] == [7.0, 0.0]
    status.assert_consumed()


@pytest.mark.parametrize("late", [False, True])
def test_only_the_slots(saved: str, late: bool) -> None:
    new = Checkpoint() if late else fresh()
    status = new.restore(saved, only="optimizer")
    if late:
        made = fresh()
        new.optimizer, new.old = Momentum(), made.old
        new.optimizer.add(made.old.encoder.kernel, made.old.head.kernel)
    assert values(new.old.encoder) == [0.0, 1.0, 2.0]
    assert [slot.numpy()[0] for _, slot in new.optimizer._pairs] == [7.0, 7.0]
    status.assert_consumed()


def test_brackets_in_names(tmp_path: Path) -> None:
    path = Checkpoint(d={"a[0]": ag.Variable(1.0), "a0": ag.Variable(2.0)}).write(tmp_path / "c")
    new = Checkpoint(d={"a[0]": ag.Variable(0.0), "a0": ag.Variable(0.0)})
    new.restore(path, skip="d/a0")
    assert [float(v) for v in new.d.values()] == [1.0, 0.0]
    new.restore(path, only="d/a[0]")


def test_restores_of_parts_complement_each_other(saved: str) -> None:
    new = Checkpoint()
    new.restore(saved, only="old/encoder")
    new.restore(saved, only="old/head")
    new.old = group(encoder=dense(0.0), head=dense(0.0))
    assert values(new.old.encoder) + values(new.old.head) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_names_that_do_not_exist(saved: str) -> None:
    new = fresh()
    everything = (
        "at/.state, old/encoder/bias, old/encoder/kernel, old/head/bias, old/head/kernel, "
        "optimizer/.slot/m/old/encoder/kernel, optimizer/.slot/m/old/head/kernel, step"
    )
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        (
            {"mapping": {"old": "odl"}},
            NotFoundError,
            f"restore: mapping asks for 'odl', which is not in checkpoint {saved!r}; it has at, old, optimizer, step.",
        ),
        (
            {"mapping": {"old": "old/encoder/weight"}},
            NotFoundError,
            f"restore: mapping asks for 'old/encoder/weight', which is not in checkpoint {saved!r}; 'old/encoder' has "
            "bias, kernel.",
        ),
        (
            {"mapping": {"old": "step/x"}},
            NotFoundError,
            f"restore: mapping asks for 'step/x', which is not in checkpoint {saved!r}; 'step' has nothing.",
        ),
        (
            {"mapping": {"step/x": "old"}},
            ValueError,
            "restore: mapping cannot put anything at 'step/x', since the checkpoint has the variable 'step' on the "
            "way; skip it, or map its path to another object.",
        ),
        (
            {"mapping": {"a": 3}},
            TypeError,
            "restore: mapping must be a dict from paths in the program to paths in the file; got 3 of type int in it.",
        ),
        (
            {"only": "odl"},
            ValueError,
            f"restore: only has 'odl', which matches nothing in checkpoint {saved!r}; it has {everything}.",
        ),
        (
            {"skip": ["old", "*.x"]},
            ValueError,
            f"restore: skip has '*.x', which matches nothing in checkpoint {saved!r}; it has {everything}.",
        ),
        (
            {"skip": [3]},
            TypeError,
            "restore: skip must be a path such as 'model/encoder', a pattern such as 'model/*/bias', or a list of "
            "them; got 3 of type int.",
        ),
    ]
    for arguments, kind, text in cases:
        with says(kind, text):
            new.restore(saved, **arguments)
    assert values(new.old.encoder) == [0.0, 1.0, 2.0]


def test_dtypes_are_cast_where_that_is_asked_for(tmp_path: Path) -> None:
    path = Checkpoint(
        a=ag.Variable(np.float64([0.1, 2.5])),
        b=ag.Variable(np.int64([1, -2])),
        c=ag.Variable([True, False]),
        d=ag.Variable(np.float32([1.0, 2.0])),
    ).write(tmp_path / "a")
    new = Checkpoint(
        a=ag.Variable(np.float32([0, 0])),
        b=ag.Variable(np.int8([0, 0])),
        c=ag.Variable(np.float32([0, 0])),
        d=ag.Variable(np.zeros(2, ml_dtypes.bfloat16)),
    )
    status = new.restore(path, cast=True)
    assert [v.numpy().tolist() for v in (new.a, new.b, new.c, new.d)] == [
        [float(np.float32(0.1)), 2.5],
        [1, -2],
        [1.0, 0.0],
        [1.0, 2.0],
    ]
    assert new.d.dtype is ag.bfloat16
    assert repr(status) == (
        f"<CheckpointLoadStatus of {path!r}\n"
        "  matched (4): a, b, c, d\n"
        "  cast (4): a from float64 to float32, b from int64 to int8, c from bool to float32, d from float32 to "
        "bfloat16>"
    )


def test_dtypes_that_are_not_cast(tmp_path: Path) -> None:
    path = Checkpoint(
        a=ag.Variable(np.float32([1.5])),
        b=ag.Variable(np.int32([300])),
        c=ag.Variable(np.float64([1e300])),
        e=ag.Variable(1),
    ).write(tmp_path / "a")
    new = Checkpoint(
        a=ag.Variable(np.int32([7]), name="a"),
        b=ag.Variable(np.int8([7]), name="b"),
        c=ag.Variable(np.float32([7]), name="c"),
        e=ag.Variable(7),
    )
    which = "has the first, the checkpoint the second"
    text = (
        f"Checkpoint {path!r} does not fit the program's objects; nothing was changed.\n"
        f"  'a': Dtypes int32 and float32 are incompatible: variable 'a:0' {which}; a cast from float32 to int32 loses "
        "more than precision\n"
        f"  'b': Dtypes int8 and int32 are incompatible: variable 'b:0' {which}; int8 does not hold all of its values\n"
        f"  'c': Dtypes float32 and float64 are incompatible: variable 'c:0' {which}; float32 does not hold all of its "
        "values"
    )
    for cast in (True, False):
        with says(ValueError, text):
            new.restore(path, cast=cast)
    assert int(new.e) == 7
    with pytest.raises(ValueError, match=r"the second; pass cast=True to restore it as float64$"):
        Checkpoint(a=ag.Variable(np.float64([1.5]))).restore(path, only="a")


def test_infinities_and_nan_are_cast(tmp_path: Path) -> None:
    path = Checkpoint(a=ag.Variable(np.float64([np.inf, -np.inf, np.nan]))).write(tmp_path / "a")
    new = Checkpoint(a=ag.Variable(np.float32([0, 0, 0])))
    new.restore(path, cast=True).assert_consumed()
    np.testing.assert_array_equal(new.a.numpy(), [np.inf, -np.inf, np.nan])


def test_tensors_of_another_tool(tmp_path: Path) -> None:
    weights = np.arange(6, dtype=np.float32).reshape(3, 2)
    tensors = {
        "encoder.0.weight": weights,
        "encoder.0.bias": np.float16([1, 2, 3]),
        "half": np.ones(2, ml_dtypes.bfloat16),
        "empty": np.zeros((0, 3), np.int64),
    }
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    loaded = load_tensors(tmp_path / "model.safetensors")
    assert {name: (value.dtype.name, value.tolist()) for name, value in loaded.items()} == {
        name: (value.dtype.name, value.tolist()) for name, value in tensors.items()
    }
    assert not loaded["encoder.0.weight"].flags.writeable
    new = Checkpoint(model=group(layers=[group(kernel=ag.Variable(np.zeros((2, 3), np.float32)))]))
    turned = {name: value.T if name.endswith("weight") else value for name, value in loaded.items()}
    status = new.restore_tensors(
        turned, mapping={"model/layers/0": "encoder/0", "model/layers/0/kernel": "encoder.0.weight"}, cast=True
    )
    np.testing.assert_array_equal(new.model.layers[0].kernel.numpy(), weights.T)
    new.model.layers[0].bias = ag.Variable([0.0, 0.0, 0.0])
    assert new.model.layers[0].bias.numpy().tolist() == [1.0, 2.0, 3.0]
    assert "cast (1): encoder.0.bias from float16 to float32" in repr(status)
    status.expect_partial()


def test_an_index_of_several_files(tmp_path: Path) -> None:
    save_file({"a": np.float32([1])}, tmp_path / "m-1.safetensors")
    save_file({"b": np.float32([2])}, tmp_path / "m-2.safetensors")
    index = tmp_path / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}))
    assert {name: value.tolist() for name, value in load_tensors(index).items()} == {"a": [1.0], "b": [2.0]}
    index.write_text(json.dumps({"weight_map": {"a": "../m-1.safetensors"}}))
    with says(
        DataLossError,
        f"load_tensors: '{index}' is not a whole safetensors file: its 'weight_map' should name a file without folders "
        "for each tensor.",
    ):
        load_tensors(index)


def test_tensors_that_cannot_be_restored() -> None:
    new = Checkpoint()
    for tensors, kind, text in [
        (
            {"a": np.ones(1), "a.b": np.ones(1)},
            ValueError,
            "restore_tensors: 'a.b' begins as another name ends, so that one of them would be a variable and hold the "
            "other; rename one of them, or leave it out.",
        ),
        (
            {"a.b": np.ones(1), "a": np.ones(1)},
            ValueError,
            "restore_tensors: 'a' begins as another name ends, so that one of them would be a variable and hold the "
            "other; rename one of them, or leave it out.",
        ),
        (
            {"a": np.array(["x"])},
            ValueError,
            "restore_tensors: 'a' has dtype <U1, which no variable can have; leave it out.",
        ),
        ({3: np.ones(1)}, TypeError, "restore_tensors: names must be strings; got 3 of type int."),
    ]:
        with says(kind, text):
            new.restore_tensors(tensors)


def test_damaged_files_of_tensors(tmp_path: Path) -> None:
    good = tmp_path / "good.safetensors"
    save_file({"a": np.float32([1, 2]), "b": np.int8([3])}, good)
    content = good.read_bytes()
    bad = tmp_path / "bad.safetensors"
    for length in range(len(content)):
        bad.write_bytes(content[:length])
        with pytest.raises(DataLossError):
            load_tensors(bad)
    rng = np.random.default_rng(0)
    for number in range(300):
        mutated = bytearray(content)
        mutated[rng.integers(len(content))] = rng.integers(256)
        bad.write_bytes(mutated)
        try:
            load_tensors(bad)  # without checksums many changes cannot be noticed
        except DataLossError:
            pass
        except Exception as error:
            raise AssertionError(f"mutation {number} of seed 0") from error
    bad.write_bytes(content[:5])
    with says(
        DataLossError,
        f"load_tensors: '{bad}' is not a whole safetensors file: safetensors cannot read its 5 bytes: header too "
        "small.",
    ):
        load_tensors(bad)
    with says(NotFoundError, f"load_tensors: the file '{tmp_path}/none' does not exist."):
        load_tensors(tmp_path / "none")


def test_names_that_look_like_patterns(tmp_path: Path) -> None:
    parts = {"[a]": ag.Variable(1.0), "a": ag.Variable(2.0)}
    path = Checkpoint(parts={"b*[0]": parts}).write(tmp_path / "a")
    restored = {"[a]": ag.Variable(0.0), "a": ag.Variable(0.0)}
    Checkpoint(parts={"b*[0]": restored}).restore(path, only="parts/b*[0]").assert_consumed()
    assert [float(value) for value in restored.values()] == [1.0, 2.0]
