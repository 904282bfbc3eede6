"""``tf.app``: how programs start."""

from agog import flags
from agog_compat.advice import taught as _taught
from agog_compat.app import run

__all__ = ["flags", "run"]

__getattr__ = _taught(__name__)
