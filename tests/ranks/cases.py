"""Cases: the networks, optimizers and batches of the examples, for the steps that the examples themselves take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import agog as tf
import agog.eager as tfe

EXAMPLES = Path(__file__).parents[2] / "examples"

# The line that makes an example one for several ranks; each has one of them.
ONE_LINE = {
    "tf.GradientTape()": "tf.distribute.DistributedGradientTape()",
    "apply_gradients(gradients(line, x, y))": "apply_gradients(tf.distribute.average_gradients(gradients(line, x, y)))",
    "apply_gradients(gradients)": "apply_gradients(tf.distribute.average_gradients(gradients))",
}


class Case(NamedTuple):
    """What the step of an example takes.

    Args:
        network: makes a network, or a tuple of several.
        batch: the arrays of a batch of all ranks, from a generator of random numbers.
        count: how many networks and optimizers there are.
        takes_one: whether a step takes one example, and not a batch.
        has_tape: whether it takes its gradients from a tape, which can scale the loss, or by `implicit_gradients`.
        more: what the step takes between the optimizer and the batch.
    """

    network: Callable[[ModuleType], Any]
    batch: Callable[[ModuleType, np.random.Generator], tuple[Any, ...]]
    count: int = 1
    takes_one: bool = False
    has_tape: bool = True
    more: Callable[[], tuple[Any, ...]] = tuple


BATCH = 16
"""Examples of all ranks in a step."""


def images(rng: np.random.Generator) -> tuple[Any, Any]:
    """Images of eight by eight, and class numbers."""
    return rng.random((BATCH, 8, 8, 1), np.float32), rng.integers(0, 10, BATCH)


def flat_images(rng: np.random.Generator) -> tuple[Any, Any]:
    """The images' pixels, and class numbers."""
    pictures, labels = images(rng)
    return pictures.reshape(BATCH, -1), labels


def points(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Points beside a line, some far from it."""
    x = rng.random(count, np.float32)
    return x, (3 * x + rng.standard_normal(count)).astype(np.float32)


CASES = {
    "char_rnn": Case(lambda module: module.Reader(30, 24), lambda _, rng: (rng.integers(0, 30, (BATCH, 13)),)),
    "cnn": Case(lambda module: module.Network(), lambda _, rng: images(rng)),
    "cnn_lstm": Case(lambda module: module.Network(), lambda _, rng: images(rng)),
    "fit": Case(lambda module: module.make_model((8, 8)), lambda _, rng: images(rng)),
    "gan": Case(
        lambda module: (module.network(2), module.network(1)),
        lambda _, rng: (rng.standard_normal((BATCH, 8), np.float32), rng.standard_normal((BATCH, 2), np.float32)),
        count=2,
    ),
    "huber": Case(lambda module: module.Line(), lambda _, rng: points(4, rng), takes_one=True, has_tape=False),
    "linear_regression": Case(lambda module: module.Line(), lambda _, rng: points(64, rng), has_tape=False),
    "mlp": Case(lambda module: module.make_model(), lambda _, rng: flat_images(rng)),
    "mnist": Case(
        lambda module: module.NeuralNet(),
        lambda _, rng: flat_images(rng),
        more=lambda: ({"loss": tfe.metrics.Mean(), "accuracy": tfe.metrics.SparseAccuracy()},),
    ),
    "transformer": Case(
        lambda module: module.Transformer(width=16, heads=2, blocks=2),
        lambda module, rng: (rng.integers(0, module.TOKENS, (BATCH, 2 * module.LENGTH + 1)),),
    ),
}


def example(name: str, is_distributed: bool) -> ModuleType:
    """An example as a module of its own, with its one line changed where it is to run on several ranks."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    if is_distributed and name != "fit":
        (old,) = [line for line in ONE_LINE if line in source]
        source = source.replace(old, ONE_LINE[old])
    module = ModuleType(f"example_{name}")
    module.__file__ = str(EXAMPLES / f"{name}.py")
    exec(compile(source, module.__file__, "exec"), vars(module))
    return module


def variables_of(networks: Any) -> list[Any]:
    """The variables of a network, or of several, in their order."""
    found: list[Any] = []
    for network in networks if isinstance(networks, tuple) else (networks,):
        parts = getattr(network, "variables", None)
        found += [v for v in vars(network).values() if isinstance(v, tf.Variable)] if parts is None else parts
    return found
