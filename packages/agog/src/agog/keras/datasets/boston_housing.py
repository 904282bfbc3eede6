"""``tf.keras.datasets.boston_housing``: prices of houses around Boston."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.boston_housing import load_data

__all__ = ["load_data"]

__getattr__ = _taught(__name__)
