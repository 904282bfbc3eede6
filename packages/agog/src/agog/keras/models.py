"""``tf.keras.models``: models, and how they are made from their descriptions."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers import Input as Input
from agog_training import Model as Model
from agog_training import Sequential as Sequential
from agog_training import clone_model as clone_model
from agog_training import load_model as load_model
from agog_training import model_from_config as model_from_config
from agog_training import model_from_json as model_from_json
from agog_training import save_model as save_model

_export(globals())

__getattr__ = _taught(__name__)
