"""Random: functions of ``tf.keras.random``, with Keras's seeds.

An integer gives the same numbers in each call, a `SeedGenerator` goes on from call to call, and each generator has a
stream of its own. Without a seed, numbers are those of `tf.set_random_seed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor, nn
from agog_core.calls.docstrings import documented_like
from agog_core.ops.random.distributions import categorical as drawn_classes
from agog_core.random import Generator
from agog_core.tensors.convert import whole
from agog_core.tracers import late

__all__ = [
    "SeedGenerator",
    "beta",
    "binomial",
    "categorical",
    "dropout",
    "gamma",
    "normal",
    "randint",
    "shuffle",
    "truncated_normal",
    "uniform",
]


class SeedGenerator(Generator):
    """A seed that functions of ``tf.keras.random`` take: each call goes on where the last one with it has ended.

    Checkpoints hold how far it has come.

    Args:
        seed: the seed; None for one that `tf.set_random_seed` decides.

    Raises:
        ValueError: the seed is no integer, or below 0.

    >>> generator, other = SeedGenerator(3), SeedGenerator(3)
    >>> first, second = normal([2], seed=generator), normal([2], seed=generator)
    >>> bool(ag.reduce_all(ag.equal(first, second))), bool(ag.reduce_all(ag.equal(first, normal([2], seed=other))))
    (False, True)
    """

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        if seed is None:
            seed = int(ag.random_uniform([], 0, 2**31 - 1, "int32").numpy())
        if not isinstance(seed, int) or seed < 0:
            raise ValueError(f"SeedGenerator: seed must be an integer of 0 or more; got {seed!r}.")
        super().__init__(seed)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments.

        Returns:
            A dict.
        """
        return {"seed": self.seed}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SeedGenerator:
        """A generator of what `get_config` returned.

        Args:
            config: the dict.

        Returns:
            A new generator, at its beginning.
        """
        return cls(**config)


Seed = int | SeedGenerator | None


def _source(seed: Seed) -> Any:
    """What ops take their bits from."""
    if seed is None:
        return None
    if not isinstance(seed, (int, SeedGenerator)):
        raise ValueError(
            f"A seed must be an integer, a SeedGenerator or None; got {seed!r} of type {type(seed).__name__}."
        )
    if isinstance(seed, int):
        return lambda values: Generator(seed).reserve(0, values)
    return lambda values: late(lambda: seed.reserve(0, values))


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
    return ag.random_normal(list(shape), mean, stddev, dtype or "float32", _source(seed))


@documented_like(normal)
def truncated_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Seed = None
) -> Tensor:
    """Numbers of a normal distribution, within two standard deviations. See `normal`."""
    return ag.truncated_normal(list(shape), mean, stddev, dtype or "float32", _source(seed))


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
    return ag.random_uniform(list(shape), minval, maxval, dtype or "float32", _source(seed))


@documented_like(uniform)
def randint(shape: Sequence[Any], minval: int, maxval: int, dtype: Any = "int32", seed: Seed = None) -> Tensor:
    """Integers that are equally likely. See `uniform`.

    Args:
        dtype: the dtype.
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
    return ag.cast(drawn_classes(logits, num_samples, seed=_source(seed)), dtype)


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
    dropped: Tensor = nn.dropout(inputs, rate=rate, noise_shape=noise_shape, seed=_source(seed))
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
    order = ag.random_shuffle(ag.range(tensor.shape[axis]), _source(seed))
    return ag.gather(tensor, order, axis=axis)


def gamma(shape: Sequence[Any], alpha: TensorLike, dtype: Any = None, seed: Seed = None) -> Tensor:
    """Numbers of a gamma distribution of scale 1.

    Args:
        shape: the shape of the result, with which that of ``alpha`` broadcasts.
        alpha: the distribution's shape parameter.
        dtype: the dtype; None for float32.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.

    >>> gamma([2, 3], 1.5).shape
    TensorShape([2, 3])
    """
    kind = dtype or "float32"
    shapes = ag.broadcast_to(ag.cast(alpha, kind), list(shape))
    return ag.random_gamma([], shapes, dtype=kind, seed=_source(seed))


def beta(shape: Sequence[Any], alpha: TensorLike, beta: TensorLike, dtype: Any = None, seed: Seed = None) -> Tensor:
    """Numbers of a beta distribution: of two gamma distributions, the share of the first.

    Args:
        shape: the shape of the result, with which those of ``alpha`` and ``beta`` broadcast.
        alpha: the first distribution's shape parameter.
        beta: that of the second.
        dtype: the dtype; None for float32.
        seed: the seed, or a `SeedGenerator`.

    Returns:
        A tensor.

    >>> beta([2, 3], 1.5, 2.0).shape
    TensorShape([2, 3])
    """
    both = SeedGenerator(seed) if isinstance(seed, int) else seed
    first, second = gamma(shape, alpha, dtype, both), gamma(shape, beta, dtype, both)
    return first / (first + second)


@documented_like(normal)
def binomial(
    shape: Sequence[Any], counts: TensorLike, probabilities: TensorLike, dtype: Any = None, seed: Seed = None
) -> Tensor:
    """How many of some trials succeed.

    Args:
        shape: the shape of the result, with which those of ``counts`` and ``probabilities`` broadcast.
        counts: the numbers of trials.
        probabilities: how likely each trial succeeds.

    >>> print(binomial([2], 3, [0.0, 1.0]))
    tf.Tensor([0. 3.], shape=(2,), dtype=float32)
    """
    trials = ag.broadcast_to(ag.cast(counts, "int32"), list(shape))
    most = whole(ag.reduce_max(trials)) if trials.shape.num_elements() else 0
    succeeds = uniform([*shape, most], seed=seed) < ag.expand_dims(ag.cast(probabilities, "float32"), -1)
    happens = ag.range(most) < ag.expand_dims(trials, -1)
    return ag.reduce_sum(ag.cast(succeeds & happens, dtype or "float32"), -1)
