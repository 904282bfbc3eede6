"""``tf.keras.applications.resnet``: residual networks."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_caffe as preprocess_input
from agog_keras.applications.resnet import *

_face(globals())
