"""A checkpoint with what compression has left of gradients: as many ranks go on with the bits of a run through."""

import sys

import numpy as np

import agog_core as ag
import agog_distribute as distribute
from agog_checkpoint import Checkpoint
from agog_optimizers import GradientDescentOptimizer

path, what = sys.argv[1:]
rank, size = distribute.rank(), distribute.size()
rng = np.random.default_rng(0)
slopes = rng.normal(size=(6, 4, 37, 11)).astype(np.float32)  # of steps and ranks; no numbers of bfloat16
traced = "traced" in what


class Training:
    """Steps whose gradients are sent in half precision."""

    def __init__(self):
        self.variable = ag.Variable(np.zeros((37, 11), np.float32))
        inner = GradientDescentOptimizer(0.1)
        self.optimizer = distribute.DistributedOptimizer(inner, compression="bfloat16", shard_state="shared" in what)
        self.checkpoint = Checkpoint(optimizer=self.optimizer, variable=self.variable)
        self.step = ag.function(self._step) if traced else self._step

    def _step(self, slope):
        self.optimizer.minimize(lambda: ag.reduce_sum(self.variable * slope), var_list=[self.variable])

    def steps(self, numbers):
        for n in numbers:
            self.step(ag.constant(slopes[n, rank]))

    def residuals(self):
        slots = [(name, slot) for name, v, slot in self.optimizer.checkpoint_slots() if v is self.variable]
        return [slot.numpy() for name, slot in slots if name.startswith("residual")]


through = Training()
through.steps(range(6))
if "save" in what:
    first = Training()
    first.steps(range(3))
    first.checkpoint.save(path)
    (left,) = first.residuals()
    assert 0 < np.abs(left).max() < 0.1
else:
    again = Training()
    status = again.checkpoint.restore(f"{path}-1")
    status.assert_existing_objects_matched()
    if "others" in what:  # saved by another number of ranks
        assert again.residuals() == []
        again.steps(range(3, 6))
    else:
        status.assert_consumed()
        again.steps(range(3, 6))
        assert again.variable.numpy().tobytes() == through.variable.numpy().tobytes()
        assert [x.tobytes() for x in again.residuals()] == [x.tobytes() for x in through.residuals()]
print(f"rank {rank} of {size} has found all as wanted")
