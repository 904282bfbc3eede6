"""Padding: layers that pad, crop and upsample along one to three axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_core import Tensor, broadcast_to, pad, reshape
from agog_core.calls.docstrings import documented_like
from agog_core.ops.image.resizing import resample
from agog_layers.arguments.checks import Sizes, choice, one_for_each, whole
from agog_layers.convolution.spatial_layer import Spatial

__all__ = [
    "Cropping1D",
    "Cropping2D",
    "Cropping3D",
    "UpSampling1D",
    "UpSampling2D",
    "UpSampling3D",
    "ZeroPadding1D",
    "ZeroPadding2D",
    "ZeroPadding3D",
]

Pairs = tuple[tuple[int, int], ...]


def pairs(layer: str, argument: str, value: Any, axes: int) -> Pairs:
    """Read how much is added or removed before and after each axis, as a pair for each.

    The argument is an integer for all ends; one integer for both ends of each axis; or a pair for each axis. For one
    axis a single pair is enough. A ValueError if it is something else.

    >>> pairs("ZeroPadding2D", "padding", (1, 2), 2), pairs("ZeroPadding1D", "padding", (1, 2), 1)
    (((1, 1), (2, 2)), ((1, 2),))
    """
    each = list(value) if isinstance(value, Iterable) else [value] * axes
    if axes == 1 and len(each) == 2 and not any(isinstance(end, Iterable) for end in each):
        each = [each]
    ends = [[whole(end) for end in one] if isinstance(one, Iterable) else [whole(one)] * 2 for one in each]
    if len(ends) != axes or any(len(pair) != 2 or any(end is None or end < 0 for end in pair) for pair in ends):
        many = "a pair of them" if axes == 1 else f"{axes} of them, or {axes} pairs of them"
        raise ValueError(f"{layer}: {argument} must be an integer that is not negative, {many}; got {value!r}.")
    return tuple([(low or 0, high or 0) for low, high in ends])


class ZeroPadding(Spatial):
    """Base of layers that add zeros at the ends of axes.

    Args:
        padding: how many are added: an integer for all ends; one integer for both ends of each axis; or a pair for each
            axis.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs(type(self).__name__, "padding", padding, self.axes)

    def run(self, x: Tensor) -> Tensor:
        return pad(x, [(0, 0), *self.padding, (0, 0)])

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        ends = zip(sizes, self.padding, strict=True)
        return tuple([None if size is None else size + low + high for size, (low, high) in ends])


class ZeroPadding1D(ZeroPadding, axes=1):
    """Add zeros at the ends of one axis; the arguments are those of `ZeroPadding`.

    >>> import agog_core as ag
    >>> ZeroPadding1D((0, 2))(ag.ones([1, 1, 1])).numpy().tolist()
    [[[1.0], [0.0], [0.0]]]
    """


class ZeroPadding2D(ZeroPadding, axes=2):
    """Add zeros around height and width; the arguments are those of `ZeroPadding`.

    >>> import agog_core as ag
    >>> ZeroPadding2D(((1, 0), (2, 2)))(ag.zeros([1, 5, 5, 3])).shape
    TensorShape([1, 6, 9, 3])
    """


class ZeroPadding3D(ZeroPadding, axes=3):
    """Add zeros around depth, height and width; the arguments are those of `ZeroPadding`.

    >>> import agog_core as ag
    >>> ZeroPadding3D()(ag.zeros([1, 2, 3, 4, 5])).shape
    TensorShape([1, 4, 5, 6, 5])
    """


@documented_like(ZeroPadding)
class Cropping(Spatial):
    """Base of layers that remove places at the ends of axes.

    Args:
        cropping: how many are removed: an integer for all ends; one integer for both ends of each axis; or a pair for
            each axis.
    """

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs(type(self).__name__, "cropping", cropping, self.axes)

    def run(self, x: Tensor) -> Tensor:
        self.sizes_after(x._shape[1:-1])
        ends = zip(x._shape[1:-1], self.cropping, strict=True)
        return x[(slice(None), *[slice(low, size - high) for size, (low, high) in ends])]

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        ends = zip(sizes, self.cropping, strict=True)
        after = tuple([None if size is None else size - low - high for size, (low, high) in ends])
        if any(size is not None and size < 0 for size in after):
            raise ValueError(
                f"{type(self).__name__} layer {self.name!r} cannot remove {self.cropping} from axes of sizes {sizes}."
            )
        return after


class Cropping1D(Cropping, axes=1):
    """Remove places at the ends of one axis.

    Args:
        cropping: how many are removed: an integer for both ends, or a pair.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``cropping`` is something else.

    >>> import agog_core as ag
    >>> Cropping1D((1, 0))(ag.constant([[[1.0], [2.0], [3.0]]])).numpy().tolist()
    [[[2.0], [3.0]]]
    """

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__(cropping, **kwargs)


class Cropping2D(Cropping, axes=2):
    """Remove places around height and width; the arguments are those of `Cropping`.

    >>> import agog_core as ag
    >>> Cropping2D(((1, 0), (2, 2)))(ag.zeros([1, 6, 9, 3])).shape
    TensorShape([1, 5, 5, 3])
    """


class Cropping3D(Cropping, axes=3):
    """Remove places around depth, height and width.

    Args:
        Other arguments: see `Cropping`.

    Raises:
        ValueError: an argument is none of these.

    >>> import agog_core as ag
    >>> Cropping3D()(ag.zeros([1, 4, 5, 6, 5])).shape
    TensorShape([1, 2, 3, 4, 5])
    """

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling(Spatial):
    """Base of layers that repeat each place along axes.

    Args:
        size: how often: an integer, or one for each axis.
        data_format: ``"channels_last"``, which None stands for, or ``"channels_first"``.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: an argument is none of these.
    """

    size: Sizes

    def __init__(self, size: Any = 2, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.size = one_for_each(type(self).__name__, "size", size, self.axes)

    def run(self, x: Tensor) -> Tensor:
        batch, *sizes, channels = x._shape
        once, many = [batch], [batch]
        for size, times in zip(sizes, self.size, strict=True):
            once += [size, 1]
            many += [size, times]
        repeated = broadcast_to(reshape(x, (*once, channels)), (*many, channels))
        after = [size * times for size, times in zip(sizes, self.size, strict=True)]
        return reshape(repeated, (batch, *after, channels))

    def sizes_after(self, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
        return tuple([None if size is None else size * times for size, times in zip(sizes, self.size, strict=True)])


class UpSampling1D(UpSampling, axes=1):
    """Repeat each place along one axis.

    Args:
        size: how often.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: ``size`` is not above 0.

    >>> import agog_core as ag
    >>> UpSampling1D()(ag.constant([[[1.0], [2.0]]])).numpy().tolist()
    [[[1.0], [1.0], [2.0], [2.0]]]
    """

    def __init__(self, size: Any = 2, **kwargs: Any) -> None:
        super().__init__(size, **kwargs)


@documented_like(UpSampling)
class UpSampling2D(UpSampling, axes=2):
    """Repeat rows and columns, or interpolate between them.

    Args:
        interpolation: ``"nearest"`` or ``"bilinear"``.

    >>> import agog_core as ag
    >>> UpSampling2D((2, 3))(ag.zeros([1, 5, 5, 3])).shape
    TensorShape([1, 10, 15, 3])
    """

    def __init__(
        self, size: Any = 2, data_format: str | None = None, interpolation: str = "nearest", **kwargs: Any
    ) -> None:
        super().__init__(size, data_format, **kwargs)
        self.interpolation = choice(type(self).__name__, "interpolation", interpolation, ("nearest", "bilinear"))

    def run(self, x: Tensor) -> Tensor:
        if self.interpolation == "nearest":
            return super().run(x)
        height, width = x._shape[1:-1]
        return resample(x, (height * self.size[0], width * self.size[1]), "bilinear", False)


class UpSampling3D(UpSampling, axes=3):
    """Repeat each place along depth, height and width; the arguments are those of `UpSampling`.

    >>> import agog_core as ag
    >>> UpSampling3D()(ag.zeros([1, 2, 3, 4, 5])).shape
    TensorShape([1, 4, 6, 8, 5])
    """
