"""``tf.keras.preprocessing.image``: files of images as arrays, and batches that are changed at random."""

from agog_compat.advice import face as _face
from agog_keras.preprocessing.image_generator import *
from agog_keras.preprocessing.image_iterators import *
from agog_keras.preprocessing.images import *

_face(globals())
