"""``tf.contrib.opt``: further optimizers, some of them newer than TensorFlow 1.12: AMSGrad, LAMB, Lion, SWA."""

from agog_compat.advice import taught as _taught
from agog_optimizers import (
    AdaMaxOptimizer,
    AdamWOptimizer,
    AMSGradOptimizer,
    DecoupledWeightDecayExtension,
    GradientAccumulator,
    LAMBOptimizer,
    LazyAdamOptimizer,
    LionOptimizer,
    MomentumWOptimizer,
    MovingAverageOptimizer,
    NadamOptimizer,
    SWAOptimizer,
    extend_with_decoupled_weight_decay,
)

__all__ = [
    "AMSGradOptimizer",
    "AdaMaxOptimizer",
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "GradientAccumulator",
    "LAMBOptimizer",
    "LazyAdamOptimizer",
    "LionOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "NadamOptimizer",
    "SWAOptimizer",
    "extend_with_decoupled_weight_decay",
]

__getattr__ = _taught(__name__)
