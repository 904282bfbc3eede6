"""``tf.keras.preprocessing``: texts, sequences and pictures on the host, before a model is trained."""

from agog.keras.preprocessing import image, sequence, text
from agog_compat.advice import taught as _taught

__all__ = ["image", "sequence", "text"]

__getattr__ = _taught(__name__)
