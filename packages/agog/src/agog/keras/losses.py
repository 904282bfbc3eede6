"""``tf.keras.losses``: losses of each example, and how they are named."""

from agog_compat.advice import face as _face
from agog_layers.losses.classification import *
from agog_layers.losses.imbalance import *
from agog_layers.losses.imbalance_losses import *
from agog_layers.losses.lookup import *
from agog_layers.losses.loss import *
from agog_layers.losses.loss import CosineProximity as CosineSimilarity
from agog_layers.losses.regression import *
from agog_layers.losses.regression import cosine_proximity as cosine_similarity
from agog_layers.losses.regression import kullback_leibler_divergence as kl_divergence
from agog_layers.losses.regression import logcosh as log_cosh
from agog_layers.losses.sequences import ctc as ctc

_face(globals())
