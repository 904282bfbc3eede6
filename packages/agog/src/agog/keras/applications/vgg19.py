"""``tf.keras.applications.vgg19``: VGG with 19 layers."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_caffe as preprocess_input
from agog_keras.applications.vgg import VGG19 as VGG19

_face(globals())
