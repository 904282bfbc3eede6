"""Metrics: measures of predictions, accumulated over batches.

Those offered here are of ``tf.contrib.eager.metrics``. `updated` has those of ``tf.keras.metrics``, `correctness` what
they measure of each example, and `named` finds them by name.
"""

from agog_core.exports import export as _export
from agog_layers.metrics.accuracy import *
from agog_layers.metrics.auc import *
from agog_layers.metrics.confusion import *
from agog_layers.metrics.error import *
from agog_layers.metrics.mean import *
from agog_layers.metrics.metric import *

_export(globals())
