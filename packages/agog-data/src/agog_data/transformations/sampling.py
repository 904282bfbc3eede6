"""Sampling: elements chosen at random, or by the elements of another dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.stages.resampling import Resample, check_distribution
from agog_data.stages.sampling import Choose, Sample, check_weights

Transformation = Callable[[Dataset], Dataset]


def _seed(name: str, seed: Any) -> int | None:
    return None if seed is None else arguments.integer(name, "seed", seed)


def _stages(name: str, datasets: Any) -> list[Any]:
    listed = list(datasets) if isinstance(datasets, (list, tuple)) else [datasets]
    for dataset in listed:
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"{name}: a list of datasets is expected; got {dataset!r} of type {type(dataset).__name__}."
            )
    if not listed:
        raise ValueError(f"{name}: at least one dataset is expected; the list is empty.")
    return [dataset._stage for dataset in listed]


def sample_from_datasets(datasets: Sequence[Dataset], weights: Any = None, seed: Any = None) -> Dataset:
    """Elements of several datasets, each taken from one of them at random; without replacement.

    When a dataset has ended, the others go on; the elements end with the last dataset whose weight is not zero. Each
    epoch and each iterator makes other choices.

    Args:
        datasets: the datasets; their elements have the same structure and dtypes.
        weights: how likely each dataset is, relative to the others that have elements still: a vector, or a dataset of
            vectors, one for each element; its end ends the elements. None for equal weights.
        seed: with the graph seed it determines the choices.

    Returns:
        The dataset.

    Raises:
        TypeError: something in the list is no dataset, or the weights are no numbers.
        ValueError: there is no dataset, or not one weight for each.
        InvalidArgumentError: a weight is negative or not finite, or all are zero.

    >>> zeros, ones = Dataset.from_tensors(0).repeat(5), Dataset.from_tensors(1).repeat(5)
    >>> sorted(int(x) for x in sample_from_datasets([zeros, ones], [0.2, 0.8], seed=1))
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    """
    stages = _stages("sample_from_datasets", datasets)
    if isinstance(weights, Dataset):
        chosen: Any = weights._stage
    else:
        chosen = check_weights([1.0] * len(stages) if weights is None else weights, len(stages))
    return Dataset(Sample(stages, chosen, _seed("sample_from_datasets", seed)))


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Elements of several datasets, each taken from the one whose number another dataset gives.

    Numbers of datasets that have ended are passed over. The elements end with the numbers, or with the last dataset.

    Args:
        datasets: the datasets; their elements have the same structure and dtypes.
        choice_dataset: int64 scalars from 0 to the number of datasets - 1.

    Returns:
        The dataset.

    Raises:
        TypeError: something is no dataset.
        ValueError: there is no dataset.

    >>> words = [Dataset.from_tensors(word).repeat() for word in ("ha", "ho")]
    >>> print(*[x.numpy() for x in choose_from_datasets(words, Dataset.range(2).repeat(2))])
    b'ha' b'ho' b'ha' b'ho'
    """
    stages = _stages("choose_from_datasets", datasets)
    if not isinstance(choice_dataset, Dataset):
        raise TypeError(
            f"choose_from_datasets: choice_dataset must be a Dataset; got {choice_dataset!r} of type "
            f"{type(choice_dataset).__name__}."
        )
    return Dataset(Choose(stages, choice_dataset._stage))


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """Reject elements at random, so that their classes have a given distribution.

    An element of class c is kept with probability r(c) / max(r), where r is target_dist / initial_dist. No element is
    given twice.

    Args:
        class_func: takes the element, a tuple as several arguments; returns its class, an integer scalar from 0 on.
        target_dist: how likely each class shall be; of shape (number of classes,).
        initial_dist: how likely each class is; None to estimate it from the elements so far, and ten more of each
            class, so that the first elements come before the distribution is known.
        seed: with the graph seed it determines which elements are rejected.

    Returns:
        A function for `Dataset.apply`. The elements of its result are pairs: the class, an int32 scalar, and the
        element.

    Raises:
        TypeError: the function cannot be called.
        InvalidArgumentError: a distribution is none, or asks for a class that never occurs.

    >>> odd = rejection_resample(lambda x: x % 2, target_dist=[0.0, 1.0], initial_dist=[0.5, 0.5])
    >>> [(int(c), int(x)) for c, x in Dataset.range(6).apply(odd)]
    [(1, 1), (1, 3), (1, 5)]
    """
    target = check_distribution("target_dist", target_dist)
    initial = None if initial_dist is None else check_distribution("initial_dist", initial_dist, len(target))
    for number, (wish, found) in enumerate(zip(target, initial or target, strict=True)):
        if wish and not found:
            raise InvalidArgumentError(
                f"rejection_resample: target_dist asks for class {number}, which never occurs by initial_dist."
            )
    op_seed = _seed("rejection_resample", seed)
    return lambda dataset: Dataset(Resample(dataset._stage, class_func, target, initial, op_seed))


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Shuffle, then repeat: the same as ``shuffle(buffer_size, seed).repeat(count)``.

    Each epoch has an order of its own, and ends before the next begins.

    Args:
        buffer_size: how many elements the buffer holds.
        count: how many epochs; None or -1 for no end.
        seed: with the graph seed it determines the orders.

    Returns:
        A function for `Dataset.apply`.

    >>> numbers = [int(x) for x in Dataset.range(3).apply(shuffle_and_repeat(10, 2))]
    >>> sorted(numbers[:3]), sorted(numbers[3:])
    ([0, 1, 2], [0, 1, 2])
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)
