"""``tf.keras.preprocessing.image``: files of images as arrays, and batches that are changed at random."""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_training.preparing.image_generator import *
from agog_training.preparing.pictures import *

if TYPE_CHECKING:
    from agog_training.preparing.directories import DirectoryIterator as DirectoryIterator


# Its file reads datasets too, which most programs import later, if at all.
__getattr__, __dir__ = _later(__name__, rooms=[_Some("agog_training.preparing.directories", "DirectoryIterator")])
__getattr__ = _taught(__name__, __getattr__)
