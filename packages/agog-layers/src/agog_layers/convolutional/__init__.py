"""Convolutional: layers with windows along the axes of images and sequences."""

from agog_core.exports import export as _export
from agog_layers.convolutional.convolution import *
from agog_layers.convolutional.deconvolution import *
from agog_layers.convolutional.local_convolution import *
from agog_layers.convolutional.padding import *
from agog_layers.convolutional.pooling import *
from agog_layers.convolutional.separable_convolution import *
from agog_layers.convolutional.spatial_dropout import *

_export(globals())
