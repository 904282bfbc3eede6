"""Augmentation: layers that change images at random in training only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core import (
    Tensor,
    TensorShape,
    broadcast_to,
    cast,
    clip_by_value,
    convert_to_tensor,
    cos,
    expand_dims,
    random_uniform,
    reduce_mean,
    reshape,
    reverse,
    sin,
    where,
)
from agog_core import range as numbers
from agog_keras.layers.adaptation import Preprocessing
from agog_keras.layers.resizing import CenterCrop, Resizing
from agog_keras.layers.warping import FILLS, warped
from agog_layers.arguments.checks import choice, integer

__all__ = [
    "RandomBrightness",
    "RandomContrast",
    "RandomCrop",
    "RandomFlip",
    "RandomRotation",
    "RandomShear",
    "RandomTranslation",
    "RandomZoom",
]

_FLIPS = ("horizontal_and_vertical", "horizontal", "vertical")


class Augmentation(Preprocessing):
    """Base of layers that change images: of shape (n, height, width, channels), or (height, width, channels)."""

    # Every layer here keeps one.
    seed: int | None

    def call(self, inputs: Tensor, training: Any = True) -> Tensor:
        """Change each image in its own way, while training; else return them in float32."""
        x = cast(convert_to_tensor(inputs), "float32")
        if not training:
            return self.unchanged(x)
        return self.changed(expand_dims(x, 0))[0] if len(x._shape) == 3 else self.changed(x)

    def changed(self, images: Tensor) -> Tensor:
        """Change images; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__}.changed is not implemented; it changes images.")

    def unchanged(self, images: Tensor) -> Tensor:
        """The output if nothing is changed."""
        return images

    def drawn(self, images: Tensor, low: float, high: float) -> Tensor:
        """A random number for each image, of shape (n, 1, 1)."""
        return random_uniform([images._shape[0], 1, 1], low, high, seed=self.seed)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


class RandomFlip(Augmentation):
    """Flip each image, or not, at random.

    Args:
        mode: ``"horizontal_and_vertical"``, ``"horizontal"`` for left and right, or ``"vertical"``.
        seed: the op's seed.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the mode is unknown.

    >>> import agog_core as ag
    >>> RandomFlip("horizontal")(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 3, 3, 1])
    """

    def __init__(self, mode: str = "horizontal_and_vertical", seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mode, self.seed = choice("RandomFlip", "mode", mode, _FLIPS), seed

    def changed(self, images: Tensor) -> Tensor:
        """Flip about half of the images, along each axis of the mode."""
        for name, axis in (("horizontal", 2), ("vertical", 1)):
            if name in self.mode:
                chosen = expand_dims(self.drawn(images, 0.0, 1.0) < 0.5, -1)
                images = where(broadcast_to(chosen, images._shape), reverse(images, [axis]), images)
        return images


class RandomCrop(Augmentation):
    """Cut a part out of each image, at a random place; otherwise the middle.

    Args:
        height: the new height.
        width: the new width; of a smaller image, one of the new size is made.
        seed: the op's seed.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> RandomCrop(2, 2)(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 2, 2, 1])
    """

    def __init__(self, height: int, width: int, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.height, self.width = integer("RandomCrop", "height", height), integer("RandomCrop", "width", width)
        self.seed = seed

    def changed(self, images: Tensor) -> Tensor:
        """Cut parts of the new size out."""
        high, wide = images._shape[1] - self.height, images._shape[2] - self.width
        if high < 0 or wide < 0:
            resized: Tensor = Resizing(self.height, self.width, crop_to_aspect_ratio=True)(images)
            return resized
        top = cast(cast(self.drawn(images, 0.0, high + 1.0), "int32"), "float32")
        left = cast(cast(self.drawn(images, 0.0, wide + 1.0), "int32"), "float32")
        y, x = _grid(images._shape[0], self.height, self.width)
        return warped(images, y + top, x + left, "nearest", interpolation="nearest")

    def unchanged(self, images: Tensor) -> Tensor:
        """The middle."""
        middle: Tensor = CenterCrop(self.height, self.width)(images)
        return middle

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return CenterCrop(self.height, self.width).compute_output_shape(input_shape)


class Warp(Augmentation):
    """Base of layers that turn, move and zoom images; for the arguments see `RandomRotation`."""

    def __init__(self, fill_mode: str, interpolation: str, seed: int | None, fill_value: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        kind = type(self).__name__
        self.fill_mode = choice(kind, "fill_mode", fill_mode, FILLS)
        self.interpolation = choice(kind, "interpolation", interpolation, ("bilinear", "nearest"))
        self.seed, self.fill_value = seed, fill_value

    def changed(self, images: Tensor) -> Tensor:
        """Take each pixel from where `places` says."""
        count, height, width = images._shape[:3]
        y, x = _grid(count, height, width)
        middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
        y, x = self.places(images, y - middle_y, x - middle_x)
        return warped(images, y + middle_y, x + middle_x, self.fill_mode, self.fill_value, self.interpolation)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """From where pixels come, all measured from the middle; subclasses say how."""
        raise NotImplementedError(f"{type(self).__name__}.places is not implemented; it says where pixels come from.")


class RandomRotation(Warp):
    """Turn each image by a random angle.

    Args:
        factor: the largest angle in shares of a full turn, to either side; or the least, which may be negative, and the
            largest.
        fill_mode: what is outside of the image: ``"reflect"`` for the image in a mirror, ``"wrap"`` for the image
            again, ``"nearest"`` for the pixel at the edge, ``"constant"`` for ``fill_value``.
        interpolation: ``"bilinear"`` or ``"nearest"``.
        seed: the op's seed.
        fill_value: the value outside for ``"constant"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is unknown.

    >>> import agog_core as ag
    >>> RandomRotation(0.1)(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 3, 3, 1])
    """

    def __init__(
        self,
        factor: float | Sequence[float],
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.factor = factor
        self._turns = bounds("RandomRotation", "factor", factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Turn the places."""
        angle = self.drawn(images, *self._turns) * (2 * math.pi)
        sine, cosine = sin(angle), cos(angle)
        return x * sine + y * cosine, x * cosine - y * sine


class RandomShear(Warp):
    """Slant each image by a random share.

    Args:
        x_factor: how far rows move at most, to either side, for each row of distance from the middle; or the least and
            the largest.
        y_factor: the same for columns, up and down.
        Other arguments: see `RandomRotation`.

    >>> import agog_core as ag
    >>> RandomShear(0.1, 0.1)(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 3, 3, 1])
    """

    def __init__(
        self,
        x_factor: float | Sequence[float] = 0.0,
        y_factor: float | Sequence[float] = 0.0,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.x_factor, self.y_factor = x_factor, y_factor
        self._across = bounds("RandomShear", "x_factor", x_factor)
        self._along = bounds("RandomShear", "y_factor", y_factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Move rows and columns."""
        across, along = self.drawn(images, *self._across), self.drawn(images, *self._along)
        return y + along * x, x + across * y


class RandomTranslation(Warp):
    """Move each image by a random distance.

    Args:
        height_factor: the largest distance up or down, as a share of the height; or the least and the largest, where
            negative is up.
        width_factor: the same to the left, negative, or to the right, as a share of the width.
        Other arguments: see `RandomRotation`.

    >>> import agog_core as ag
    >>> RandomTranslation(0.1, 0.1)(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 3, 3, 1])
    """

    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float],
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._down = bounds("RandomTranslation", "height_factor", height_factor)
        self._right = bounds("RandomTranslation", "width_factor", width_factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Move the places the other way."""
        height, width = images._shape[1:3]
        down, right = self.drawn(images, *self._down), self.drawn(images, *self._right)
        return y - down * float(height), x - right * float(width)


class RandomZoom(Warp):
    """Zoom each image by a random factor.

    Args:
        height_factor: the largest relative increase or decrease of the visible part's height; or the least and the
            largest, where negative shows less: it zooms in.
        width_factor: the same for the width; None for the factor that was drawn for the height.
        Other arguments: see `RandomRotation`.

    >>> import agog_core as ag
    >>> RandomZoom(0.1)(ag.ones([2, 3, 3, 1])).shape
    TensorShape([2, 3, 3, 1])
    """

    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float] | None = None,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._height = bounds("RandomZoom", "height_factor", height_factor)
        self._width = None if width_factor is None else bounds("RandomZoom", "width_factor", width_factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Stretch the places."""
        higher = self.drawn(images, *self._height) + 1.0
        wider = higher if self._width is None else self.drawn(images, *self._width) + 1.0
        return y * higher, x * wider


class RandomContrast(Augmentation):
    """Bring the values of each image nearer to their mean by channel, or farther from it, by a random factor.

    Args:
        factor: how far the factor is from 1 at most; or how far below 1 and above it.
        seed: the op's seed.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> print(RandomContrast(0.5)(ag.ones([1, 1, 2, 1]))[0, 0, :, 0])
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def __init__(self, factor: float | Sequence[float], seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor, self.seed = factor, seed
        lower, upper = (factor, factor) if isinstance(factor, (int, float)) else factor
        self._factors = (1.0 - lower, 1.0 + upper)

    def changed(self, images: Tensor) -> Tensor:
        """Scale what differs from the mean."""
        mean = reduce_mean(images, [1, 2], keepdims=True)
        factor = reshape(self.drawn(images, *self._factors), [-1, 1, 1, 1])
        return mean + (images - mean) * factor


class RandomBrightness(Augmentation):
    """Add a random number to each image, and keep to the range of values.

    Args:
        factor: the largest share of the range that is added or taken off; or the least and the largest.
        value_range: the least value and the largest.
        seed: the op's seed.
        **kwargs: further arguments of `Layer`.

    >>> import agog_core as ag
    >>> RandomBrightness(0.5, value_range=(0.0, 1.0))(ag.ones([1, 1, 2, 1])).shape
    TensorShape([1, 1, 2, 1])
    """

    def __init__(
        self,
        factor: float | Sequence[float],
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.factor, self.value_range, self.seed = factor, tuple(value_range), seed
        self._shares = bounds("RandomBrightness", "factor", factor)

    def changed(self, images: Tensor) -> Tensor:
        """Add the numbers."""
        low, high = (float(each) for each in self.value_range)
        change = reshape(self.drawn(images, *self._shares), [-1, 1, 1, 1]) * (high - low)
        return clip_by_value(images + change, low, high)


def bounds(layer: str, argument: str, factor: float | Sequence[float]) -> tuple[float, float]:
    """The least and the largest of what an argument says; a ValueError if the first is greater.

    >>> bounds("RandomZoom", "height_factor", 0.5)
    (-0.5, 0.5)
    """
    low, high = (-factor, factor) if isinstance(factor, (int, float)) else factor
    if low > high:
        raise ValueError(
            f"{layer}: {argument} must be a number that is not negative, or (least, largest); got {factor!r}."
        )
    return float(low), float(high)


def _grid(count: int, height: int, width: int) -> tuple[Tensor, Tensor]:
    """The rows and columns of pixels, of shape (count, height, width)."""
    rows, columns = cast(numbers(height), "float32"), cast(numbers(width), "float32")
    nothing = cast(numbers(count * height * width), "float32") * 0.0
    zero = reshape(nothing, [count, height, width])
    return zero + reshape(rows, [1, height, 1]), zero + reshape(columns, [1, 1, width])
