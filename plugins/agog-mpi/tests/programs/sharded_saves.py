"""A checkpoint with sharded slots, which another number of ranks restores: it goes on as one process would."""

import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute
from agog_checkpoint import Checkpoint
from agog_optimizers import AdamOptimizer

path, what = sys.argv[1:]
rank, size = distribute.rank(), distribute.size()
rng = np.random.default_rng(0)
weights = [rng.normal(size=shape).astype(np.float32) for shape in ((7, 5), (3,), ())]
gradients = [[rng.normal(size=w.shape).astype(np.float32) for w in weights] for _ in range(6)]


def steps(optimizer, variables, numbers):
    for n in numbers:
        optimizer.apply_gradients(zip(map(ag.constant, gradients[n]), variables, strict=True))


variables = [ag.Variable(weight) for weight in weights]
optimizer = AdamOptimizer(0.1)
if what != "restore bare":  # as a program without the wrapper does
    optimizer = distribute.DistributedOptimizer(optimizer, shard_state=True)
checkpoint = Checkpoint(optimizer=optimizer, weights=variables)
if what == "save":
    steps(optimizer, variables, range(3))
    checkpoint.save(path)
else:
    checkpoint.restore(f"{path}-1").assert_existing_objects_matched()
    steps(optimizer, variables, range(3, 6))
    alone = [ag.Variable(weight) for weight in weights]
    steps(AdamOptimizer(0.1), alone, range(6))
    for found, wanted in zip(variables, alone, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-7)
print(f"rank {rank} of {size} has found all as wanted")
