"""``tf.keras.applications.inception_v3``: Inception-v3."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_tf as preprocess_input
from agog_keras.applications.inception_v3 import *

_face(globals())
