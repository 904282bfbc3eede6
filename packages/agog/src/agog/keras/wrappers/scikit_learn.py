"""``tf.keras.wrappers.scikit_learn``: models with the methods that scikit-learn calls."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_keras.estimators import *

_export(globals())

__getattr__ = _taught(__name__)
