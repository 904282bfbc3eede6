"""Pictures: files of images as arrays, and batches of arrays that are changed at random."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core import set_random_seed
from agog_layers.preprocessing import RandomFlip, RandomRotation, RandomTranslation, RandomZoom
from agog_training.sequence import Sequence

__all__ = ["ImageDataGenerator", "NumpyArrayIterator", "array_to_img", "img_to_array", "load_img"]

Array = np.ndarray[Any, Any]
_MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("Pillow reads and makes pictures, and is not installed: pip install pillow.") from None
    return Image


def load_img(
    path: str | os.PathLike[str],
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
) -> Any:
    """Read a picture from a file.

    Args:
        path: the file.
        color_mode: ``"rgb"``, ``"rgba"`` or ``"grayscale"``.
        target_size: its height and width; None for those of the file.
        interpolation: how another size is made: ``"nearest"``, ``"bilinear"`` or ``"bicubic"``.

    Returns:
        A picture of Pillow.

    Raises:
        ImportError: Pillow is not installed.
        ValueError: the mode or the interpolation is unknown.
    """
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


class NumpyArrayIterator(Sequence):
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
        self.generator, self.batch_size, self.shuffle = generator, batch_size, shuffle
        self._random = np.random.Generator(np.random.Philox(seed))
        self.n = len(self.x)
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        rows = self._order[index * self.batch_size : (index + 1) * self.batch_size]
        images = self.generator.changed(self.x[rows])
        return images if self.y is None else (images, self.y[rows])

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from super().__iter__()

    def __next__(self) -> Any:
        self._batches = getattr(self, "_batches", None) or iter(self)
        return next(self._batches)

    def on_epoch_end(self) -> None:
        """See `Sequence.on_epoch_end`; it shuffles."""
        self._order = self._random.permutation(self.n) if self.shuffle else np.arange(self.n)


class ImageDataGenerator:
    """Changes images at random: the older way, for which the layers of ``tf.keras.layers`` are the newer one.

    Args:
        featurewise_center: whether the mean that `fit` found is taken off.
        featurewise_std_normalization: whether to divide by the standard deviation that `fit` found.
        rotation_range: the largest angle, in degrees.
        width_shift_range: the largest distance to the left or right, as a share of the width.
        height_shift_range: the largest distance up or down, as a share of the height.
        zoom_range: the share by which the part that is seen is smaller or larger.
        fill_mode: what is outside; see `RandomRotation`.
        cval: the value outside for ``"constant"``.
        horizontal_flip: whether images are flipped left and right, or not.
        vertical_flip: whether images are flipped up and down, or not.
        rescale: a factor; None for 1.
        preprocessing_function: a function of an image, which is called last; None for none.

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
        zoom_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[Array], Array] | None = None,
    ) -> None:
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
        if zoom_range:
            self._layers.append(RandomZoom(zoom_range, zoom_range, **outside))
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
        self, x: Any, y: Any = None, batch_size: int = 32, shuffle: bool = True, seed: int | None = None
    ) -> NumpyArrayIterator:
        """The batches of arrays, changed.

        Args:
            x: images of shape (n, height, width, channels).
            y: labels; None for none.
            batch_size: the number of images in a batch.
            shuffle: whether each epoch has its own order.
            seed: determines the order.

        Returns:
            An iterator that goes on forever, with batches by number too.
        """
        return NumpyArrayIterator(x, y, self, batch_size, shuffle, seed)

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
        if self.rescale is not None:
            x = x * np.float32(self.rescale)
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
