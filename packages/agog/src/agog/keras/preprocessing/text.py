"""``tf.keras.preprocessing.text``: texts as numbers of words."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_keras.preprocessing.tokenizer import *

_export(globals())

__getattr__ = _taught(__name__)
