"""``tf.train``: optimizers, checkpoints, and the global step."""

from agog_checkpoint import Checkpoint, latest_checkpoint
from agog_optimizers import (
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    get_global_step,
    get_or_create_global_step,
)

__all__ = [
    "AdamOptimizer",
    "Checkpoint",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "get_global_step",
    "get_or_create_global_step",
    "latest_checkpoint",
]
