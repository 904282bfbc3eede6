"""Applications: ``tf.keras.applications``, published networks for images, their weights and their classes."""

from agog_core.exports import export as _export
from agog_keras.applications.densenet import *
from agog_keras.applications.efficientnet import *
from agog_keras.applications.inception_v3 import *
from agog_keras.applications.mobilenet_v2 import *
from agog_keras.applications.resnet import *
from agog_keras.applications.vgg import *

_export(globals())
