"""``tf.keras.optimizers``: optimizers with Keras's names and arguments."""

from agog.keras import optimizers as legacy
from agog.keras.optimizers import schedules
from agog_compat.advice import taught as _taught
from agog_training.optimizers import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lamb,
    Lion,
    LossScaleOptimizer,
    Nadam,
    RMSprop,
    deserialize,
    get,
    serialize,
)
from agog_training.optimizers import KerasOptimizer as Optimizer

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "Nadam",
    "Optimizer",
    "RMSprop",
    "deserialize",
    "get",
    "legacy",
    "schedules",
    "serialize",
]

__getattr__ = _taught(__name__)
