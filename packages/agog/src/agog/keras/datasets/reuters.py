"""``tf.keras.datasets.reuters``: newswires."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets.reuters import get_label_names as get_label_names
from agog_data.datasets.reuters import get_word_index as get_word_index
from agog_data.datasets.reuters import load_data as load_data

_export(globals())

__getattr__ = _taught(__name__)
