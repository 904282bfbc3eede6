"""``tf.keras.preprocessing.image``: files of images as arrays, and batches that are changed at random."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_keras.preprocessing.image_generator import *
from agog_keras.preprocessing.image_iterators import *
from agog_keras.preprocessing.images import *

_export(globals())

__getattr__ = _taught(__name__)
