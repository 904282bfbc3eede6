"""``tf.keras.datasets.california_housing``: prices of houses in California."""

from agog_compat.advice import taught as _taught
from agog_data.datasets.california_housing import load_data

__all__ = ["load_data"]

__getattr__ = _taught(__name__)
