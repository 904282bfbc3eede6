"""``tf.keras.datasets.imdb``: reviews of films."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.imdb import get_word_index, load_data

__all__ = ["get_word_index", "load_data"]

__getattr__ = _taught(__name__)
