"""``tf.compat``: text and bytes; ``v1`` is ``tf`` itself, whose names are TensorFlow 1.12's."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_compat.text import *
from agog_compat.text import as_text as as_str
from agog_core.exports import later as _later

if TYPE_CHECKING:
    import agog as v1

__getattr__, __dir__ = _later(__name__, modules={"v1": "agog"})
__getattr__ = _taught(__name__, __getattr__)
