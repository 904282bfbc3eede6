"""``tf.layers``: layers as classes, and as functions that make a new layer with each call."""

from agog_compat.advice import face as _face
from agog_layers import InputSpec as InputSpec
from agog_layers import dropout as dropout
from agog_layers import flatten as flatten
from agog_layers.tf_layers.functions import *
from agog_layers.tf_layers.layers import *

_face(globals())
