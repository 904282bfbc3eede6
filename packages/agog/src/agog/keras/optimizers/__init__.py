"""``tf.keras.optimizers``: optimizers with Keras's names and arguments."""

from agog.keras import optimizers as legacy
from agog.keras.optimizers import schedules as schedules
from agog_compat.advice import face as _face
from agog_training.optimizers import SGD as SGD
from agog_training.optimizers import KerasOptimizer as Optimizer
from agog_training.optimizers import LossScaleOptimizer as LossScaleOptimizer
from agog_training.optimizers import Nadam as Nadam
from agog_training.optimizers.adaptive import *
from agog_training.optimizers.lookup import *
from agog_training.optimizers.weight_decay import *

_face(globals(), "legacy", "schedules")
