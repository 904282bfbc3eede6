"""``tf.keras.datasets.california_housing``: prices of houses in California."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets.california_housing import load_data as load_data

_export(globals())

__getattr__ = _taught(__name__)
