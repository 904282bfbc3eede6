"""Placement: transformations that bring elements to a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from agog_core.dispatch.devices.lookup import get_device
from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.iterator import Iterator
from agog_data.stage import Stage
from agog_data.stages.placement import Place
from agog_data.stages.prefetching import Prefetch

Transformation = Callable[[Dataset], Dataset]


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Copy elements to a device.

    Args:
        target_device: the device's name.
        source_device: the name of the device of earlier stages, regardless of the iterator's scope.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        InvalidArgumentError: there is no such device.
        ValueError: a name is none of a device.

    >>> dataset = Dataset.range(2).apply(copy_to_device("/cpu:0"))
    >>> [x.device for x in dataset]
    ['/job:localhost/replica:0/task:0/device:CPU:0', '/job:localhost/replica:0/task:0/device:CPU:0']
    """
    for name in (target_device, source_device):
        get_device(name)
    return lambda dataset: Dataset(Place(dataset._stage, target_device, source_device))


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """Copy elements to a device, ahead of the loop, on a thread that ends with the iterator.

    It is the last transformation of a pipeline. `Iterator`, which brings elements to the current device, does not take
    its result: use ``for element in dataset``.

    Args:
        device: the device's name; an empty one, as `tf.test.gpu_device_name` gives without a GPU, means the CPU.
        buffer_size: how many elements are kept ready on the device; None for a number chosen here.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        InvalidArgumentError: there is no such device, or ``buffer_size`` is below 1.
        ValueError: the name is none of a device.

    >>> [int(x) for x in Dataset.range(3).apply(prefetch_to_device("/cpu:0"))]
    [0, 1, 2]
    """
    device = device or "/cpu:0"
    get_device(device)
    size = 2 if buffer_size is None else arguments.positive("prefetch_to_device", "buffer_size", buffer_size)
    return lambda dataset: PlacedDataset(Prefetch(Place(dataset._stage, device, "/cpu:0"), size))


class PlacedDataset(Dataset):
    """What `prefetch_to_device` makes: nothing can follow."""

    def __iter__(self) -> Iterator:
        return PlacedIterator(self)

    def make_one_shot_iterator(self) -> Iterator:
        return PlacedIterator(self)

    def _check_iterator(self) -> None:
        raise TypeError(
            "Iterator: it brings elements to the current device, and prefetch_to_device has brought them to another; "
            "use `for element in dataset`, or make the iterator without prefetch_to_device."
        )

    def _then(self, stage: Stage) -> NoReturn:
        raise NotImplementedError("prefetch_to_device must be the last transformation; apply it after all others.")


class PlacedIterator(Iterator):
    """An iterator over what `prefetch_to_device` makes."""

    def __init__(self, dataset: PlacedDataset) -> None:
        self._open(dataset)
