"""Restoring: what exists now, what comes later, and what does not fit."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointWarning, InitializationOnlyStatus
from agog_core.checkpointable import listeners, notify
from agog_core.errors import NotFoundError
from agog_testing import says


class Dense(ag.Checkpointable):
    """A layer that is built by its first call."""

    def __init__(self, units: int, fill: float = 0.0) -> None:
        self.units = units
        self.fill = fill
        self.kernel: ag.Variable | None = None

    def __call__(self, x: Any) -> ag.Tensor:
        if self.kernel is None:
            self.kernel = ag.Variable(np.full((x.shape[1], self.units), self.fill, np.float32), name="kernel")
        return ag.matmul(x, self.kernel)


class Model(ag.Checkpointable):
    def __init__(self, fill: float = 0.0) -> None:
        self.first = Dense(3, fill)
        self.layers = [Dense(2, fill + 1), Dense(1, fill + 2)]

    def __call__(self, x: Any) -> ag.Tensor:
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


class Momentum(ag.Checkpointable):
    """An optimizer whose slots are made by its first step."""

    def __init__(self) -> None:
        self.slots: dict[int, tuple[ag.Variable, ag.Variable]] = {}

    def step(self, *variables: ag.Variable) -> None:
        for v in variables:
            if id(v) not in self.slots:
                self.slots[id(v)] = v, ag.Variable(ag.zeros_like(v), trainable=False)
                notify()
            slot = self.slots[id(v)][1]
            slot.assign(slot * 0.5 + 1.0)
            v.assign_sub(slot * 0.25)

    def checkpoint_dependencies(self) -> dict[str, Any]:
        return {}

    def checkpoint_slots(self) -> Any:
        for v, slot in self.slots.values():
            yield "momentum", v, slot


class Position(ag.Checkpointable):
    def __init__(self, row: int = 0) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
        self.row = state["row"]


X = np.ones((1, 4), np.float32)
SLOTS_ARE_NOT_ASKED_FOR = pytest.mark.filterwarnings(
    "ignore:Checkpoint .* has values:agog_checkpoint.CheckpointWarning"
)


def forget(objects: list[Any]) -> None:
    """Drop the last references to objects, loops among them too."""
    objects.clear()
    gc.collect()


def kernels(model: Model) -> list[float]:
    return [float(layer.kernel.numpy().flat[0]) for layer in (model.first, *model.layers)]


@pytest.fixture(autouse=True)
def no_listener_stays() -> Any:
    listeners.clear()  # what other tests have left waiting
    yield
    gc.collect()
    assert listeners == []


@pytest.fixture
def trained(tmp_path: Path) -> str:
    """A checkpoint of a model with values 10, 11, 12 less one step, an optimizer with slots of 1 and a position."""
    model, optimizer = Model(10.0), Momentum()
    model(X)
    optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
    return Checkpoint(model=model, optimizer=optimizer, position=Position(7)).save(tmp_path / "ckpt")


def test_existing_objects_are_restored_at_once(trained: str) -> None:
    model, optimizer, position = Model(), Momentum(), Position()
    model(X)
    optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
    checkpoint = Checkpoint(model=model, optimizer=optimizer, position=position)
    assert checkpoint.restore(trained).assert_consumed()
    assert kernels(model) == [9.75, 10.75, 11.75]
    assert [float(slot.numpy().flat[0]) for _, slot in optimizer.slots.values()] == [1.0] * 3
    assert position.row == 7
    assert int(checkpoint.save_counter) == 1
    assert listeners == []


@SLOTS_ARE_NOT_ASKED_FOR
def test_variables_are_restored_when_layers_are_built(trained: str) -> None:
    model = Model()
    checkpoint = Checkpoint(model=model, optimizer=Momentum(), position=Position())
    checkpoint.restore(trained)
    y = model(X)
    assert kernels(model) == [9.75, 10.75, 11.75]
    # Each layer's first call has used the restored value.
    assert float(y) == 4 * 9.75 * 3 * 10.75 * 2 * 11.75


def test_slots_are_restored_when_the_optimizer_makes_them(trained: str) -> None:
    model, optimizer = Model(), Momentum()
    status = Checkpoint(model=model, optimizer=optimizer, position=Position()).restore(trained)
    model(X)
    optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
    assert [float(slot.numpy().flat[0]) for _, slot in optimizer.slots.values()] == [1.5] * 3
    assert kernels(model) == [9.375, 10.375, 11.375]
    status.assert_consumed()


def test_slots_are_restored_into_an_optimizer_that_comes_later(trained: str) -> None:
    model = Model()
    checkpoint = Checkpoint(model=model)
    status = checkpoint.restore(trained)
    model(X)
    checkpoint.position = Position()
    checkpoint.optimizer = Momentum()
    checkpoint.optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
    assert kernels(model) == [9.375, 10.375, 11.375]
    assert checkpoint.position.row == 7
    status.assert_consumed()


def test_slots_that_exist_before_their_variables_are_attached(trained: str) -> None:
    model, optimizer = Model(), Momentum()
    model(X)
    optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
    checkpoint = Checkpoint(optimizer=optimizer, position=Position())
    status = checkpoint.restore(trained)
    checkpoint.model = model
    status.assert_consumed()


def test_a_dropped_checkpoint_still_restores_the_model(trained: str) -> None:
    model = Model()
    checkpoint = Checkpoint(model=model)
    root = weakref.ref(checkpoint)
    checkpoint.restore(trained)
    del checkpoint
    assert root() is None
    assert len(listeners) == 1
    with pytest.warns(CheckpointWarning, match="optimizer/.slot/momentum/model/first/kernel"):
        model(X)
    assert kernels(model) == [9.75, 10.75, 11.75]
    assert listeners == []


def test_a_restore_ends_with_the_objects_that_it_waits_for(trained: str) -> None:
    models = [Model()]
    reference = weakref.ref(models[0])
    Checkpoint(model=models[0], position=Position()).restore(trained)
    with pytest.warns(CheckpointWarning) as caught:
        forget(models)
    assert reference() is None
    assert listeners == []
    slots = [f"optimizer/.slot/momentum/model/{name}/kernel" for name in ("first", "layers/0", "layers/1")]
    keys = ["model/first/kernel", "model/layers/0/kernel", "model/layers/1/kernel", *slots]
    assert [str(warning.message) for warning in caught] == [
        f"Checkpoint {trained!r} has values that no object of the program has asked for: {', '.join(map(repr, keys))}."
    ]


def test_attributes_can_be_added_after_the_restore(tmp_path: Path) -> None:
    path = Checkpoint(a=ag.Variable(1.0), deep=Position(3)).write(tmp_path / "a")
    checkpoint = Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.a = ag.Variable(0.0)
    assert float(checkpoint.a) == 1.0
    checkpoint.deep = Position()
    assert checkpoint.deep.row == 3
    status.assert_consumed()


def test_elements_of_lists_and_dicts_that_come_later(tmp_path: Path) -> None:
    model = Model(5.0)
    model(X)
    path = Checkpoint(model=model, named={"a": ag.Variable(1.0), "b": [ag.Variable(2.0)]}).write(tmp_path / "a")
    other = Model()
    other.layers = []
    checkpoint = Checkpoint(model=other, named={})
    status = checkpoint.restore(path)
    other.layers.append(Dense(2))
    other.layers.append(Dense(1))
    checkpoint.named["a"] = ag.Variable(0.0)
    other(X)  # a new layer says so, and then the others are looked for
    assert kernels(other) == [5.0, 6.0, 7.0]
    assert float(checkpoint.named["a"]) == 1.0
    checkpoint.named["b"] = [ag.Variable(0.0)]  # a dict cannot say so; the status looks
    status.run_restore_ops()
    assert float(checkpoint.named["b"][0]) == 2.0
    status.assert_consumed()


def test_what_a_plain_list_or_dict_gets_later_has_its_value_when_it_is_read(tmp_path: Path) -> None:
    saved = {"a": [ag.Variable(2.0)], "b": ag.Variable(3.0)}
    path = Checkpoint(v=[ag.Variable(1.0)], named=saved).write(tmp_path / "a")
    checkpoint = Checkpoint(v=[], named={"a": []})
    status = checkpoint.restore(path)
    checkpoint.v.append(ag.Variable(0.0))
    assert float(checkpoint.v[0]) == 1.0
    checkpoint.named["a"].append(ag.Variable(0.0))
    checkpoint.named["a"][0].assign_add(5.0)  # what is read first may be an update
    assert float(checkpoint.named["a"][0]) == 7.0
    alone = ag.Variable(0.0)
    assert float(alone) == 0.0  # read before the dict has it, so that another has to ask
    checkpoint.named["b"] = alone
    status.assert_consumed()
    assert float(alone) == 3.0


def test_saving_first_restores_what_was_appended(tmp_path: Path) -> None:
    path = Checkpoint(v=[ag.Variable(1.0), ag.Variable(2.0)]).write(tmp_path / "a")
    checkpoint = Checkpoint(v=[ag.Variable(0.0)])
    checkpoint.restore(path)
    checkpoint.v.append(ag.Variable(0.0))
    checkpoint.restore(checkpoint.write(tmp_path / "b")).assert_consumed()
    assert [float(v) for v in checkpoint.v] == [1.0, 2.0]


@SLOTS_ARE_NOT_ASKED_FOR
def test_a_value_is_restored_once(trained: str) -> None:
    model = Model()
    checkpoint = Checkpoint(model=model, optimizer=Momentum(), position=Position())
    checkpoint.restore(trained)
    model(X)
    model.first.kernel.assign(np.zeros((4, 3), np.float32))
    checkpoint.position.row = 100
    checkpoint.unrelated = ag.Variable(1.0)
    model.layers = list(model.layers)
    assert kernels(model)[0] == 0.0
    assert checkpoint.position.row == 100


def test_a_later_restore_wins_over_a_waiting_one(tmp_path: Path) -> None:
    paths = []
    for fill in (1.0, 2.0):
        model = Model(fill)
        model(X)
        paths.append(Checkpoint(model=model).write(tmp_path / str(fill)))
    model = Model()
    checkpoint = Checkpoint(model=model)
    checkpoint.restore(paths[1])
    later = checkpoint.restore(paths[0])
    model(X)
    assert kernels(model) == [1.0, 2.0, 3.0]
    later.assert_consumed()


def test_a_waiting_restore_does_not_undo_a_later_one_of_another_root(tmp_path: Path) -> None:
    old = Checkpoint(a=[ag.Variable(1.0)], p=Position(1)).write(tmp_path / "old")
    new = Checkpoint(b=ag.Variable(2.0), q=Position(2)).write(tmp_path / "new")
    v, position = ag.Variable(0.0), Position()
    waiting = Checkpoint()
    status = waiting.restore(old)
    Checkpoint(b=v, q=position).restore(new).assert_consumed()
    waiting.a = [v]
    waiting.p = position
    assert (float(v), position.row) == (2.0, 2)
    status.assert_consumed()


def test_a_later_restore_may_have_another_shape_than_a_waiting_one(tmp_path: Path) -> None:
    old = Checkpoint(v=ag.Variable([1.0, 2.0])).write(tmp_path / "old")
    new = Checkpoint(v=ag.Variable([3.0])).write(tmp_path / "new")
    checkpoint = Checkpoint()
    checkpoint.restore(old)
    checkpoint.restore(new)
    checkpoint.v = ag.Variable([0.0])
    assert checkpoint.v.numpy().tolist() == [3.0]


def test_two_restores_complement_each_other(tmp_path: Path) -> None:
    encoder = Checkpoint(encoder=ag.Variable(1.0)).write(tmp_path / "encoder")
    decoder = Checkpoint(decoder=ag.Variable(2.0)).write(tmp_path / "decoder")
    checkpoint = Checkpoint()
    checkpoint.restore(encoder)
    checkpoint.restore(decoder)
    checkpoint.encoder, checkpoint.decoder = ag.Variable(0.0), ag.Variable(0.0)
    assert (float(checkpoint.encoder), float(checkpoint.decoder)) == (1.0, 2.0)


def test_shapes_and_dtypes_must_agree(tmp_path: Path) -> None:
    path = Checkpoint(
        a=ag.Variable(1.0),
        b=ag.Variable(np.zeros((3, 2), np.float32)),
        c=ag.Variable(1),
        d=Position(9),
        e=Position(),
        f=ag.Variable(1.0),
    ).write(tmp_path / "a")
    a, position = ag.Variable(5.0), Position(1)
    checkpoint = Checkpoint(
        a=a,
        b=ag.Variable(np.ones((5, 2), np.float32), name="kernel"),
        c=ag.Variable(1.5, name="step"),
        d=position,
        e=ag.Variable(2.0, name="e"),
        f=Position(),
    )
    which = "has the first, the checkpoint the second"
    with says(
        ValueError,
        f"Checkpoint {path!r} does not fit the program's objects; nothing was changed.\n"
        f"  'b': Shapes (5, 2) and (3, 2) are incompatible: variable 'kernel:0' {which}\n"
        f"  'c': Dtypes float32 and int32 are incompatible: variable 'step:0' {which}; pass cast=True to "
        "restore it as float32\n"
        "  'e': the checkpoint has an object with parts, the program the variable 'e:0'\n"
        "  'f': the checkpoint has a variable, the program an object of class Position",
    ):
        checkpoint.restore(path)
    assert (float(a), position.row) == (5.0, 1)
    assert listeners == []


def test_a_shape_that_does_not_fit_is_said_when_the_variable_is_created(tmp_path: Path) -> None:
    model = Model(5.0)
    model(X)
    checkpoint = Checkpoint(model=Model())
    path = Checkpoint(model=model).write(tmp_path / "a")
    status = checkpoint.restore(path)
    checkpoint.model.first.units = 9
    with says(
        ValueError,
        f"Checkpoint {path!r} does not fit the program's objects; these keep the values that they have.\n"
        "  'model/first/kernel': Shapes (4, 9) and (4, 3) are incompatible: variable 'kernel:0' has the first, the "
        "checkpoint the second",
    ) as raised:
        checkpoint.model(X)
    checkpoint.other = ag.Variable(1.0)  # said once, not at every later change
    with pytest.raises(AssertionError, match="model/first/kernel"):
        status.assert_existing_objects_matched()
    last = [checkpoint, status, raised]
    del checkpoint, status, raised
    with pytest.warns(CheckpointWarning, match="'model/layers/0/kernel', 'model/layers/1/kernel'"):
        forget(last)


def test_objects_that_refuse_their_state(tmp_path: Path) -> None:
    class Stubborn(Position):
        def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
            raise KeyError("column")

    path = Checkpoint(a=Position(1), b=Position(2), v=ag.Variable(3.0)).write(tmp_path / "a")
    checkpoint = Checkpoint(a=Position(-1), b=Stubborn(-2), v=ag.Variable(-3.0))
    with pytest.raises(KeyError, match="column") as raised:
        checkpoint.restore(path)
    assert raised.value.__notes__ == [f"This happened while 'b/.state' was restored from checkpoint {path!r}."]
    assert (checkpoint.a.row, checkpoint.b.row, float(checkpoint.v)) == (-1, -2, -3.0)
    checkpoint.c = Position()  # nothing waits


def test_a_state_whose_restore_makes_new_parts(tmp_path: Path) -> None:
    class Growing(ag.Checkpointable):
        def __init__(self, count: int = 0) -> None:
            self.parts: list[ag.Variable] = []
            self.grow(count)

        def grow(self, count: int) -> None:
            self.parts = [ag.Variable(-1.0) for _ in range(count)]

        def checkpoint_state(self) -> dict[str, Any]:
            return {"count": len(self.parts)}

        def restore_checkpoint_state(self, state: Mapping[str, Any]) -> None:
            self.grow(state["count"])

    growing = Growing(3)
    growing.parts[2].assign(5.0)
    path = Checkpoint(growing=growing).write(tmp_path / "a")
    checkpoint = Checkpoint(growing=Growing())
    status = checkpoint.restore(path)
    status.assert_consumed()
    assert [float(v) for v in checkpoint.growing.parts] == [-1.0, -1.0, 5.0]


def test_shared_objects_and_loops(tmp_path: Path) -> None:
    def looped(value: float) -> tuple[Model, ag.Variable]:
        model = Model()
        model.parent, model.shared = model, ag.Variable(value)
        model.first.owner, model.first.shared = model, model.shared
        return model, model.shared

    path = Checkpoint(model=looped(1.0)[0]).write(tmp_path / "a")
    model, shared = looped(0.0)
    Checkpoint(model=model).restore(path).assert_consumed()
    assert float(shared) == 1.0


def test_loops_that_are_closed_later(tmp_path: Path) -> None:
    def loop() -> tuple[Checkpoint, Checkpoint]:
        first, second = Checkpoint(), Checkpoint()
        first.second, second.first = second, first
        return first, second

    first, second = loop()
    first.v, second.v = ag.Variable([3.0, 1.0, 4.0]), ag.Variable([1.0, 1.0, 2.0, 3.0])
    path = first.write(tmp_path / "a")
    first, second = loop()
    status = first.restore(path)
    first.v, second.v = ag.Variable([0.0] * 3), ag.Variable([0.0] * 4)
    status.assert_consumed()
    assert (first.v.numpy().tolist(), second.v.numpy().tolist()) == ([3.0, 1.0, 4.0], [1.0, 1.0, 2.0, 3.0])
    first.v.assign([2.0, 7.0, 1.0])
    first.restore(path).assert_consumed()
    assert first.v.numpy().tolist() == [3.0, 1.0, 4.0]


def test_a_variable_that_existed_before_it_is_attached(tmp_path: Path) -> None:
    path = Checkpoint(var1=ag.Variable(4.0), var2=ag.Variable(8.0)).write(tmp_path / "a")
    second = Checkpoint(var2=ag.Variable(0.0))
    status = second.restore(path)
    made = ag.Variable(0.0)
    status.run_restore_ops()
    made.assign(-2.0)
    assert (float(made), float(second.var2)) == (-2.0, 8.0)
    second.var1 = made
    assert float(made) == 4.0
    status.assert_consumed()


def test_objects_that_compare_by_value(tmp_path: Path) -> None:
    @dataclass
    class Pair(ag.Checkpointable):
        left: Any
        right: Any = 0

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)

    path = Checkpoint(a=Pair(ag.Variable(1.0)), b=Pair(ag.Variable(2.0))).write(tmp_path / "a")
    checkpoint = Checkpoint(a=Pair(ag.Variable(0.0)), b=Pair(0))
    checkpoint.restore(path)
    checkpoint.b.left = ag.Variable(0.0)
    assert (float(checkpoint.a.left), float(checkpoint.b.left)) == (1.0, 2.0)


def test_restoring_none() -> None:
    checkpoint = Checkpoint(v=ag.Variable(1.0))
    status = checkpoint.restore(None)
    assert isinstance(status, InitializationOnlyStatus)
    status.initialize_or_restore()
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.run_restore_ops):
        with says(AssertionError, "No checkpoint specified (save_path=None); nothing is being restored."):
            check()
    assert repr(status) == (
        "<InitializationOnlyStatus: no checkpoint was specified (save_path=None), and nothing is being restored>"
    )
    assert float(checkpoint.v) == 1.0


def test_a_missing_file(tmp_path: Path) -> None:
    v = ag.Variable(1.0)
    with says(
        NotFoundError,
        f"Checkpoint: there is no checkpoint '{tmp_path}/ckpt-1': neither '{tmp_path}/ckpt-1.safetensors' nor "
        f"TensorFlow's '{tmp_path}/ckpt-1.index' exists.",
    ):
        Checkpoint(v=v).restore(tmp_path / "ckpt-1")
    with says(
        NotFoundError,
        f"Checkpoint: there is no checkpoint '{tmp_path}': neither '{tmp_path}.safetensors' nor TensorFlow's "
        f"'{tmp_path}.index' exists; it is a "
        "folder, so pass latest_checkpoint of it.",
    ):
        Checkpoint(v=v).restore(tmp_path)


def test_the_file_may_be_replaced_or_removed_while_a_restore_waits(tmp_path: Path) -> None:
    model = Model(5.0)
    model(X)
    checkpoint = Checkpoint(model=model)
    path = checkpoint.write(tmp_path / "a")
    other = Model()
    Checkpoint(model=other).restore(path)
    model.first.kernel.assign(np.zeros((4, 3), np.float32))
    checkpoint.write(path)
    (tmp_path / "a.safetensors").unlink()
    other(X)
    assert kernels(other) == [5.0, 6.0, 7.0]


def test_restored_values_are_independent_of_each_other(tmp_path: Path) -> None:
    path = Checkpoint(v=ag.Variable(np.ones(100, np.float32))).write(tmp_path / "a")
    first, second = (Checkpoint(v=ag.Variable(np.zeros(100, np.float32))) for _ in range(2))
    first.restore(path)
    first.v.assign_add(np.ones(100, np.float32))
    second.restore(path)
    np.testing.assert_array_equal(second.v.numpy(), np.ones(100))


def test_nothing_is_said_where_everything_is_matched(trained: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, optimizer = Model(), Momentum()
        Checkpoint(model=model, optimizer=optimizer, position=Position()).restore(trained)
        model(X)
        optimizer.step(model.first.kernel, model.layers[0].kernel, model.layers[1].kernel)
        del model, optimizer
        gc.collect()
