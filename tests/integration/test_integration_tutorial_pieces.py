"""The small programs of the eager tutorials on datasets, tapes, devices and printing, in our words."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe


@pytest.fixture(autouse=True)
def _seed() -> None:
    tfe.enable_eager_execution()
    tf.set_random_seed(1)


def test_eager_execution_is_on() -> None:
    assert tf.executing_eagerly()


def test_gradients_are_printed_as_a_list_of_tensors() -> None:
    @tfe.gradients_function
    def g(x: Any, y: Any) -> Any:
        return x**2 + y**2

    assert re.fullmatch(
        r"\[<tf\.Tensor: id=\d+, shape=\(\), dtype=float32, numpy=4\.0>, "
        r"<tf\.Tensor: id=\d+, shape=\(\), dtype=float32, numpy=6\.0>\]",
        str(g(2.0, 3.0)),
    )


def test_values_and_gradients_of_arguments() -> None:
    value, gradients = tfe.value_and_gradients_function(lambda x, y: x**2 + y**2)(2.0, 3.0)
    assert (float(value), [float(each) for each in gradients]) == (13.0, [4.0, 6.0])


def test_a_tape() -> None:
    w: Any = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w
    assert str(tape.gradient(loss, w)) == "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)"


def test_a_tape_is_used_once_unless_it_is_persistent() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as once, tf.GradientTape(persistent=True) as often:
        once.watch(x)
        often.watch(x)
        y = x * x
        z = y * y
    assert float(once.gradient(z, x)) == 108.0
    with pytest.raises(RuntimeError):
        once.gradient(y, x)
    assert [float(often.gradient(target, x)) for target in (z, y)] == [108.0, 6.0]


def test_a_tape_over_pythons_control_flow() -> None:
    def f(x: Any, y: int) -> Any:
        output: Any = 1.0
        for i in range(y):
            if 1 < i < 5:
                output = tf.multiply(output, x)
        return output

    def derivative(x: float, y: int) -> float:
        point = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(point)
            result = f(point, y)
        return float(tape.gradient(result, point))

    assert [derivative(2.0, y) for y in (6, 5, 4)] == [12.0, 12.0, 4.0]


def test_elements_of_a_dataset_are_printed() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    printed = [str(element) for element in tfe.Iterator(dataset)]
    assert printed == [f"tf.Tensor({value}.0, shape=(), dtype=float64)" for value in range(1, 6)]
    assert [float(x) for x in dataset.map(lambda x: x + 1)] == [2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_one_shot_iterator_over_two_epochs_in_batches() -> None:
    rows = np.arange(60).reshape(6, 10)
    dataset = tf.data.Dataset.from_tensor_slices(rows).shuffle(buffer_size=3).batch(4).repeat(2)
    iterator = dataset.make_one_shot_iterator()
    batches = [iterator.get_next().numpy() for _ in range(4)]
    assert [batch.shape for batch in batches] == [(4, 10), (2, 10)] * 2
    for epoch in (batches[:2], batches[2:]):
        assert np.array_equal(np.sort(np.concatenate(epoch), axis=0), rows)
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()


def test_a_loss_for_each_example_is_minimised() -> None:
    # As the tutorial has it: nothing reduces the losses of a batch, so their sum is differentiated.
    images = tf.random_normal([40, 784])
    labels = tf.one_hot(tf.random_uniform([40], maxval=10, dtype=tf.int32), 10)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(10)
    model = tf.layers.Dense(units=10)

    def loss(x: Any, y: Any) -> Any:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=model(x))

    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.001)
    first = tf.reduce_sum(loss(images, labels))
    for x, y in tfe.Iterator(dataset):
        optimizer.apply_gradients(tfe.implicit_gradients(loss)(x, y))
    assert loss(images, labels).shape == (40,)
    assert float(tf.reduce_sum(loss(images, labels))) < float(first)


def test_devices() -> None:
    def measure(x: Any) -> str:
        start = time.perf_counter()
        for _ in range(10):
            tf.matmul(x, x)
        seconds = time.perf_counter() - start
        return f"Took {seconds} seconds to multiply a {x.shape} matrix by itself 10 times"

    with tf.device("/cpu:0"):
        printed = measure(tf.random_normal([100, 100]))
    assert re.fullmatch(r"Took \S+ seconds to multiply a \(100, 100\) matrix by itself 10 times", printed)
    x = tf.random_normal([10, 10])
    on_cpu = x.cpu()
    if tfe.num_gpus() > 0:
        # Products of ten float32 numbers, added in another order.
        np.testing.assert_allclose(tf.matmul(x.gpu(), x.gpu()).numpy(), (on_cpu.numpy() @ on_cpu.numpy()), atol=1e-5)
    else:
        with pytest.raises(RuntimeError, match=r"^Error copying tensor to device: GPU:0\."):
            x.gpu()
    assert np.array_equal(on_cpu.numpy(), x.numpy())


def test_a_huber_loss_of_cond_is_printed_with_all_digits() -> None:
    folder = os.environ.get("AGOG_DATA_DIR")
    if not folder:
        pytest.skip("AGOG_DATA_DIR is not set: birth_life_2010.txt is not here")
    lines = (Path(folder) / "birth_life_2010.txt").read_text().splitlines()[1:]
    data = np.array([line.split("\t")[1:] for line in lines], np.float32)
    w, b = tfe.Variable(0.0), tfe.Variable(0.0)

    def huber_loss(label: Any, prediction: Any, delta: float = 14.0) -> Any:
        residual = tf.abs(label - prediction)
        return tf.cond(
            residual < delta,
            lambda: 0.5 * tf.square(residual),
            lambda: delta * residual - 0.5 * tf.square(delta),
        )

    grad_fn = tfe.implicit_value_and_gradients(lambda x, y: huber_loss(y, x * w + b))
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)
    # The same steps in float64, by the derivative that the school gives.
    slope = intercept = 0.0
    total: Any = 0.0
    expected = 0.0
    for x, y in tfe.Iterator(tf.data.Dataset.from_tensor_slices((data[:, 0], data[:, 1]))):
        loss, gradients = grad_fn(x, y)
        optimizer.apply_gradients(gradients)
        total += loss
        rest = float(y) - (float(x) * slope + intercept)
        expected += 0.5 * rest**2 if abs(rest) < 14 else 14 * abs(rest) - 98
        step = 0.01 * max(-14.0, min(rest, 14.0))
        slope, intercept = slope + step * float(x), intercept + step
    printed = f"Epoch 0:{total / len(data)}"
    assert re.fullmatch(r"Epoch 0:\d+\.\d{6,}", printed)
    assert float(printed.removeprefix("Epoch 0:")) == pytest.approx(expected / len(data), rel=1e-4)
    assert (float(w), float(b)) == pytest.approx((slope, intercept), rel=1e-3)


def test_there_are_no_placeholders() -> None:
    with pytest.raises(RuntimeError, match=r"^tf\.placeholder\(\) is not compatible with eager execution\."):
        tf.placeholder(tf.float32, shape=[1, 1])


def test_variables_can_be_got_by_name() -> None:
    assert tf.get_variable("tutorial/weights", [2]).shape == (2,)
