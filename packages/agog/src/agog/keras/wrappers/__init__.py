"""``tf.keras.wrappers``: models as other libraries take them."""

from agog.keras.wrappers import scikit_learn as scikit_learn
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export

_export(globals(), "scikit_learn")

__getattr__ = _taught(__name__)
