"""``tf.contrib.learn``: its databases; what else it had is `tf.keras` now."""

from agog.contrib.learn import datasets as datasets
from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export

_export(globals(), "datasets")

__getattr__ = _taught(__name__)
