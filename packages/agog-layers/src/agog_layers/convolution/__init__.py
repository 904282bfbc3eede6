"""Convolution: layers with windows along the axes of images and sequences."""

from agog_core.exports import export as _export
from agog_layers.convolution.convolution import *
from agog_layers.convolution.deconvolution import *
from agog_layers.convolution.local_convolution import *
from agog_layers.convolution.padding import *
from agog_layers.convolution.pooling import *
from agog_layers.convolution.separable_convolution import *
from agog_layers.convolution.spatial_dropout import *

_export(globals())
