"""Training with a share of the slots on each rank; a checkpoint of all, that any number of ranks goes on from."""

import hashlib
import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute
from agog_checkpoint import Checkpoint, CheckpointManager
from agog_core.processes import Share, keep_share

rank, size, what, folder = distribute.rank(), distribute.size(), sys.argv[1], sys.argv[2]
weights = ag.Variable(np.zeros(10, np.float32))
share = Share(10 * rank // size, 10 * (rank + 1) // size, (10,))
moment = ag.Variable(np.zeros(share.end - share.begin, np.float32))
keep_share(moment, share)
step = ag.Variable(0, trainable=False)
checkpoint = Checkpoint(weights=weights, moment=moment, step=step)
manager = CheckpointManager(checkpoint, folder, 2, asynchronous=what == "behind")
checkpoint.restore(manager.latest_checkpoint)
begin = int(step)
for _ in range(5):
    gradient = ag.constant(np.arange(10, dtype=np.float32) + int(step))
    moment.assign(0.9 * moment + gradient[share.begin : share.end])
    parts = ag.pad(moment, [[share.begin, 10 - share.end]])
    weights.assign_sub(0.1 * distribute.all_reduce(parts))
    step.assign_add(1)
    if what == "drift" and int(step) == 3 and rank == 1:
        weights.assign_add(np.ones(10, np.float32))
    if what == "alone" and int(step) == 3:
        if rank == 0:
            manager.save()
        distribute.barrier()
    with distribute.independent():
        if rank == 0:
            Checkpoint(weights=weights).write(f"{folder}/of-rank-0")
    manager.save()
manager.wait()
print(f"rank {rank} of {size} from {begin} to {int(step)}: {hashlib.sha1(weights.numpy().tobytes()).hexdigest()}")
