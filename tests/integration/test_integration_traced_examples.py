"""The steps of the examples, traced: weights, slots and random state have the bits that they have without."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.random import generator

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 6


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def images(count: int, size: int = 8) -> Any:
    return tf.random_uniform([count, size, size, 1]), tf.random_uniform([count], 0, 10, tf.int64)


# Each returns the step, what gives its arguments, and what has variables.


def cnn() -> Any:
    network, optimizer, mean = example("cnn").Network(), tf.train.AdamOptimizer(0.001), tfe.metrics.Mean()

    def step(pictures: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = network(pictures, training=True)
            loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer.apply_gradients(zip(tape.gradient(loss, network.variables), network.variables, strict=True))
        mean(loss)
        return loss

    return step, lambda: images(5), [network, optimizer, mean]


def cnn_lstm() -> Any:
    network, optimizer = example("cnn_lstm").Network(), tf.train.AdamOptimizer(0.001)
    mean, accuracy = tfe.metrics.Mean(), tfe.metrics.SparseAccuracy()

    def step(pictures: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = network(pictures)
            loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, network.variables), 1.0)
        optimizer.apply_gradients(zip(gradients, network.variables, strict=True))
        mean(loss)
        accuracy(labels, logits)
        return loss

    return step, lambda: images(4), [network, optimizer, mean, accuracy]


def mnist() -> Any:
    module = example("mnist")
    network, optimizer = module.NeuralNet(), tf.train.MomentumOptimizer(0.1, 0.9)
    metrics = {"loss": tfe.metrics.Mean(), "accuracy": tfe.metrics.SparseAccuracy()}

    def step(pictures: Any, labels: Any) -> None:
        module.train_step(network, optimizer, metrics, tf.reshape(pictures, [6, 64]), labels)

    return step, lambda: images(6), [network, optimizer, *metrics.values()]


def gan() -> Any:
    module = example("gan")
    generator, discriminator = module.network(2), module.network(1)
    of_generator, of_discriminator = tf.train.AdamOptimizer(0.001, 0.5), tf.train.AdamOptimizer(0.001, 0.5)

    def step() -> Any:
        with tf.GradientTape() as tape_of_generator, tf.GradientTape() as tape_of_discriminator:
            drawn = discriminator(generator(tf.random_normal([256, 8])))
            real = discriminator(module.ring(256))
            generator_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(drawn), drawn)
            discriminator_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(real), real)
            discriminator_loss += tf.losses.sigmoid_cross_entropy(tf.zeros_like(drawn), drawn)
        for_generator = tape_of_generator.gradient(generator_loss, generator.variables)
        for_discriminator = tape_of_discriminator.gradient(discriminator_loss, discriminator.variables)
        of_generator.apply_gradients(zip(for_generator, generator.variables, strict=True))
        of_discriminator.apply_gradients(zip(for_discriminator, discriminator.variables, strict=True))
        return generator_loss, discriminator_loss

    return step, lambda: (), [generator, discriminator, of_generator, of_discriminator]


def transformer() -> Any:
    module = example("transformer")
    network, optimizer = module.Transformer(width=16, heads=2, blocks=2), tf.train.AdamOptimizer(0.002)

    def step() -> Any:
        tokens = module.sequences(8)
        with tf.GradientTape() as tape:
            logits = network(tokens[:, :-1])
            loss = tf.losses.sparse_softmax_cross_entropy(tokens[:, module.LENGTH + 1 :], logits[:, module.LENGTH :])
        optimizer.apply_gradients(zip(tape.gradient(loss, network.variables), network.variables, strict=True))
        return loss

    return step, lambda: (), [network, optimizer]


def char_rnn() -> Any:
    reader, optimizer = example("char_rnn").Reader(30, 12), tf.train.AdamOptimizer(0.003)
    letters = tf.constant(np.random.RandomState(0).randint(0, 30, 300).astype("i4"))

    def step() -> Any:
        starts = tf.random_uniform([4, 1], 0, 200, dtype=tf.int32)
        window = tf.gather(letters, starts + tf.range(9))
        with tf.GradientTape() as tape:
            logits, _ = reader(window[:, :-1])
            loss = tf.losses.sparse_softmax_cross_entropy(window[:, 1:], logits)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, reader.variables), 1.0)
        optimizer.apply_gradients(zip(gradients, reader.variables, strict=True))
        return loss

    return step, lambda: (), [reader, optimizer]


def linear_regression() -> Any:
    module = example("linear_regression")
    line, optimizer = module.Line(), tf.train.GradientDescentOptimizer(0.1)
    gradients = tfe.implicit_gradients(module.mean_squared_error)

    def step(x: Any, y: Any) -> None:
        optimizer.apply_gradients(gradients(line, x, y))

    return step, lambda: (tf.random_normal([8]), tf.random_normal([8])), [line, optimizer]


def huber() -> Any:
    module = example("huber")
    weight, bias = tfe.Variable(0.0), tfe.Variable(0.0)
    optimizer = tf.train.GradientDescentOptimizer(0.01)

    def step(x: Any, y: Any) -> Any:
        loss = lambda x, y: module.huber(y - (weight * x + bias))  # noqa: E731
        value, gradients = tfe.implicit_value_and_gradients(loss)(x, y)
        optimizer.apply_gradients(gradients)
        return value

    return step, lambda: (tf.random_normal([]), 10.0 * tf.random_normal([])), [weight, bias]


MAKERS: list[Callable[[], Any]] = [cnn, cnn_lstm, mnist, gan, transformer, char_rnn, linear_regression, huber]


def variables_of(owners: list[Any]) -> list[Any]:
    found: list[Any] = []
    for owner in owners:
        if isinstance(owner, tfe.Variable):
            found.append(owner)
        elif hasattr(owner, "variables"):
            found += owner.variables() if callable(owner.variables) else owner.variables
        else:
            found += [part for part in vars(owner).values() if isinstance(part, tfe.Variable)]
    return sorted(found, key=lambda variable: variable._serial)  # names go on counting


def trained(make: Callable[[], Any], wrap: Callable[[Any], Any]) -> tuple[list[Any], dict[str, object]]:
    tf.set_random_seed(1)
    step, arguments, owners = make()
    wrapped = wrap(step)
    outputs = [np.array(leaf) for _ in range(STEPS) for leaf in nest.flatten(wrapped(*arguments()))]
    return [*outputs, *[variable.numpy() for variable in variables_of(owners)]], generator().get_state()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_examples_train_to_the_same_bits(make: Callable[[], Any]) -> None:
    (eager, state), (traced, traced_state) = trained(make, lambda step: step), trained(make, tf.function)
    assert len(eager) == len(traced) > 0
    for left, right in zip(eager, traced, strict=True):
        np.testing.assert_array_equal(left, right)
    assert state == traced_state
