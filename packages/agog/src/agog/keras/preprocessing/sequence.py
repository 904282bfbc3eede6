"""``tf.keras.preprocessing.sequence``: sequences of one length."""

from agog_compat.advice import taught as _taught
from agog_training.preparing.sequences import pad_sequences

__all__ = ["pad_sequences"]

__getattr__ = _taught(__name__)
