"""``tf.keras.datasets.reuters``: newswires."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.reuters import get_label_names, get_word_index, load_data

__all__ = ["get_label_names", "get_word_index", "load_data"]

__getattr__ = _taught(__name__)
