"""What agog promises to do better than TensorFlow 1.12: one test for each promise."""

from __future__ import annotations

import functools
import math
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_testing import says


def test_tensors_have_a_length_and_take_masks_and_lists() -> None:
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert x[x > 3].numpy().tolist() == [4, 5, 6]
    assert x[[0, 2]].numpy().tolist() == [[1, 2], [5, 6]]


def test_nothing_is_truncated_silently() -> None:
    with says(TypeError, "add: y is 1.5, which does not fit x of dtype int32; cast x, such as tf.cast(x, tf.float32)."):
        tf.constant([1]) + 1.5
    with pytest.raises(TypeError, match=r"takes floats; got an input of dtype int32 .* Cast it with tf\.cast"):
        tf.layers.Dense(2)(tf.constant([[1, 2]]))


def test_variables_are_python_and_numpy_values() -> None:
    v = same = tf.Variable(1.5)
    assert (float(v), f"{v:.2f}", f"{float(v):.1f}") == (1.5, "1.50", "1.5")
    assert np.asarray(v).dtype == np.float32
    v += 1
    assert v is same
    assert v.numpy() == 2.5


def test_functions_of_datasets_are_python() -> None:
    def double_if_large(x: tf.Tensor) -> tf.Tensor:
        return x * 2 if x.numpy() > 1 else x

    dataset = tf.data.Dataset.range(4).map(double_if_large).filter(lambda x: x > 1)
    assert [int(x) for x in dataset] == [4, 6]


def test_seeds_of_ops_reproduce_whatever_is_drawn_between() -> None:
    tf.set_random_seed(1)
    first = [tf.random_uniform([2], seed=3).numpy() for _ in range(2)]
    tf.set_random_seed(1)
    again = []
    for _ in range(2):
        tf.random_uniform([5])
        again.append(tf.random_uniform([2], seed=3).numpy())
    np.testing.assert_array_equal(first, again)
    assert (first[0] != first[1]).any()


def test_a_mean_of_nothing_is_nan_before_and_after() -> None:
    mean = tfe.metrics.Mean()
    assert math.isnan(float(mean.result()))
    mean(2.0)
    assert float(mean.result()) == 2.0
    mean.init_variables()
    assert math.isnan(float(mean.result()))


def test_metrics_compare_by_value() -> None:
    accuracy = tfe.metrics.Accuracy()
    accuracy(tf.constant([1, 2], tf.int32), tf.constant([1, 3], tf.int64))
    assert float(accuracy.result()) == 0.5


def test_watching_a_number_says_what_to_pass() -> None:
    with says(
        TypeError,
        "GradientTape.watch takes tensors and variables; got 1.0 of type float. Make a tensor of it first, with "
        "tf.constant.",
    ):
        tf.GradientTape().watch(1.0)


def test_some_output_gradients_may_be_none() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, x * 3.0
    assert float(tape.gradient([y, z], x, output_gradients=[None, tf.constant(2.0)])) == 10.0


def test_a_variable_is_a_target() -> None:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        v.read_value()
    assert float(tape.gradient(v, v)) == 1.0


def test_what_came_with_later_releases_is_there() -> None:
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).numpy().tolist() == [[[[2.0, 0.0]], [[0.0, 4.0]]]]
    assert tape.batch_jacobian(y, x).numpy().tolist() == [[[2.0, 0.0], [0.0, 4.0]]]
    assert tape.gradient(tf.constant(1.0), x, unconnected_gradients="zero").numpy().tolist() == [[0.0, 0.0]]
    value, tangent = tfe.jvp(lambda x: x * x, [x], [tf.ones([1, 2])])
    assert (value.numpy().tolist(), tangent.numpy().tolist()) == ([[1.0, 4.0]], [[2.0, 4.0]])
    assert tfe.hessian_function(lambda x: x * x * x)(2.0)[0].numpy() == 12.0


@pytest.mark.parametrize("op", ["fused_batch_norm", "py_func"])
def test_every_op_has_second_derivatives(op: str) -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 2, 2, 3)), tf.float32)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            if op == "py_func":
                y = tfe.py_func(lambda x: x * x * x, [x], tf.float32)
            else:
                y = tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[0] ** 3
        first = inner.gradient(y, x)
        squared = first * first  # the sum of the gradient itself is always 0 behind a normalisation
    second = outer.gradient(squared, x)
    assert np.isfinite(second.numpy()).all()
    assert np.abs(second.numpy()).max() > 0.01


def test_networks_take_keras_layers_and_are_saved_like_any_object(tmp_path: Path) -> None:
    class Linear(tfe.Network):
        def __init__(self) -> None:
            super().__init__()
            self.dense = self.track_layer(tf.keras.layers.Dense(2))

        def call(self, x: Any) -> Any:
            return self.dense(x)

    saved, restored = Linear(), Linear()
    expected = saved(tf.ones([1, 3])).numpy()
    path = tf.train.Checkpoint(network=saved).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(network=restored).restore(path)
    np.testing.assert_array_equal(restored(tf.ones([1, 3])).numpy(), expected)


def test_a_restore_that_matches_nothing_is_told(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(kernel=tf.Variable(1.0)).save(str(tmp_path / "checkpoint"))
    status = tf.train.Checkpoint(other=tf.Variable(2.0)).restore(path)
    assert "deferred until an object is created (1): kernel" in repr(status)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del status
    assert [str(each.message) for each in caught] == [
        f"Checkpoint {path!r} has values that no object of the program has asked for: 'kernel'."
    ]


def test_what_has_no_gradient_says_why() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tape.gradient(y, x) is None
    assert str(tfe.why_none(tape, y, x)).startswith("No chain of recorded ops leads from the source to the target.")


def test_threads_end_with_their_iterator() -> None:
    before = set(threading.enumerate())
    elements = iter(tf.data.Dataset.range(100).map(lambda x: x, num_parallel_calls=2).prefetch(2))
    assert int(next(elements)) == 0
    workers = set(threading.enumerate()) - before
    assert workers
    del elements
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()


# --- what functions and tapes do as in TensorFlow ---------------------------------------------------------------------


def test_gradients_of_partial_objects_and_of_any_structure() -> None:
    partial = functools.partial(lambda x, y: [x * y, {"square": y * y}], 2.0)
    assert [float(g) for g in tfe.gradients_function(partial)(3.0)] == [8.0]


def test_mixed_gradients_of_lookups() -> None:
    table, at = tf.Variable(np.ones((4, 2), np.float32)), tf.constant([1, 2])
    with tf.GradientTape(persistent=True) as tape:
        sparse = tf.gather(table, at), tf.nn.embedding_lookup(table, [1])
        mixed = tf.reduce_sum(sparse[0]) + tf.reduce_sum(table * 3.0)
    both = tape.gradient(list(sparse), table)
    assert isinstance(both, tf.IndexedSlices)
    assert both.indices.dtype == tf.int64
    expected = [[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
    assert tf.convert_to_tensor(both).numpy().tolist() == expected
    assert tf.convert_to_tensor(tape.gradient(mixed, table)).numpy()[:, 0].tolist() == [3.0, 4.0, 4.0, 3.0]


def test_no_gradient_for_what_is_no_tensor() -> None:
    @tf.custom_gradient
    def scaled(x: tf.Tensor, factor: float) -> Any:
        return x * factor, lambda dy: [dy * 5.0, None]

    assert float(tfe.gradients_function(lambda x: scaled(x, 2.0))(1.0)[0]) == 5.0


def test_control_flow_gives_python_values() -> None:
    assert tf.cond(tf.constant(False), lambda: 1, lambda: "text") == "text"
    assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]).numpy() == 3


def test_slots_are_named_after_variable_and_optimizer() -> None:
    v, optimizer = tf.Variable(1.0, name="bias"), tf.train.AdamOptimizer(lambda: tf.constant(0.1))
    optimizer.minimize(lambda: v * v)
    assert optimizer.get_slot_names() == ["m", "v"]
    names = [variable.name for variable in tfe.get_optimizer_variables(optimizer)]
    assert names == ["beta1_power:0", "beta2_power:0", "bias/Adam:0", "bias/Adam_1:0"]
    assert optimizer.get_slot(v, "m").name == "bias/Adam:0"


def test_gradients_of_arrays_of_tensors_are_refused() -> None:
    with pytest.raises(NotImplementedError):
        tf.TensorArray(tf.float32, 2).grad("source")


def test_the_global_step() -> None:
    step = tf.train.get_or_create_global_step()
    assert (step.dtype, step.trainable, tf.train.get_global_step() is step) == (tf.int64, False, True)


@pytest.mark.parametrize("optimizer", [tf.train.AdamOptimizer, tf.keras.optimizers.Adam])
def test_what_programmers_of_pytorch_ask_of_an_optimizer_is_answered(optimizer: Any) -> None:
    with says(
        AttributeError,
        f"{optimizer.__name__}.step: not in agog; use optimizer.apply_gradients(zip(gradients, variables)), or "
        "optimizer.minimize(loss)",
    ):
        optimizer().step()
    with says(
        AttributeError,
        "tf.contrib.distributions: not in agog; use tf.distributions, or write it with tf.random and tf.math",
    ):
        _ = tf.contrib.distributions
