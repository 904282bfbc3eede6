"""Optimizers: Keras's names, arguments and configs for the optimizers of agog-optimizers, which have the formulas."""

from agog_core.exports import export as _export
from agog_training.optimizers.adaptive import *
from agog_training.optimizers.keras_optimizer import *
from agog_training.optimizers.lookup import *
from agog_training.optimizers.loss_scale import *
from agog_training.optimizers.nadam import *
from agog_training.optimizers.sgd import *
from agog_training.optimizers.weight_decay import *

_export(globals())
