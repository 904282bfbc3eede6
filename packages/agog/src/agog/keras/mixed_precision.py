"""``tf.keras.mixed_precision``: policies of layers, and training in half precision."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers.base.policy import *
from agog_layers.base.policy import Policy as DTypePolicy
from agog_layers.base.policy import global_policy as dtype_policy
from agog_layers.base.policy import set_global_policy as set_dtype_policy
from agog_training.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer

_export(globals())

__getattr__ = _taught(__name__)
