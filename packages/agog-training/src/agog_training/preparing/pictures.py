"""Pictures: files of images as arrays, and batches of arrays that are changed at random."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core import random_uniform, set_random_seed
from agog_layers.base.arguments import refuse_unknown
from agog_layers.base.configured import constructor_arguments
from agog_layers.preprocessing import RandomFlip, RandomRotation, RandomShear, RandomTranslation, RandomZoom
from agog_training.sequence import Sequence

__all__ = ["ImageDataGenerator", "NumpyArrayIterator", "array_to_img", "img_to_array", "load_img"]

Array = np.ndarray[Any, Any]
# What has no effect here, since images are of float32 and pixels between others are made from both.
_NO_EFFECT = {"dtype", "interpolation_order", "zca_epsilon"}
_MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("Pillow reads and makes pictures, and is not installed: pip install pillow.") from None
    return Image


def load_img(
    path: str | os.PathLike[str],
    color_mode: str | bool = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    grayscale: bool = False,
) -> Any:
    """Read a picture from a file.

    Args:
        path: the file.
        color_mode: ``"rgb"``, ``"rgba"`` or ``"grayscale"``.
        target_size: its height and width; None for those of the file.
        interpolation: how another size is made: ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.
        grayscale: the older name of ``color_mode="grayscale"``.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the mode or the interpolation is unknown.
    """
    if grayscale or color_mode is True:  # it was the second argument
        color_mode = "grayscale"
    methods = {"nearest": 0, "bilinear": 2, "bicubic": 3}
    if color_mode not in _MODES or interpolation not in methods:
        raise ValueError(
            f"load_img: color_mode must be one of {', '.join(_MODES)}, and interpolation one of {', '.join(methods)}; "
            f"got {color_mode!r} and {interpolation!r}."
        )
    picture = _pillow().open(path).convert(_MODES[color_mode])
    return picture if target_size is None else picture.resize(target_size[::-1], methods[interpolation])


def img_to_array(img: Any, dtype: Any = "float32") -> Array:
    """Make an array of a picture.

    Args:
        img: a picture of Pillow, or an array of shape (height, width) or (height, width, channels).
        dtype: the dtype.

    Returns:
        An array of shape (height, width, channels).

    >>> img_to_array(np.zeros((2, 3), "u1")).shape
    (2, 3, 1)
    """
    array = np.asarray(img).astype(dtype)
    return array[..., np.newaxis] if array.ndim == 2 else array


def array_to_img(x: Any, scale: bool = True) -> Any:
    """Make a picture of an array.

    Args:
        x: an array or tensor of shape (height, width, channels), with 1, 3 or 4 channels.
        scale: whether the least value becomes 0, and the largest 255.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
    """
    array = np.asarray(x).astype("float32")
    if scale:
        array = array - array.min()
        array = array * (255.0 / array.max()) if array.max() else array
    return _pillow().fromarray((array[..., 0] if array.shape[-1] == 1 else array).astype("uint8"))


def _drawn(count: int, low: float, high: float, channels: int) -> Array:
    """A random number for each image, and each channel or all of them."""
    numbers: Array = random_uniform([count, 1, 1, channels], low, high).numpy()
    return numbers


class Batches(Sequence):
    """Base of the batches that an `ImageDataGenerator` changes: they go on forever, and are there by number too."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle = n, batch_size, shuffle
        self._random = np.random.Generator(np.random.Philox(seed))
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__}: there are {len(self)} batches; got the number {index}.")
        return self.batch(self._order[index * self.batch_size : (index + 1) * self.batch_size])

    def batch(self, rows: Array) -> Any:
        """The images of some numbers, and their labels; subclasses say which."""
        raise NotImplementedError(f"{type(self).__name__}.batch is not implemented; it returns images and labels.")

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from super().__iter__()

    def __next__(self) -> Any:
        self._batches = getattr(self, "_batches", None) or iter(self)
        return next(self._batches)

    def next(self) -> Any:
        """The next batch.

        Returns:
            The images, or a pair of images and labels.
        """
        return next(self)

    def reset(self) -> None:
        """Begin with the first batch again."""
        self._batches = iter(self)

    def on_epoch_end(self) -> None:
        """See `Sequence.on_epoch_end`; it shuffles."""
        self._order = self._random.permutation(self.n) if self.shuffle else np.arange(self.n)


class NumpyArrayIterator(Batches):
    """The batches of arrays that an `ImageDataGenerator` changes: it goes on forever, and has batches by number.

    Args:
        x: images of shape (n, height, width, channels).
        y: labels; None for none.
        generator: the `ImageDataGenerator`.
        batch_size: the number of images in a batch.
        shuffle: whether each epoch has its own order.
        seed: determines the order.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> None:
        self.x, self.y = np.asarray(x), None if y is None else np.asarray(y)
        if self.x.ndim != 4 or (self.y is not None and len(self.y) != len(self.x)):
            raise ValueError(
                "ImageDataGenerator.flow: x must be of shape (n, height, width, channels), and y of n labels; got "
                f"{self.x.shape} and {None if self.y is None else self.y.shape}."
            )
        self.generator = generator
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def batch(self, rows: Array) -> Any:
        """See `Batches.batch`."""
        images = self.generator.changed(self.x[rows])
        return images if self.y is None else (images, self.y[rows])


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
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = [name for name in kwargs if name not in _NO_EFFECT]
        refuse_unknown("ImageDataGenerator", unknown, constructor_arguments(ImageDataGenerator))
        if zca_whitening or data_format == "channels_first":
            raise NotImplementedError(
                "ImageDataGenerator: zca_whitening and channels_first are not supported; pass a preprocessing_function."
            )
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
        """Find the mean and the standard deviation of each channel.

        Args:
            x: images of shape (n, height, width, channels).
            augment: whether of images that were changed.
            rounds: how many times they are changed.
            seed: the random seed.
        """
        if seed is not None:
            set_random_seed(seed)
        images = np.asarray(x, "float32")
        if augment:
            images = np.concatenate([self._moved(images) for _ in range(rounds)])
        self.mean, self.std = images.mean((0, 1, 2)), images.std((0, 1, 2))

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
        from agog_training.preparing.directories import DirectoryIterator  # by name, because it stands on this file

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
        x = self._moved(images.astype("float32"))
        if (self.featurewise_center or self.featurewise_std_normalization) and self.mean is None:
            raise RuntimeError("ImageDataGenerator: call fit on images first, which finds their mean and deviation.")
        if self.brightness_range is not None:
            x = np.clip(x * _drawn(len(x), *self.brightness_range, 1), 0, 255)
        if self.channel_shift_range:
            low, high = x.min((1, 2, 3), keepdims=True), x.max((1, 2, 3), keepdims=True)
            shift = _drawn(len(x), -self.channel_shift_range, self.channel_shift_range, x.shape[-1])
            x = np.clip(x + shift, low, high)
        if self.rescale is not None:
            x = x * np.float32(self.rescale)
        if self.samplewise_center:
            x = x - x.mean((1, 2, 3), keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (x.std((1, 2, 3), keepdims=True) + 1e-6)
        x = x - self.mean if self.featurewise_center else x
        x = x / (self.std + 1e-6) if self.featurewise_std_normalization else x
        if self.preprocessing_function is not None:
            x = np.stack([self.preprocessing_function(image) for image in x])
        return x

    def _moved(self, images: Array) -> Array:
        x: Any = images
        for layer in self._layers:
            x = layer(x, training=True)
        return x if isinstance(x, np.ndarray) else x.numpy()
