"""``tf.keras.applications.mobilenet_v2``: MobileNetV2."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_tf as preprocess_input
from agog_keras.applications.mobilenet_v2 import *

_face(globals())
