"""``tf.keras.models``: models, and how they are made from their descriptions."""

from agog_compat.advice import face as _face
from agog_layers import Input as Input
from agog_training import Model as Model
from agog_training import Sequential as Sequential
from agog_training.saving.cloning import *
from agog_training.saving.model_file import *

_face(globals())
