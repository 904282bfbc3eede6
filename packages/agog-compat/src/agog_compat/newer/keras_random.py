"""Keras random: functions of ``tf.keras.random``, whose seeds may be generators.

A seed goes on from call to call, as those of TensorFlow's ops do and as traced functions need it; Keras repeats with an
int. Generators of one seed share what they draw. `tf.contrib.stateless` repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor, nn
from agog_core.ops.random.distributions import categorical as drawn_classes

__all__ = ["SeedGenerator", "categorical", "dropout", "normal", "randint", "shuffle", "truncated_normal", "uniform"]


class SeedGenerator:
    """A seed that functions of ``tf.keras.random`` take: each call goes on where the last one of that seed has ended.

    Args:
        seed: the seed; None for that of `tf.set_random_seed`.

    >>> generator = SeedGenerator(3)
    >>> bool(ag.reduce_all(ag.equal(normal([2], seed=generator), normal([2], seed=generator))))
    False
    """

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments.

        Returns:
            A dict.
        """
        return {"seed": self.seed}


Seed = int | SeedGenerator | None


def _number(seed: Seed) -> int | None:
    return seed.seed if isinstance(seed, SeedGenerator) else seed


def normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Seed = None
) -> Tensor:
    """Numbers of a normal distribution.

    Args:
        shape: the shape.
        mean: the mean.
        stddev: the standard deviation.
        dtype: the dtype; None for float32.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.

    >>> normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return ag.random_normal(list(shape), mean, stddev, dtype or "float32", _number(seed))


def truncated_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Seed = None
) -> Tensor:
    """Numbers of a normal distribution, within two standard deviations. See `normal`.

    Args:
        shape: the shape.
        mean: the mean.
        stddev: the standard deviation.
        dtype: the dtype; None for float32.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.
    """
    return ag.truncated_normal(list(shape), mean, stddev, dtype or "float32", _number(seed))


def uniform(shape: Sequence[Any], minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Seed = None) -> Tensor:
    """Numbers that are equally likely.

    Args:
        shape: the shape.
        minval: the least number.
        maxval: the number to stay below.
        dtype: the dtype; None for float32.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.

    >>> uniform([2, 3]).shape
    TensorShape([2, 3])
    """
    return ag.random_uniform(list(shape), minval, maxval, dtype or "float32", _number(seed))


def randint(shape: Sequence[Any], minval: int, maxval: int, dtype: Any = "int32", seed: Seed = None) -> Tensor:
    """Integers that are equally likely. See `uniform`.

    Args:
        shape: the shape.
        minval: the least number.
        maxval: the number to stay below.
        dtype: the dtype.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.
    """
    return uniform(shape, minval, maxval, dtype, seed)


def categorical(logits: TensorLike, num_samples: int, dtype: Any = "int32", seed: Seed = None) -> Tensor:
    """Numbers of classes.

    Args:
        logits: how likely the classes are, of shape (batch, classes).
        num_samples: how many numbers are drawn for each.
        dtype: the dtype.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor of shape (batch, num_samples).

    >>> categorical([[0.0, 0.0]], 5).shape
    TensorShape([1, 5])
    """
    return ag.cast(drawn_classes(logits, num_samples, seed=_number(seed)), dtype)


def dropout(inputs: TensorLike, rate: float, noise_shape: Any = None, seed: Seed = None) -> Tensor:
    """Drop elements at random, and scale the others up.

    Args:
        inputs: a tensor.
        rate: the share that is dropped.
        noise_shape: the shape of what is drawn; None for that of the inputs.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.

    >>> dropout(ag.ones([4]), 0.0).numpy().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    dropped: Tensor = nn.dropout(inputs, rate=rate, noise_shape=noise_shape, seed=_number(seed))
    return dropped


def shuffle(x: TensorLike, axis: int = 0, seed: Seed = None) -> Tensor:
    """Put what is along an axis into a random order.

    Args:
        x: a tensor.
        axis: the axis.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor of the same shape.

    >>> sorted(shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    tensor = convert_to_tensor(x)
    order = ag.random_shuffle(ag.range(tensor.shape[axis]), _number(seed))
    return ag.gather(tensor, order, axis=axis)
