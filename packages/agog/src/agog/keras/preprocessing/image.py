"""``tf.keras.preprocessing.image``: files of images as arrays, and batches that are changed at random."""

from agog_compat.advice import taught as _taught
from agog_training.preparing.pictures import (
    ImageDataGenerator,
    NumpyArrayIterator,
    array_to_img,
    img_to_array,
    load_img,
)

__all__ = ["ImageDataGenerator", "NumpyArrayIterator", "array_to_img", "img_to_array", "load_img"]

__getattr__ = _taught(__name__)
