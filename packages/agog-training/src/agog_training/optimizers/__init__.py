"""Optimizers: Keras's names, arguments and configs over the formulas of agog-optimizers."""

from agog_core.exports import export as _export
from agog_training.optimizers.adaptive import *
from agog_training.optimizers.keras_optimizer import *
from agog_training.optimizers.lookup import *
from agog_training.optimizers.loss_scale import *
from agog_training.optimizers.nadam import *
from agog_training.optimizers.sgd import *
from agog_training.optimizers.weight_decay import *

_export(globals())
