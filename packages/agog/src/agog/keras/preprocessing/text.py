"""``tf.keras.preprocessing.text``: texts as numbers of words."""

from agog_compat.advice import face as _face
from agog_keras.preprocessing.tokenizer import *

_face(globals())
