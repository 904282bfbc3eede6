"""``tf.keras.datasets.cifar100``: small pictures in a hundred classes."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_data.datasets.cifar100 import load_data as load_data

_export(globals())

__getattr__ = _taught(__name__)
