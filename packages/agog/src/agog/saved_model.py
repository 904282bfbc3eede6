"""``tf.saved_model``: functions, variables and files of a model, which load without its class."""

from functools import partial as _partial
from importlib import import_module as _import_module

from agog_compat.advice import taught as _taught
from agog_compat.graph_only import Refused as _Refused
from agog_core.exports import later as _later
from agog_saved_model import Asset as Asset
from agog_saved_model import LoadOptions as LoadOptions
from agog_saved_model import SaveOptions as SaveOptions
from agog_saved_model import contains_saved_model as contains_saved_model
from agog_saved_model import load as load
from agog_saved_model import save as save
from agog_saved_model.loading import late_functions as _late_functions

ASSETS_DIRECTORY = "assets"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING = "serve"
TRAINING = "train"


# Saved models may name their functions on the host.
_late_functions += [_partial(_import_module, name) for name in ("agog_compat.lookup.tables", "agog_keras.layers")]
__getattr__, __dir__ = _later(__name__, rooms=[_Refused("tf.saved_model")])
__getattr__ = _taught(__name__, __getattr__)
