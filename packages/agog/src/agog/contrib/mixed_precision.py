"""``tf.contrib.mixed_precision``: training in half precision."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_optimizers import LossScaleOptimizer as LossScaleOptimizer
from agog_optimizers.loss_scale import *

_export(globals())

__getattr__ = _taught(__name__)
