"""``tf.contrib.mixed_precision``: training in half precision."""

from agog_compat.advice import taught as _taught
from agog_optimizers import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
    LossScaleOptimizer,
)

__all__ = [
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "LossScaleManager",
    "LossScaleOptimizer",
]

__getattr__ = _taught(__name__)
