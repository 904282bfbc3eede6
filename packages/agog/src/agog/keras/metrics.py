"""``tf.keras.metrics``: metrics of each example and over batches, and how they are named."""

from agog_compat.advice import face as _face
from agog_layers.losses.classification import *
from agog_layers.losses.imbalance import binary_focal_crossentropy as binary_focal_crossentropy
from agog_layers.losses.imbalance import categorical_focal_crossentropy as categorical_focal_crossentropy
from agog_layers.losses.lookup import KLD as KLD
from agog_layers.losses.lookup import MAE as MAE
from agog_layers.losses.lookup import MAPE as MAPE
from agog_layers.losses.lookup import MSE as MSE
from agog_layers.losses.lookup import MSLE as MSLE
from agog_layers.losses.lookup import cosine as cosine
from agog_layers.losses.lookup import kld as kld
from agog_layers.losses.lookup import mae as mae
from agog_layers.losses.lookup import mape as mape
from agog_layers.losses.lookup import mse as mse
from agog_layers.losses.lookup import msle as msle
from agog_layers.losses.regression import *
from agog_layers.losses.regression import kullback_leibler_divergence as kl_divergence
from agog_layers.losses.regression import logcosh as log_cosh
from agog_layers.metrics.correctness import binary_accuracy as binary_accuracy
from agog_layers.metrics.correctness import categorical_accuracy as categorical_accuracy
from agog_layers.metrics.correctness import sparse_categorical_accuracy as sparse_categorical_accuracy
from agog_layers.metrics.correctness import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from agog_layers.metrics.correctness import top_k_categorical_accuracy as top_k_categorical_accuracy
from agog_layers.metrics.keras.counts import *
from agog_layers.metrics.keras.means import *
from agog_layers.metrics.keras.metric import *
from agog_layers.metrics.keras.operating_points import *
from agog_layers.metrics.keras.scores import *
from agog_layers.metrics.keras.similarity import *
from agog_layers.metrics.lookup import *

_face(globals())
