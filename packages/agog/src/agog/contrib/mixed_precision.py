"""``tf.contrib.mixed_precision``: training in half precision."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_optimizers import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from agog_optimizers import FixedLossScaleManager as FixedLossScaleManager
from agog_optimizers import LossScaleManager as LossScaleManager
from agog_optimizers import LossScaleOptimizer as LossScaleOptimizer

_export(globals())

__getattr__ = _taught(__name__)
