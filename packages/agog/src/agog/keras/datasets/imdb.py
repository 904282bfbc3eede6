"""``tf.keras.datasets.imdb``: reviews of films."""

from agog_compat.advice import face as _face
from agog_data.datasets.imdb import get_word_index as get_word_index
from agog_data.datasets.imdb import load_data as load_data

_face(globals())
