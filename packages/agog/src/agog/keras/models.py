"""``tf.keras.models``: models, and how they are made from their descriptions."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers import Input as Input
from agog_training import Model as Model
from agog_training import Sequential as Sequential
from agog_training.saving.cloning import *
from agog_training.saving.model_file import *

_export(globals())

__getattr__ = _taught(__name__)
