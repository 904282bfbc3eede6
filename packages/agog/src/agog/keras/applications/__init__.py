"""``tf.keras.applications``: published networks for images."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import later as _later

if TYPE_CHECKING:
    from agog.keras.applications import densenet as densenet
    from agog.keras.applications import efficientnet as efficientnet
    from agog.keras.applications import imagenet_utils as imagenet_utils
    from agog.keras.applications import inception_v3 as inception_v3
    from agog.keras.applications import mobilenet_v2 as mobilenet_v2
    from agog.keras.applications import resnet as resnet
    from agog.keras.applications import resnet50 as resnet50
    from agog.keras.applications import vgg16 as vgg16
    from agog.keras.applications import vgg19 as vgg19
    from agog_keras.applications import *

# Most programs make their own networks, so these are imported when they are asked for.
_MODULES = (
    "densenet",
    "efficientnet",
    "imagenet_utils",
    "inception_v3",
    "mobilenet_v2",
    "resnet",
    "resnet50",
    "vgg16",
    "vgg19",
)
__getattr__, __dir__ = _later(
    __name__,
    modules={name: f"agog.keras.applications.{name}" for name in _MODULES},
    rooms=["agog_keras.applications"],
)
__getattr__ = _taught(__name__, __getattr__)
