"""``tf.keras.datasets.boston_housing``: prices of houses around Boston."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets.boston_housing import load_data as load_data

_export(globals())

__getattr__ = _taught(__name__)
