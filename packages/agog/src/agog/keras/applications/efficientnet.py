"""``tf.keras.applications.efficientnet``: EfficientNet."""

from agog_compat.advice import face as _face
from agog_keras.applications.efficientnet import *
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_inside as preprocess_input

_face(globals())
