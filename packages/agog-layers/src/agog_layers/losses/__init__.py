"""Losses: the objectives of training.

The functions offered here are those of ``tf.losses``, with weights: each gives one number for a batch. `classification`
and `regression` have losses of each example, `loss` makes objects of them, and `named` finds them by name, as
``tf.keras.losses`` does.
"""

from agog_core.exports import export as _export
from agog_layers.losses.collection import *
from agog_layers.losses.reduction import *
from agog_layers.losses.weighted_classification import *
from agog_layers.losses.weighted_regression import *

_export(globals())
