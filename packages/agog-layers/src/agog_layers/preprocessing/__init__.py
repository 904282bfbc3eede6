"""Preprocessing: layers from raw data to numbers, which learn from data by `adapt`."""

from agog_core.exports import export as _export
from agog_layers.preprocessing.augmenting import *
from agog_layers.preprocessing.encoding import *
from agog_layers.preprocessing.numbers import *
from agog_layers.preprocessing.resizing import *
from agog_layers.preprocessing.texts import *
from agog_layers.preprocessing.vocabulary import *
from agog_layers.preprocessing.warping import *

_export(globals())
