"""``tf.layers``: layers as classes, and as functions that make a new layer with each call."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers import InputSpec as InputSpec
from agog_layers import average_pooling1d as average_pooling1d
from agog_layers import average_pooling2d as average_pooling2d
from agog_layers import average_pooling3d as average_pooling3d
from agog_layers import batch_normalization as batch_normalization
from agog_layers import conv1d as conv1d
from agog_layers import conv2d as conv2d
from agog_layers import conv2d_transpose as conv2d_transpose
from agog_layers import conv3d as conv3d
from agog_layers import conv3d_transpose as conv3d_transpose
from agog_layers import dense as dense
from agog_layers import dropout as dropout
from agog_layers import flatten as flatten
from agog_layers import max_pooling1d as max_pooling1d
from agog_layers import max_pooling2d as max_pooling2d
from agog_layers import max_pooling3d as max_pooling3d
from agog_layers import separable_conv1d as separable_conv1d
from agog_layers import separable_conv2d as separable_conv2d
from agog_layers.tf_layers.layers import *

_export(globals())

__getattr__ = _taught(__name__)
