"""``tf.keras.config``: settings, most of which are as they are."""

from agog_compat.advice import face as _face
from agog_keras.settings import backend as backend
from agog_keras.settings import epsilon as epsilon
from agog_keras.settings import floatx as floatx
from agog_keras.settings import image_data_format as image_data_format
from agog_keras.settings import set_epsilon as set_epsilon
from agog_keras.settings import set_floatx as set_floatx
from agog_keras.settings import set_image_data_format as set_image_data_format
from agog_layers.layer.policy import global_policy as dtype_policy
from agog_layers.layer.policy import set_global_policy as set_dtype_policy

_face(globals())
