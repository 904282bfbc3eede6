"""``tf.contrib.mixed_precision``: training in half precision."""

from agog_compat.advice import face as _face
from agog_optimizers import LossScaleOptimizer as LossScaleOptimizer
from agog_optimizers.loss_scale import *

_face(globals())
