"""Steps of an example on several ranks, beside those that one process takes with the whole batch.

Arguments: names of examples, or none for all. Rank 0 prints a line for each way of each: the largest error of a
gradient, and a digest of all weights.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

import numpy as np
from cases import CASES, example, variables_of

import agog as tf
import agog_distribute as distribute
from agog_optimizers import GradientAccumulator, LossScaleOptimizer
from agog_optimizers.loss_scale import FixedLossScaleManager
from agog_optimizers.wrapper import OptimizerWrapper

HOWS = ("plain", "clipped", "accumulated", "scaled", "sharded", "dropout")
STEPS = 4
SCALE = 1024.0
RANK, SIZE = distribute.rank(), distribute.size()


class Recorder(OptimizerWrapper):
    """Keeps the gradients by which another optimizer takes its step."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__(optimizer, "Recorder")

    def make_slots(self, variable: Any) -> Any:
        return {"last": tf.zeros(variable.shape)}

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> None:
        pairs = list(grads_and_vars)
        for gradient, variable in pairs:
            if gradient is not None:
                kept = self._slots.of.get(variable) or self._new_slots(variable)
                kept["last"].assign(tf.convert_to_tensor(gradient))
        super().apply_gradients(pairs, *args, **kwargs)


class Clipped(OptimizerWrapper):
    """Clips gradients by their global norm."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__(optimizer, "Clipped")

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> None:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, 0.01)
        super().apply_gradients(list(zip(clipped, variables, strict=True)), *args, **kwargs)


class Unscaled(LossScaleOptimizer):
    """Divides gradients that a scaled tape gives."""

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> None:
        gradients, variables = zip(*grads_and_vars, strict=True)
        unscaled = self.get_unscaled_gradients(gradients)
        super().apply_gradients(list(zip(unscaled, variables, strict=True)), *args, **kwargs)


class RowsOnce(tf.GradientTape):
    """A tape that gives each row of a lookup once, as those of several ranks do; TensorFlow's norms count all."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        found = super().gradient(*args, **kwargs)
        return [tf.convert_to_tensor(each) if type(each) is tf.IndexedSlices else each for each in found]


def scaled(tape_type: Any) -> Any:
    """A type of tapes whose gradients are those of a scaled loss."""

    class Scaled(tape_type):  # type: ignore[misc]
        def gradient(self, target: Any, sources: Any) -> Any:
            return super().gradient(target, sources, tf.constant(SCALE))

    return Scaled


class Training:
    """An example's networks, and the optimizers that its step is given.

    Args:
        name: the example's.
        how: one of `HOWS`.
        alone: whether it takes whole batches, and knows of no other rank.
    """

    def __init__(self, name: str, how: str, alone: bool) -> None:
        tf.set_random_seed(1)
        self.how, self.alone, self.case = how, alone, CASES[name]
        self.module = module = example(name, not alone)
        tapes = RowsOnce if SIZE > 1 else tf.GradientTape, distribute.DistributedGradientTape
        if not self.is_fit and self.case.has_tape:
            own, averaging = map(scaled, tapes) if how == "scaled" else tapes
            module.tf = Instead(tf, GradientTape=own, distribute=SimpleNamespace(DistributedGradientTape=averaging))
        self.strategy = tf.distribute.MirroredStrategy() if name == "fit" and not alone else None
        self.recorders: list[Recorder] = []
        if self.strategy is None:
            self.make()
        else:
            with self.strategy.scope():
                self.make()

    def make(self) -> None:
        self.networks = self.case.network(self.module)
        self.more = self.case.more()
        optimizers = [self.optimizer() for _ in range(self.case.count)]
        self.optimizers = optimizers[0] if self.case.count == 1 else tuple(optimizers)
        if self.how != "dropout":  # the rows of a batch have other masks on several ranks
            for layer in getattr(self.networks, "layers", ()):
                if hasattr(layer, "rate"):
                    layer.rate = 0.0
        if hasattr(self.networks, "compile") and self.is_fit:
            traced = not tf.config.functions_run_eagerly()
            self.networks.compile(self.optimizers, "sparse_categorical_crossentropy", jit_compile=traced)

    @property
    def is_fit(self) -> bool:
        return not hasattr(self.module, "train_step")

    def optimizer(self) -> Any:
        """One that records the gradients of its steps."""
        made: Any = tf.train.AdamOptimizer(0.001)
        if not self.alone:
            made = distribute.DistributedOptimizer(made, shard_state=self.how == "sharded")
        made = Recorder(made)
        self.recorders.append(made)
        if self.how == "clipped":
            made = Clipped(made)
        elif self.how == "accumulated":
            made = GradientAccumulator(made, 2)
        elif self.how == "scaled":
            kind = LossScaleOptimizer if self.is_fit else Unscaled
            made = kind(made, FixedLossScaleManager(SCALE))
        if self.case.takes_one and self.alone and SIZE > 1:  # as many examples as there are ranks
            made = GradientAccumulator(made, SIZE)
        return made

    def step(self, batch: Sequence[Any]) -> None:
        """A step by this rank's rows of a batch, or by all of them alone."""
        if self.is_fit:
            x, y = batch
            self.networks.fit(x[..., 0], y, batch_size=len(x), shuffle=False, verbose=0)
            return
        count = len(batch[0])
        if self.case.takes_one:
            parts: Sequence[Any] = range(SIZE) if self.alone else (RANK,)
        else:
            parts = (slice(None) if self.alone else slice(RANK * count // SIZE, (RANK + 1) * count // SIZE),)
        for part in parts:
            own = [tf.constant(array[part]) for array in batch]
            self.module.train_step(self.networks, self.optimizers, *self.more, *own)

    @property
    def variables(self) -> list[Any]:
        return variables_of(self.networks)

    @property
    def gradients(self) -> list[Any]:
        """By which the last step was taken, in the order of `variables`."""
        kept = [recorder.get_slot(variable, "last") for recorder in self.recorders for variable in self.variables]
        return [slot.numpy() for slot in kept if slot is not None]


class Instead:
    """A module, but for some names."""

    def __init__(self, module: Any, **names: Any) -> None:
        self._module = module
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def compared(name: str, how: str) -> tuple[float, str]:
    """The largest error of a gradient, relative to its norm, and a digest of the weights at the end."""
    rng = np.random.default_rng(0)
    ours = Training(name, how, alone=False)
    alone = Training(name, how, alone=True)
    error, digest = 0.0, blake2b(digest_size=8)
    for turn in range(STEPS):
        batch = ours.case.batch(ours.module, rng)
        if turn > 0:
            for v, w in zip(ours.variables, alone.variables, strict=True):
                w.assign(v)
        for training in (ours, alone):
            tf.set_random_seed(turn)  # the first step makes the variables
            training.step(batch)
        takes_step = how != "accumulated" or turn % 2 == 1
        if how != "dropout" and takes_step:
            error = max(error, error_of(ours.gradients, alone.gradients))
        for v in ours.variables:
            bits = distribute.all_gather(v.value()[None]).numpy()
            assert len({each.tobytes() for each in bits}) == 1, f"{name} {how}: {v.name} differs between the ranks"
            digest.update(bits[0].tobytes())
    return error, digest.hexdigest()


def error_of(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    """The largest error of a variable's gradient, relative to its norm, or to a hundredth of that of all.

    A smaller gradient is a small difference of large sums, with their errors of rounding: that of the bias of
    attention's keys is 0.
    """
    assert len(found) == len(wanted) > 0
    norms = [np.linalg.norm(w) for w in wanted]
    scales = np.maximum(norms, 0.01 * np.linalg.norm(norms))
    return float(max(np.linalg.norm(f - w) / scale for f, w, scale in zip(found, wanted, scales, strict=True)))


def main(names: Sequence[str]) -> None:
    """Compare all ways of some examples."""
    for name in names or CASES:
        hows = [how for how in HOWS if how != "scaled" or CASES[name].has_tape]
        for how in hows:
            for way in ("eager", "traced"):
                tf.config.run_functions_eagerly(way == "eager")
                error, digest = compared(name, how)
                if RANK == 0:
                    print(name, how, way, f"{error:.1e}", digest, flush=True)


if __name__ == "__main__":
    main([a for a in sys.argv[1:] if a[0] != "-"])
