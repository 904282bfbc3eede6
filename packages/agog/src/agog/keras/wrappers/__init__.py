"""``tf.keras.wrappers``: models as other libraries take them."""

from agog.keras.wrappers import scikit_learn
from agog_compat.advice import taught as _taught

__all__ = ["scikit_learn"]

__getattr__ = _taught(__name__)
