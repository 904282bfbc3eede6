"""The steps of the examples, traced: weights, slots and random state have the bits that they have without."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
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
    return taking(example("cnn"), "Network", lambda: images(5))


def cnn_lstm() -> Any:
    return taking(example("cnn_lstm"), "Network", lambda: images(4))


def taking(module: ModuleType, network: str, batch: Callable[[], Any], *arguments: Any, **named: Any) -> Any:
    """The step of an example for its network and Adam."""
    made, optimizer = getattr(module, network)(*arguments, **named), tf.train.AdamOptimizer(0.002)
    return partial(step_of(module), made, optimizer), batch, [made, optimizer]


def step_of(module: ModuleType) -> Callable[..., Any]:
    """The step of an example as it is without `tf.function`."""
    step: Callable[..., Any] = module.train_step.python_function
    return step


def mnist() -> Any:
    module = example("mnist")
    network, optimizer = module.NeuralNet(), tf.train.MomentumOptimizer(0.1, 0.9)
    metrics = {"loss": tfe.metrics.Mean(), "accuracy": tfe.metrics.SparseAccuracy()}

    def step(pictures: Any, labels: Any) -> None:
        step_of(module)(network, optimizer, metrics, tf.reshape(pictures, [6, 64]), labels)

    return step, lambda: images(6), [network, optimizer, *metrics.values()]


def gan() -> Any:
    module = example("gan")
    networks = module.network(2), module.network(1)
    optimizers = tf.train.AdamOptimizer(0.001, 0.5), tf.train.AdamOptimizer(0.001, 0.5)

    def step() -> Any:  # which draws in a trace, too
        return step_of(module)(networks, optimizers, tf.random_normal([256, 8]), module.ring(256))

    return step, lambda: (), [*networks, *optimizers]


def transformer() -> Any:
    module = example("transformer")
    return taking(module, "Transformer", lambda: (module.sequences(8),), width=16, heads=2, blocks=2)


def char_rnn() -> Any:
    module = example("char_rnn")
    letters = tf.constant(np.random.RandomState(0).randint(0, 30, 300).astype("i4"))
    step, _, owners = taking(module, "Reader", tuple, 30, 12)
    return lambda: step(module.pieces(letters, 4, 9)), tuple, owners


def linear_regression() -> Any:
    module = example("linear_regression")
    line, optimizer = module.Line(), tf.train.GradientDescentOptimizer(0.1)
    points = lambda: (tf.random_normal([8]), tf.random_normal([8]))  # noqa: E731
    return partial(step_of(module), line, optimizer), points, [line, optimizer]


def huber() -> Any:
    module = example("huber")
    line, optimizer = module.Line(), tf.train.GradientDescentOptimizer(0.01)
    point = lambda: (tf.random_normal([]), 10.0 * tf.random_normal([]))  # noqa: E731
    return partial(step_of(module), line, optimizer), point, [line]


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
