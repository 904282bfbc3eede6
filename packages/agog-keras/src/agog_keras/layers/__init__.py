"""Layers: preprocessing layers from raw data to numbers, which learn from data by `adapt`."""

from agog_core.exports import export as _export
from agog_keras.layers.augmentation import *
from agog_keras.layers.encoding import *
from agog_keras.layers.numbers import *
from agog_keras.layers.resizing import *
from agog_keras.layers.saved_model import *
from agog_keras.layers.text_vectorization import *
from agog_keras.layers.vocabulary import *
from agog_keras.layers.warping import *

_export(globals())
