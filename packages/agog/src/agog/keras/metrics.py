"""``tf.keras.metrics``: metrics of each example and over batches, and how they are named."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers.losses.classification import *
from agog_layers.losses.imbalanced import binary_focal_crossentropy as binary_focal_crossentropy
from agog_layers.losses.imbalanced import categorical_focal_crossentropy as categorical_focal_crossentropy
from agog_layers.losses.named import KLD as KLD
from agog_layers.losses.named import MAE as MAE
from agog_layers.losses.named import MAPE as MAPE
from agog_layers.losses.named import MSE as MSE
from agog_layers.losses.named import MSLE as MSLE
from agog_layers.losses.named import cosine as cosine
from agog_layers.losses.named import kld as kld
from agog_layers.losses.named import mae as mae
from agog_layers.losses.named import mape as mape
from agog_layers.losses.named import mse as mse
from agog_layers.losses.named import msle as msle
from agog_layers.losses.regression import *
from agog_layers.losses.regression import kullback_leibler_divergence as kl_divergence
from agog_layers.losses.regression import logcosh as log_cosh
from agog_layers.metrics.correctness import binary_accuracy as binary_accuracy
from agog_layers.metrics.correctness import categorical_accuracy as categorical_accuracy
from agog_layers.metrics.correctness import sparse_categorical_accuracy as sparse_categorical_accuracy
from agog_layers.metrics.correctness import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from agog_layers.metrics.correctness import top_k_categorical_accuracy as top_k_categorical_accuracy
from agog_layers.metrics.keras.at_points import *
from agog_layers.metrics.keras.counts import *
from agog_layers.metrics.keras.likeness import *
from agog_layers.metrics.keras.means import *
from agog_layers.metrics.keras.metric import *
from agog_layers.metrics.keras.scores import *
from agog_layers.metrics.named import *

_export(globals())

__getattr__ = _taught(__name__)
