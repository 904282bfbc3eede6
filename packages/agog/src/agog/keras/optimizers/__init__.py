"""``tf.keras.optimizers``: optimizers with Keras's names and arguments."""

from agog.keras import optimizers as legacy
from agog.keras.optimizers import schedules as schedules
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_training.optimizers import SGD as SGD
from agog_training.optimizers import Adadelta as Adadelta
from agog_training.optimizers import Adagrad as Adagrad
from agog_training.optimizers import Adam as Adam
from agog_training.optimizers import Adamax as Adamax
from agog_training.optimizers import AdamW as AdamW
from agog_training.optimizers import KerasOptimizer as Optimizer
from agog_training.optimizers import Lamb as Lamb
from agog_training.optimizers import Lion as Lion
from agog_training.optimizers import LossScaleOptimizer as LossScaleOptimizer
from agog_training.optimizers import Nadam as Nadam
from agog_training.optimizers import RMSprop as RMSprop
from agog_training.optimizers import deserialize as deserialize
from agog_training.optimizers import get as get
from agog_training.optimizers import serialize as serialize

_export(globals(), "legacy", "schedules")

__getattr__ = _taught(__name__)
