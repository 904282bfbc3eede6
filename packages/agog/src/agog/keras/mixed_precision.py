"""``tf.keras.mixed_precision``: policies of layers, and training in half precision."""

from agog_compat.advice import face as _face
from agog_layers.layer.policy import *
from agog_layers.layer.policy import Policy as DTypePolicy
from agog_layers.layer.policy import global_policy as dtype_policy
from agog_layers.layer.policy import set_global_policy as set_dtype_policy
from agog_training.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer

_face(globals())
