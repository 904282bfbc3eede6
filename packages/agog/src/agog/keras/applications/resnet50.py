"""``tf.keras.applications.resnet50``: the residual network of 50 layers."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_caffe as preprocess_input
from agog_keras.applications.resnet import ResNet50 as ResNet50

_face(globals())
