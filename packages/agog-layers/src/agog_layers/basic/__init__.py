"""Basic: layers that work on one example at a time: dense, embeddings, dropout, shapes, activations."""

from agog_core.exports import export as _export
from agog_layers.basic.activation import *
from agog_layers.basic.activity_regularization import *
from agog_layers.basic.dense import *
from agog_layers.basic.dropout import *
from agog_layers.basic.einsum_dense import *
from agog_layers.basic.embedding import *
from agog_layers.basic.flatten import *
from agog_layers.basic.masking import *
from agog_layers.basic.noise import *
from agog_layers.basic.rectifiers import *
from agog_layers.basic.reshaping import *

_export(globals())
