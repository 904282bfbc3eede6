"""Image generator: batches of randomly augmented images."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import random_uniform, set_random_seed
from agog_keras.layers import RandomFlip, RandomRotation, RandomShear, RandomTranslation, RandomZoom
from agog_keras.preprocessing.image_iterators import DirectoryIterator, NumpyArrayIterator
from agog_keras.preprocessing.images import FORMATS
from agog_layers.arguments.checks import choice, refuse_unknown
from agog_layers.serialization.description import constructor_arguments

__all__ = ["ImageDataGenerator"]

Array = np.ndarray[Any, Any]
# What has no effect here, since images are of float32 and pixels between others are made from both.
_NO_EFFECT = {"dtype", "interpolation_order"}


def _drawn(count: int, low: float, high: float, channels: int) -> Array:
    """A random number for each image, and each channel or all of them."""
    numbers: Array = random_uniform([count, 1, 1, channels], low, high).numpy()
    return numbers


class ImageDataGenerator:
    """Changes images at random: the older way, for which the layers of ``tf.keras.layers`` are the newer one.

    Args:
        featurewise_center: whether the mean that `fit` found is taken off.
        featurewise_std_normalization: whether to divide by the standard deviation that `fit` found.
        rotation_range: the largest angle, in degrees.
        width_shift_range: the largest distance to the left or right, as a share of the width.
        height_shift_range: the largest distance up or down, as a share of the height.
        shear_range: the largest angle by which columns are slanted, in degrees.
        zoom_range: the share by which the part that is seen is smaller or larger; or the least and the largest zoom,
            around 1.
        brightness_range: the least and the largest factor of all values.
        channel_shift_range: the largest number that is added to a channel, or taken off.
        samplewise_center: whether the mean of each image is taken off.
        samplewise_std_normalization: whether each image is divided by its standard deviation.
        fill_mode: what is outside; see `RandomRotation`.
        cval: the value outside for ``"constant"``.
        horizontal_flip: whether images are flipped left and right, or not.
        vertical_flip: whether images are flipped up and down, or not.
        rescale: a factor; None for 1.
        preprocessing_function: a function of an image, which is called last; None for none.
        validation_split: the share of images that ``subset="validation"`` gets, which come first.
        zca_whitening: whether pixels are made independent of one another, as `fit` found them to depend.
        zca_epsilon: what is added to variances before they are divided by.
        data_format: ``"channels_last"``, or ``"channels_first"`` for images of shape (n, channels, height, width); None
            for the last.

    >>> batches = ImageDataGenerator(rescale=1 / 255).flow(np.full((3, 2, 2, 1), 255), batch_size=2, shuffle=False)
    >>> len(batches), batches[0].shape, float(batches[0].max())
    (2, (2, 2, 2, 1), 1.0)
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        rotation_range: float = 0,
        width_shift_range: float = 0.0,
        height_shift_range: float = 0.0,
        zoom_range: Any = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[Array], Array] | None = None,
        shear_range: float = 0.0,
        brightness_range: tuple[float, float] | None = None,
        channel_shift_range: float = 0.0,
        samplewise_center: bool = False,
        samplewise_std_normalization: bool = False,
        validation_split: float = 0.0,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = [name for name in kwargs if name not in _NO_EFFECT]
        refuse_unknown("ImageDataGenerator", unknown, constructor_arguments(ImageDataGenerator))
        self.data_format = choice("ImageDataGenerator", "data_format", data_format or FORMATS[1], FORMATS)
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.principal_components: Any = None
        if not 0 <= validation_split < 1:
            raise ValueError(f"ImageDataGenerator: validation_split must be in [0, 1); got {validation_split!r}.")
        self.validation_split = validation_split
        self.brightness_range, self.channel_shift_range = brightness_range, channel_shift_range
        self.samplewise_center, self.samplewise_std_normalization = samplewise_center, samplewise_std_normalization
        self.featurewise_center, self.featurewise_std_normalization = featurewise_center, featurewise_std_normalization
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.mean: Any = None
        self.std: Any = None
        outside: dict[str, Any] = {"fill_mode": fill_mode, "fill_value": cval}
        self._layers: list[Any] = []
        if rotation_range:
            self._layers.append(RandomRotation(rotation_range / 360, **outside))
        if width_shift_range or height_shift_range:
            self._layers.append(RandomTranslation(height_shift_range, width_shift_range, **outside))
        if shear_range:
            self._layers.append(RandomShear(0.0, math.sin(math.radians(shear_range)), **outside))
        if zoom_range:
            zooms = zoom_range if isinstance(zoom_range, (int, float)) else tuple(zoom - 1 for zoom in zoom_range)
            self._layers.append(RandomZoom(zooms, zooms, **outside))
        self._layers += [RandomFlip("horizontal")] if horizontal_flip else []
        self._layers += [RandomFlip("vertical")] if vertical_flip else []

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Find the mean and the standard deviation of each channel, and how pixels depend on one another.

        Args:
            x: images of shape (n, height, width, channels).
            augment: whether of images that were changed.
            rounds: how many times they are changed.
            seed: the random seed.

        Raises:
            ValueError: the images have another shape.
        """
        if seed is not None:
            set_random_seed(seed)
        images = np.asarray(x, "float32")
        if images.ndim != 4:
            raise ValueError(
                f"ImageDataGenerator.fit: x must be of shape (n, height, width, channels); got {images.shape}."
            )
        images = self._channels_last(images)
        if augment:
            images = np.concatenate([self._moved(images) for _ in range(rounds)])
        self.mean, self.std = images.mean((0, 1, 2)), images.std((0, 1, 2))
        if self.zca_whitening:
            flat = self._normalized(images).reshape(len(images), -1)
            vectors, variances, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (vectors / np.sqrt(variances + self.zca_epsilon)) @ vectors.T

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """The batches of arrays, changed.

        Args:
            x: images of shape (n, height, width, channels).
            y: labels; None for none.
            batch_size: the number of images in a batch.
            shuffle: whether each epoch has its own order.
            seed: determines the order.
            subset: ``"training"`` or ``"validation"``, as ``validation_split`` parts them; None for all.

        Returns:
            An iterator that goes on forever, with batches by number too.

        Raises:
            ValueError: the arguments do not go together.
        """
        part = self.part(len(x), subset)
        return NumpyArrayIterator(x[part], None if y is None else y[part], self, batch_size, shuffle, seed)

    def flow_from_directory(self, directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> Any:
        """The batches of the images in a folder with a folder for each class, changed; see `DirectoryIterator`.

        Args:
            directory: the folder.
            *args: further arguments of `DirectoryIterator`, after the generator.
            **kwargs: the same by name.

        Returns:
            An iterator that goes on forever, with batches by number too.

        Raises:
            NotFoundError: there is no such folder.
            ValueError: there is no image in it, or the arguments do not go together.
        """
        return DirectoryIterator(directory, self, *args, **kwargs)

    def part(self, count: int, subset: str | None) -> slice:
        """Which of some images a subset has, as ``validation_split`` says.

        Args:
            count: the number of images.
            subset: ``"training"`` or ``"validation"``, which come first; None for all.

        Returns:
            A slice of the images.

        Raises:
            ValueError: the subset is another, or there is no ``validation_split``.
        """
        if subset not in (None, "training", "validation"):
            raise ValueError(f"ImageDataGenerator: subset must be 'training', 'validation' or None; got {subset!r}.")
        if subset is None:
            return slice(None)
        if not self.validation_split:
            raise ValueError(f"ImageDataGenerator: subset={subset!r} goes with validation_split; pass that too.")
        first = int(count * self.validation_split)
        return slice(first) if subset == "validation" else slice(first, None)

    def changed(self, images: Array) -> Array:
        """Change a batch of images.

        Args:
            images: an array of shape (n, height, width, channels).

        Returns:
            An array of float32.

        Raises:
            RuntimeError: moments are needed, and `fit` was not called.
        """
        x = self._standardized(self._transformed(self._channels_last(images.astype("float32"))))
        x = np.moveaxis(x, -1, 1) if self.data_format == "channels_first" else x
        if self.preprocessing_function is not None:
            x = np.stack([self.preprocessing_function(image) for image in x])
        return x

    def random_transform(self, x: Array, seed: int | None = None) -> Array:
        """Change a single image at random, but for what `standardize` does.

        Args:
            x: the image.
            seed: the random seed; None for what comes next.

        Returns:
            An image of the same shape.
        """
        if seed is not None:
            set_random_seed(seed)
        images = self._channels_last(np.asarray(x, "float32")[np.newaxis])
        changed = self._transformed(images)
        found: Array = np.moveaxis(changed, -1, 1)[0] if self.data_format == "channels_first" else changed[0]
        return found

    def standardize(self, x: Array) -> Array:
        """Rescale, center, scale and whiten an image, or a batch of them.

        Args:
            x: the image, or the images.

        Returns:
            An array of the same shape.

        Raises:
            RuntimeError: moments are needed, and `fit` was not called.
        """
        given = np.asarray(x, "float32")
        images = self._standardized(self._channels_last(given if given.ndim == 4 else given[np.newaxis]))
        images = np.moveaxis(images, -1, 1) if self.data_format == "channels_first" else images
        found: Array = images if given.ndim == 4 else images[0]
        return found

    def _standardized(self, x: Array) -> Array:
        fitted = self.featurewise_center or self.featurewise_std_normalization or self.zca_whitening
        if fitted and self.mean is None:
            raise RuntimeError("ImageDataGenerator: call fit on images first, which finds their mean and deviation.")
        if self.rescale is not None:
            x = x * np.float32(self.rescale)
        if self.samplewise_center:
            x = x - x.mean((1, 2, 3), keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (x.std((1, 2, 3), keepdims=True) + 1e-6)
        x = self._normalized(x)
        if self.zca_whitening:
            x = (x.reshape(len(x), -1) @ self.principal_components).reshape(x.shape)
        return x

    def _transformed(self, images: Array) -> Array:
        x = self._moved(images)
        if self.brightness_range is not None:
            x = np.clip(x * _drawn(len(x), *self.brightness_range, 1), 0, 255)
        if self.channel_shift_range:
            low, high = x.min((1, 2, 3), keepdims=True), x.max((1, 2, 3), keepdims=True)
            shift = _drawn(len(x), -self.channel_shift_range, self.channel_shift_range, x.shape[-1])
            x = np.clip(x + shift, low, high)
        return x

    def _channels_last(self, images: Array) -> Array:
        return np.moveaxis(images, 1, -1) if self.data_format == "channels_first" else images

    def _normalized(self, images: Array) -> Array:
        x = images - self.mean if self.featurewise_center else images
        return x / (self.std + 1e-6) if self.featurewise_std_normalization else x

    def _moved(self, images: Array) -> Array:
        x: Any = images
        for layer in self._layers:
            x = layer(x, training=True)
        return x if isinstance(x, np.ndarray) else x.numpy()
