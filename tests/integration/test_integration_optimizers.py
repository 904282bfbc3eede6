"""All that an optimizer remembers is in its checkpoint: a training that is resumed is one that was never stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog_optimizers
from agog.contrib import mixed_precision, opt

SEED = 53


def scaled(optimizer: Any) -> Any:
    manager = mixed_precision.ExponentialUpdateLossScaleManager(8.0, incr_every_n_steps=3)
    return mixed_precision.LossScaleOptimizer(optimizer, manager)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "adadelta": lambda step: tf.train.AdadeltaOptimizer(0.5),
    "adagrad": lambda step: tf.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda step: tf.train.AdagradDAOptimizer(0.1, step),
    "adam": lambda step: tf.train.AdamOptimizer(tf.train.exponential_decay(0.1, step, 2, 0.9)),
    "adamax": lambda step: opt.AdaMaxOptimizer(0.1),
    "adamw": lambda step: opt.AdamWOptimizer(0.01, 0.1),
    "amsgrad": lambda step: opt.AMSGradOptimizer(0.1),
    "ftrl": lambda step: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "gradient descent": lambda step: tf.train.GradientDescentOptimizer(tf.train.cosine_decay(0.1, step, 12)),
    "lamb": lambda step: opt.LAMBOptimizer(0.1),
    "lazy adam": lambda step: opt.LazyAdamOptimizer(0.1),
    "lion": lambda step: opt.LionOptimizer(0.1),
    "momentum": lambda step: tf.train.MomentumOptimizer(0.1, 0.9),
    "momentumw": lambda step: opt.MomentumWOptimizer(0.01, 0.1, 0.9),
    "nadam": lambda step: opt.NadamOptimizer(0.1),
    "proximal adagrad": lambda step: tf.train.ProximalAdagradOptimizer(0.1),
    "proximal gradient descent": lambda step: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.01),
    "rmsprop": lambda step: tf.train.RMSPropOptimizer(0.1, centered=True, epsilon=0.1),
    "accumulator": lambda step: opt.GradientAccumulator(tf.train.AdamOptimizer(0.1), 3),
    "moving average": lambda step: opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1), 0.9, step),
    "swa": lambda step: opt.SWAOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 3, 2),
    "loss scale": lambda step: scaled(tf.train.AdamOptimizer(0.1)),
}


class Training(tf.train.Checkpoint):
    """A table of which rows are looked up, a vector, and a training whose whole state is here."""

    def __init__(self, name: str, dtype: str) -> None:
        rng = np.random.default_rng(SEED)
        step = tf.Variable(0, dtype=tf.int64, trainable=False)
        super().__init__(
            table=tf.Variable(rng.normal(size=(5, 2)), dtype=dtype, name="table"),
            vector=tf.Variable(rng.normal(size=2), dtype=dtype, name="vector"),
            step=step,
            optimizer=MAKERS[name](step),
        )

    def train(self, steps: range, wrap: Callable[[Any], Any] = lambda call: call) -> None:
        def take_step(rows: tf.Tensor) -> None:
            def loss() -> Any:
                return tf.reduce_mean(tf.square(tf.gather(self.table, rows) * self.vector - 0.5))

            self.optimizer.minimize(loss, self.step)

        call = wrap(take_step)
        for n in steps:
            call(tf.constant(np.random.default_rng(n).integers(0, 5, 3)))

    def state(self) -> dict[str, bytes]:
        optimizer = self.optimizer
        averages = [optimizer.average(v) for v in (self.table, self.vector)] if hasattr(optimizer, "average") else []
        variables = [self.table, self.vector, self.step, *optimizer.variables(), *averages]
        return {f"{n} {v.name}": v.numpy().tobytes() for n, v in enumerate(variables)}


CASES = [(name, "float32") for name in MAKERS] + [("loss scale", "float16"), ("accumulator", "float16")]


def test_every_optimizer_is_here() -> None:
    kinds = {kind for kind in vars(agog_optimizers).values() if isinstance(kind, type)}
    bases = {tf.train.Optimizer, opt.DecoupledWeightDecayExtension}
    optimizers = {kind for kind in kinds if issubclass(kind, tf.train.Optimizer)} - bases
    assert {type(make(tf.Variable(0, dtype=tf.int64))) for make in MAKERS.values()} == optimizers


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_resumed_steps_are_those_that_were_never_interrupted(tmp_path: Path, name: str, dtype: str) -> None:
    whole = Training(name, dtype)
    whole.train(range(4))  # in the midst of a window of the accumulator
    path = whole.save(str(tmp_path / "ckpt"))
    whole.train(range(4, 9))
    resumed = Training(name, dtype)
    status = resumed.restore(path)
    resumed.train(range(4, 9))
    status.assert_consumed()
    assert resumed.state() == whole.state()


@pytest.mark.parametrize("is_traced_first", [True, False], ids=["traced, then eager", "eager, then traced"])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_traced_steps_go_on_as_eager_ones(tmp_path: Path, name: str, dtype: str, is_traced_first: bool) -> None:
    """What one way saves, the other resumes, and both end where a training ends that was eager all along."""
    ways: list[dict[str, Any]] = [{"wrap": tf.function}, {}]
    first, second = ways if is_traced_first else ways[::-1]
    whole, before, resumed = (Training(name, dtype) for _ in range(3))
    whole.train(range(9))
    before.train(range(4), **first)
    status = resumed.restore(before.save(str(tmp_path / "ckpt")))
    resumed.train(range(4, 9), **second)
    status.assert_consumed()
    assert resumed.state() == whole.state()


def test_moving_averages_alone(tmp_path: Path) -> None:
    v, averages = tf.Variable([1.0, 2.0]), tf.train.ExponentialMovingAverage(0.75)
    averages.apply([v])
    v.assign([5.0, 6.0])
    averages.apply([v])
    path = tf.train.Checkpoint(v=v, averages=averages).save(str(tmp_path / "ckpt"))
    w, resumed = tf.Variable([0.0, 0.0]), tf.train.ExponentialMovingAverage(0.75)
    status = tf.train.Checkpoint(v=w, averages=resumed).restore(path)
    resumed.apply([w])
    status.assert_consumed()
    assert resumed.average(w).numpy().tolist() == [0.75 * 2 + 0.25 * 5, 0.75 * 3 + 0.25 * 6]


def test_names_under_tf() -> None:
    for name in ("AdamWOptimizer", "LazyAdamOptimizer", "NadamOptimizer", "MovingAverageOptimizer"):
        assert issubclass(getattr(tf.contrib.opt, name), tf.train.Optimizer)
    assert tf.contrib.mixed_precision.LossScaleOptimizer is mixed_precision.LossScaleOptimizer
