"""``tf.image``: resizing, crops, flips, colors, patches, how images compare, and their files."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_core.ops.conv.patches import *
from agog_core.ops.image import *
from agog_core.ops.image.geometry import resize_image_with_crop_or_pad as resize_with_crop_or_pad
from agog_core.ops.random.uniform_and_normal import random_crop as random_crop

if TYPE_CHECKING:
    from agog_data.images import *
    from agog_keras.layers.resizing import resize as resize

# Files are read with agog_data, which most programs import later, if at all.
__getattr__, __dir__ = _later(
    __name__,
    rooms=["agog_data.images", _Some("agog_keras.layers.resizing", "resize")],
)
__getattr__ = _taught(__name__, __getattr__)
