"""Regularization: dropout, noise, and penalties on outputs."""

from agog_core.exports import export as _export
from agog_layers.regularization.activity_regularization import *
from agog_layers.regularization.dropout import *
from agog_layers.regularization.noise import *

_export(globals())
