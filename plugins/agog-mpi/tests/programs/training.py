"""A step of training from equal weights: ranks with their share of the batch, beside one with all of it."""

import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute

rank, size, traced = distribute.rank(), distribute.size(), "traced" in sys.argv
rng = np.random.default_rng(0)
inputs, targets = rng.normal(size=(32, 8)).astype(np.float32), rng.normal(size=(32, 1)).astype(np.float32)
weights = ag.Variable(rng.normal(size=(8, 1)).astype(np.float32))


def gradient(x, y):
    """Of the mean over all ranks' shares."""
    with ag.GradientTape() as tape:
        loss = ag.reduce_mean(ag.square(ag.matmul(x, weights) - y))
    return distribute.all_reduce(tape.gradient(loss, weights), "mean")


step = ag.function(gradient) if traced else gradient
share = slice(rank * 32 // size, (rank + 1) * 32 // size)
for _ in range(5):
    given = weights.numpy().astype(np.float64)
    wanted = 2 / 32 * inputs.T.astype(np.float64) @ (inputs @ given - targets)
    found = step(ag.constant(inputs[share]), ag.constant(targets[share])).numpy()
    error = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert error <= 1e-6, error
    assert len({bits.tobytes() for bits in distribute.all_gather(found[None]).numpy()}) == 1
    weights.assign_sub(0.1 * found)
print(f"rank {rank} of {size} has found all as wanted")
