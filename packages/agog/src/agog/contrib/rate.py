"""``tf.contrib.rate``: how fast values change."""

from agog_compat.advice import taught as _taught
from agog_compat.rate import Rate as Rate
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
