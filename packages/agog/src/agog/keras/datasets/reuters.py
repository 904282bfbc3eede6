"""``tf.keras.datasets.reuters``: newswires."""

from agog_compat.advice import face as _face
from agog_data.datasets.reuters import get_label_names as get_label_names
from agog_data.datasets.reuters import get_word_index as get_word_index
from agog_data.datasets.reuters import load_data as load_data

_face(globals())
