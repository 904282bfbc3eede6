"""Steps of training from equal weights: ranks with their share of the batch, beside one process with all of it."""

import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute
from agog_optimizers import (
    AdamOptimizer,
    GradientAccumulator,
    GradientDescentOptimizer,
    LossScaleOptimizer,
    MomentumOptimizer,
)
from agog_optimizers.loss_scale import FixedLossScaleManager

rank, size, what = distribute.rank(), distribute.size(), sys.argv[1]
rng = np.random.default_rng(0)
# Two megabytes, so that there are several buckets.
SHAPES = [(90, 50), (20, 400), (400,), (400, 1200), (1200,), (1200, 3), (3,)]
BATCH = 32
words = rng.integers(0, 90, (4, BATCH, 5))
inputs = rng.normal(size=(4, BATCH, 20)).astype(np.float32)
targets = rng.normal(size=(4, BATCH, 3)).astype(np.float32)
weights = [(rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32) for shape in SHAPES]


class Training:
    """A network with a lookup, and what trains it: with the gradients of all ranks, or alone with the whole batch."""

    def __init__(self, alone, traced):
        self.alone = alone
        self.variables = [ag.Variable(weight) for weight in weights]
        # With a smaller epsilon Adam divides gradients that are rounding errors by themselves.
        base = AdamOptimizer(0.01, epsilon=1e-3) if what in ("plain", "scaled") else GradientDescentOptimizer(0.01)
        if what == "sharded":
            base = MomentumOptimizer(0.01, 0.9)
        self.optimizer = base if alone else distribute.DistributedOptimizer(base, shard_state=what == "sharded")
        if what == "accumulated":
            self.optimizer = GradientAccumulator(self.optimizer, 2)
        if what == "scaled":
            self.optimizer = LossScaleOptimizer(self.optimizer, FixedLossScaleManager(1024.0))
        self.run = ag.function(self.step) if traced else self.step

    def loss(self, words, x, y):
        table, *rest = self.variables
        for n in range(0, 6, 2):
            x = ag.matmul(x, rest[n]) + rest[n + 1]
            x = ag.tanh(x) if n < 4 else x
        looked_up = ag.reduce_sum(ag.gather(table, words) ** 2, [1, 2])
        loss = ag.reduce_mean(ag.reduce_sum(ag.square(x - y), 1) + 0.1 * looked_up)
        return loss

    def step(self, words, x, y):
        if what == "clipped":
            with ag.GradientTape() if self.alone else distribute.DistributedGradientTape() as tape:
                loss = self.loss(words, x, y)
            clipped, _ = ag.clip_by_global_norm(tape.gradient(loss, self.variables), 0.5)
            self.optimizer.apply_gradients(zip(clipped, self.variables, strict=True))
        else:
            self.optimizer.minimize(lambda: self.loss(words, x, y), var_list=self.variables)

    def on(self, turn):
        n = turn % 4
        part = slice(None) if self.alone else slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        self.run(ag.constant(words[n, part]), ag.constant(inputs[n, part]), ag.constant(targets[n, part]))


for traced in (False, True):
    ours, alone = Training(False, traced), Training(True, traced)
    for turn in range(8):
        for v, w in zip(ours.variables, alone.variables, strict=True):
            w.assign(v)  # from equal weights
        if what != "sharded":
            for v, w in zip(ours.optimizer.variables(), alone.optimizer.variables(), strict=True):
                w.assign(v)
        ours.on(turn)
        alone.on(turn)
        for v, w in zip(ours.variables, alone.variables, strict=True):
            error, moved = np.linalg.norm(v.numpy() - w.numpy()), np.linalg.norm(w.numpy())
            # The slots of shares are those of the steps before, of which each has its error.
            assert error <= (1e-6 if what != "sharded" else 5e-6) * moved, (turn, v.shape, error, moved)
            assert len({bits.tobytes() for bits in distribute.all_gather(v.value()[None]).numpy()}) == 1
print(f"rank {rank} of {size} has found all as wanted")
