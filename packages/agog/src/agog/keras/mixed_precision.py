"""``tf.keras.mixed_precision``: training in half precision."""

from agog_compat.advice import taught as _taught
from agog_optimizers import LossScaleOptimizer

__all__ = ["LossScaleOptimizer"]

__getattr__ = _taught(__name__)
