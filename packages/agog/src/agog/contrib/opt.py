"""``tf.contrib.opt``: further optimizers, some of them newer than TensorFlow 1.12: AMSGrad, LAMB, Lion, SWA."""

from agog_compat.advice import taught as _taught
from agog_optimizers import (
    AdaMaxOptimizer,
    AdamWOptimizer,
    AMSGradOptimizer,
    GradientAccumulator,
    LAMBOptimizer,
    LazyAdamOptimizer,
    LionOptimizer,
    MovingAverageOptimizer,
    NadamOptimizer,
    SWAOptimizer,
)

__all__ = [
    "AMSGradOptimizer",
    "AdaMaxOptimizer",
    "AdamWOptimizer",
    "GradientAccumulator",
    "LAMBOptimizer",
    "LazyAdamOptimizer",
    "LionOptimizer",
    "MovingAverageOptimizer",
    "NadamOptimizer",
    "SWAOptimizer",
]

__getattr__ = _taught(__name__)
