"""Object graphs of real layers, optimizers, iterators, metrics and templates: restored now, or when they are created.

The cases are those that TensorFlow's own tests of object-based checkpoints name.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import agog as tf
import agog.eager as tfe
from agog_core.checkpointable import listeners

X = np.ones((2, 3), np.float32)


class MyModel(tf.keras.Model):
    """A layer in an attribute, one that is not in the order of its making, and variables of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.second = tf.layers.Dense(1)
        self.first = tf.layers.Dense(4, use_bias=False)

    def call(self, x: Any) -> Any:
        return self.second(self.first(x))


class Job:
    """A model and its optimizer, with nothing built."""

    def __init__(self) -> None:
        self.model = MyModel()
        self.optimizer = tf.train.AdamOptimizer(0.01)
        self.step = tf.train.get_or_create_global_step()
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer, step=self.step)

    def train(self, steps: int = 1) -> float:
        loss = 0.0
        for _ in range(steps):
            with tf.GradientTape() as tape:
                value = tf.reduce_sum(self.model(X) ** 2)
            variables = self.model.variables
            self.optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True), self.step)
            loss = float(value)
        return loss


def keys(path: str) -> list[str]:
    return sorted(load_file(f"{path}.safetensors"))


@pytest.fixture(autouse=True)
def nothing_waits() -> Any:
    listeners.clear()  # what other tests have left waiting
    yield
    gc.collect()
    assert listeners == []


def test_naming_with_optimizer(tmp_path: Path) -> None:
    job, other = Job(), MyModel()
    job.train()
    job.optimizer.minimize(lambda: tf.reduce_sum(other(X)))  # the slots of a model that is not reached stay out
    weights = ["model/first/kernel", "model/second/bias", "model/second/kernel"]
    slots = [f"optimizer/.slot/{name}/{weight}" for name in "mv" for weight in weights]
    powers = ["optimizer/beta1_power", "optimizer/beta2_power"]
    assert keys(job.checkpoint.save(tmp_path / "ckpt")) == sorted([*weights, *slots, *powers, "save_counter", "step"])


def test_save_and_restore(tmp_path: Path) -> None:
    job = Job()
    job.train(2)
    path = job.checkpoint.save(tmp_path / "ckpt")
    before = [v.numpy() for v in job.model.variables]
    slot = job.optimizer.get_slot(job.model.second.bias, "m")
    moment = slot.numpy()
    for variable in (*job.model.variables, slot):
        variable.assign(np.zeros(variable.shape))
    job.checkpoint.restore(path).assert_consumed().assert_existing_objects_matched()
    for variable, value in zip(job.model.variables, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)
    np.testing.assert_array_equal(slot.numpy(), moment)


def test_deferred_restoration_usage(tmp_path: Path) -> None:
    whole = Job()
    start = int(whole.step)
    whole.model(X)
    path = whole.checkpoint.save(tmp_path / "start")
    losses = []
    for _ in range(3):  # each time a new program
        job = Job()
        status = job.checkpoint.restore(path)
        losses += [job.train() for _ in range(4)]
        path = job.checkpoint.save(tmp_path / "ckpt")
        assert int(job.step) == start + len(losses)
        status.expect_partial()
    assert losses == [whole.train() for _ in range(12)]
    assert int(job.checkpoint.save_counter) == 4


def test_slots_are_there_right_after_a_restore(tmp_path: Path) -> None:
    job = Job()
    job.train()
    path = job.checkpoint.save(tmp_path / "ckpt")
    kernel = job.model.first.kernel
    full_names = {
        each.checkpoint_key: each.full_name
        for node in tf.contrib.checkpoint.object_metadata(path).nodes
        for each in node.attributes
    }
    assert full_names["model/first/kernel"] == kernel.name.removesuffix(":0")
    other = Job()
    other.model(X)
    status = other.checkpoint.restore(path)
    for name in "mv":
        slot = other.optimizer.get_slot(other.model.first.kernel, name)
        assert slot is not None
        np.testing.assert_array_equal(slot.numpy(), job.optimizer.get_slot(kernel, name).numpy())
    assert other.train() == job.train()
    status.assert_consumed()


@pytest.mark.parametrize("first", ["optimizer", "variables"])
def test_slots_are_made_when_their_variable_or_optimizer_comes(first: str, tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(5)]
    saved = tf.train.Checkpoint(**{name: tf.Variable([1.0, 2.0]) for name in names})
    saved.optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    saved.optimizer.apply_gradients([([float(n), 4.0], getattr(saved, name)) for n, name in enumerate(names)])
    path = saved.write(tmp_path / "ckpt")
    later = tf.train.Checkpoint()
    if first == "optimizer":
        later.optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    status = later.restore(path)
    for name in names:
        setattr(later, name, tf.Variable([0.0, 0.0]))
    if first == "variables":
        later.optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    slots = [later.optimizer.get_slot(getattr(later, name), "momentum").numpy().tolist() for name in names]
    assert slots == [[float(number), 4.0] for number in range(5)]
    status.assert_consumed()


def test_slots_of_another_optimizer_are_not_made(tmp_path: Path) -> None:
    saved = tf.train.Checkpoint(v=tf.Variable(1.0), optimizer=tf.train.MomentumOptimizer(0.1, 0.9))
    saved.optimizer.apply_gradients([(1.0, saved.v)])
    other = tf.train.Checkpoint(v=tf.Variable(0.0), optimizer=tf.train.AdagradOptimizer(0.1))
    other.restore(saved.write(tmp_path / "ckpt")).expect_partial()
    assert other.optimizer.variables() == []


def test_master_copies_and_their_slots_are_there_right_after_a_restore(tmp_path: Path) -> None:
    def training() -> Any:
        manager = tf.contrib.mixed_precision.FixedLossScaleManager(8.0)
        optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.MomentumOptimizer(0.5, 0.5), manager)
        return tf.train.Checkpoint(v=tf.Variable([1.0], dtype=tf.float16), optimizer=optimizer)

    saved, other = training(), training()
    saved.optimizer.apply_gradients([(tf.constant([0.25], tf.float16), saved.v)])
    other.restore(saved.write(tmp_path / "ckpt")).assert_consumed()
    assert other.optimizer.get_slot(other.v, "master").numpy().tolist() == [0.875]
    assert other.optimizer.get_slot(other.v, "momentum").numpy().tolist() == [0.25]


def test_with_defun(tmp_path: Path) -> None:
    job = Job()
    job.train(3)
    path = job.checkpoint.save(tmp_path / "ckpt")
    expected = job.train(2)
    other = Job()
    other.model.call = tfe.defun(other.model.call)
    status = other.checkpoint.restore(path)
    assert other.train(2) == expected
    status.assert_consumed()


def test_anonymous_variables_in_init(tmp_path: Path) -> None:
    class Lists(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(0.0)
            self.b = tf.Variable(0.0)
            self.vars = [self.w, self.b]

        def call(self, x: Any) -> Any:
            return x * self.w + self.b

    model, optimizer = Lists(), tf.train.AdamOptimizer(0.05)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    for _ in range(2):
        path = checkpoint.save(tmp_path / "ckpt")
        with tf.GradientTape() as tape:
            loss = (tf.constant(1.0) - model(tf.constant(1.0))) ** 2
        optimizer.apply_gradients(zip(tape.gradient(loss, model.vars), model.vars, strict=True))
    assert keys(path)[:2] == ["model/b", "model/w"]  # the shortest path is the name


def test_late_dependency_tracking(tmp_path: Path) -> None:
    class Dependency(tf.contrib.checkpoint.Checkpointable):
        def build(self) -> None:
            self.var = tf.Variable(0.0)

    class Late(tf.contrib.checkpoint.Checkpointable):
        def add(self) -> None:
            self.dep = Dependency()
            self.dep.build()

    original = Late()
    original.add()
    original.dep.var.assign(123.0)
    path = tfe.CheckpointableSaver(original).save(tmp_path / "ckpt")
    into = Late()
    status = tfe.CheckpointableSaver(into).restore(path)
    status.expect_partial().assert_existing_objects_matched()
    with pytest.raises(AssertionError):
        status.assert_consumed()
    into.add()
    status.assert_consumed()
    assert float(into.dep.var) == 123.0


def test_a_dependency_that_is_attached_after_its_variable_was_made(tmp_path: Path) -> None:
    def dependency(value: float) -> Any:
        made = tf.contrib.checkpoint.Checkpointable()
        made.var = tf.Variable(value)
        return made

    path = tf.train.Checkpoint(dep=dependency(123.0)).save(tmp_path / "ckpt")
    into = tf.train.Checkpoint()
    status = into.restore(path)
    into.dep = dependency(-14.0)
    status.assert_consumed()
    assert float(into.dep.var) == 123.0


def test_deferred_slot_restoration(tmp_path: Path) -> None:
    root = tf.train.Checkpoint(var=tf.Variable(0.0, name="var"))
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.apply_gradients([(tf.constant(1.0), root.var)])
    no_slots = root.save(tmp_path / "no_slots")
    root.optimizer = optimizer
    root.var.assign(11.0)
    optimizer.get_slot(root.var, "m").assign(12.0)
    with_slots = root.save(tmp_path / "with_slots")

    new = tf.train.Checkpoint()
    status = new.restore(with_slots)
    new.var = tf.Variable(-1.0, name="other")
    assert float(new.var) == 11.0
    new.optimizer = tf.train.AdamOptimizer(0.1)
    new.optimizer.apply_gradients([(tf.constant(0.0), new.var)])
    # Restored when it was made, before the step used it: 12 times beta1.
    np.testing.assert_allclose(new.optimizer.get_slot(new.var, "m").numpy(), 12.0 * 0.9, rtol=1e-6)
    status.assert_consumed()

    status = new.restore(no_slots)
    assert float(new.var) == pytest.approx(-0.1, rel=1e-5)
    np.testing.assert_allclose(new.optimizer.get_slot(new.var, "m").numpy(), 12.0 * 0.9, rtol=1e-6)  # not in the file
    with pytest.raises(AssertionError, match=r"objects without a value in the file"):
        status.assert_existing_objects_matched()


def test_overlapping_restores(tmp_path: Path) -> None:
    def save(value: float) -> str:
        dependency = tf.contrib.checkpoint.Checkpointable()
        dependency.var = tf.Variable(value)
        return tf.train.Checkpoint(dep=dependency).save(tmp_path / str(value))

    first, second = save(12.0), save(13.0)
    shared = tf.contrib.checkpoint.Checkpointable()
    roots = [tf.train.Checkpoint(dep=shared) for _ in range(2)]
    statuses = [root.restore(path) for root, path in zip(roots, (first, second), strict=True)]
    shared.var = tf.Variable(0.0)
    assert float(shared.var) == 13.0
    for status in statuses:
        status.assert_consumed()
    roots[0].restore(first).assert_consumed()
    assert float(shared.var) == 12.0


def test_many_saves_and_restores_leave_nothing_behind(tmp_path: Path) -> None:
    job = Job()
    job.train()
    manager = tf.train.CheckpointManager(job.checkpoint, tmp_path, 1)
    for _ in range(20):
        job.checkpoint.restore(manager.save()).assert_consumed()
        assert listeners == []
    assert len(list(tmp_path.iterdir())) == 2


def test_a_list_of_variables_that_changes_between_saves(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(v=[tf.Variable(0.0)])
    for number in range(1, 4):
        checkpoint.v.append(tf.Variable(float(number)))
        path = checkpoint.save(tmp_path / "ckpt")
        assert keys(path) == sorted(["save_counter", *(f"v/{index}" for index in range(number + 1))])


def test_sequential(tmp_path: Path) -> None:
    def make() -> Any:
        return tf.keras.Sequential([tf.layers.Dense(4), tf.layers.Dense(5)])

    model = make()
    y = model(X)
    path = tf.train.Checkpoint(model=model).save(tmp_path / "ckpt")
    late = make()
    status = tf.train.Checkpoint(model=late).restore(path)
    np.testing.assert_array_equal(late(X).numpy(), y.numpy())
    status.assert_consumed()


def test_templates(tmp_path: Path) -> None:
    def dense(x: Any) -> Any:
        kernel = tf.get_variable("kernel", [3, 2])
        return tf.matmul(x, kernel) + tf.get_variable("bias", [2], initializer=tf.zeros_initializer())

    first, second = (tf.make_template("dense", dense) for _ in range(2))
    y = first(X)
    path = tf.train.Checkpoint(template=first).write(tmp_path / "a")
    assert keys(path) == ["template/bias", "template/kernel"]
    status = tf.train.Checkpoint(template=second).restore(path)
    np.testing.assert_array_equal(second(X).numpy(), y.numpy())  # restored when it was made, before it was used
    status.assert_consumed()


def test_everything_with_state_at_once(tmp_path: Path) -> None:
    """Variables, slots, layers, lists, dicts, iterators, metrics, generators and Python's state, all made later."""

    def make(checkpoint: Any, seed: int) -> Any:
        tf.set_random_seed(seed)
        checkpoint.random = tf.random.generator()
        checkpoint.data = tfe.Iterator(tf.data.Dataset.range(100).shuffle(100, seed=seed).repeat())
        checkpoint.layers = {"in": [tf.layers.Dense(4)], "out": tf.keras.layers.BatchNormalization()}
        checkpoint.optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        checkpoint.metrics = [tfe.metrics.Mean(), tfe.metrics.Accuracy()]
        checkpoint.arrays = tf.contrib.checkpoint.NumpyState()
        return checkpoint

    def use(checkpoint: Any) -> list[Any]:
        noise = tf.random_normal([2, 3])
        number = int(next(checkpoint.data))
        with tf.GradientTape() as tape:
            hidden = tf.nn.dropout(checkpoint.layers["in"][0](noise), 0.5)
            y = checkpoint.layers["out"](hidden, training=True)
            loss = tf.reduce_sum(y**2 * hidden)
        variables = checkpoint.layers["in"][0].variables
        checkpoint.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        checkpoint.metrics[0](loss)
        checkpoint.metrics[1]([1, 2], [number, 2])
        return [number, float(loss), *(float(metric.result()) for metric in checkpoint.metrics)]

    saved = make(tf.train.Checkpoint(), 1)
    saved.arrays.history = np.array([1.5])
    use(saved)
    path = saved.write(tmp_path / "a")
    expected = [use(saved) for _ in range(3)]
    resumed = tf.train.Checkpoint()
    status = resumed.restore(path)
    make(resumed, 2)
    assert [use(resumed) for _ in range(3)] == expected
    assert resumed.arrays.history.tolist() == [1.5]
    status.assert_consumed()


def test_layers_that_are_no_dependency(tmp_path: Path) -> None:
    model = MyModel()
    model.frozen = tf.contrib.checkpoint.NoDependency(tf.layers.Dense(2))
    assert isinstance(model.frozen, tf.layers.Dense)
    model.frozen(X)
    model(X)
    assert len(model.variables) == 3
    assert not any("frozen" in key for key in keys(tf.train.Checkpoint(model=model).write(tmp_path / "a")))


def test_weights_files_and_checkpoints_interoperate(tmp_path: Path) -> None:
    model = MyModel()
    y = model(X)
    model.save_weights(str(tmp_path / "weights"))
    assert set(keys(str(tmp_path / "weights"))) == {"model/first/kernel", "model/second/bias", "model/second/kernel"}
    # A file of weights into a checkpoint's model, under another name, into layers that are built later.
    late = MyModel()
    status = tf.train.Checkpoint(net=late).restore(tmp_path / "weights", mapping={"net": "model"}, only="net")
    np.testing.assert_array_equal(late(X).numpy(), y.numpy())
    status.assert_consumed()
    # A checkpoint of a whole training into a model alone.
    job = Job()
    job.train()
    path = job.checkpoint.save(tmp_path / "ckpt")
    alone = MyModel()
    status = alone.load_weights(path)
    np.testing.assert_array_equal(alone(X).numpy(), job.model(X).numpy())
    status.expect_partial()
    # Its tensors are for any tool, and back.
    tensors = tf.train.load_tensors(f"{path}.safetensors")
    other = MyModel()
    status = tf.train.Checkpoint(model=other).restore_tensors(tensors, only="model")
    np.testing.assert_array_equal(other(X).numpy(), job.model(X).numpy())
    status.assert_consumed()


def test_one_object_of_the_file_is_not_two_of_the_program(tmp_path: Path) -> None:
    made = tf.contrib.checkpoint.Checkpointable
    saved, shared = tf.train.Checkpoint(one=made(), two=made()), made()
    shared.var = tf.Variable(5.0)
    saved.one.part = saved.two.part = shared
    path = saved.write(str(tmp_path / "saved"))
    for is_shared in (True, False):
        into = tf.train.Checkpoint()
        status = into.restore(path)
        into.one, into.two = made(), made()
        into.one.part = made()
        into.two.part = into.one.part if is_shared else made()
        into.one.part.var = tf.Variable(0.0)
        assert float(into.one.part.var) == 5.0
        if is_shared:
            status.assert_consumed().assert_existing_objects_matched()
            continue
        for check in (status.assert_consumed, status.assert_existing_objects_matched):
            with pytest.raises(AssertionError) as caught:
                check()
            assert str(caught.value).endswith("\n  objects without a value in the file (1): two/part")
