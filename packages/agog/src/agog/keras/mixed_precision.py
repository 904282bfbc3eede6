"""``tf.keras.mixed_precision``: training in half precision."""

from agog_optimizers import LossScaleOptimizer

__all__ = ["LossScaleOptimizer"]
