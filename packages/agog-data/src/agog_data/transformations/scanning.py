"""Scanning: transformations with a state from element to element, or a sliding window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_data import arguments
from agog_data.dataset import Dataset
from agog_data.stages.scanning import Scan
from agog_data.stages.windows import WindowBatch

Transformation = Callable[[Dataset], Dataset]


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """Map elements by a function that has a state.

    Args:
        initial_state: the state for the first element of each epoch: tensors or what converts to them, in a structure.
        scan_func: takes the state and the element, each as one argument; returns a pair of the next state, with the
            structure and the dtypes of the first, and what becomes of the element.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        TypeError: the function cannot be called.

    >>> sums = scan(0, lambda total, x: (total + x, total + x))
    >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 3]).apply(sums)]
    [1, 3, 6]
    """
    return lambda dataset: dataset._then(Scan(dataset._stage, initial_state, scan_func))


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Join the elements of windows that slide over a dataset; `Dataset.window` makes datasets of them instead.

    Args:
        window_size: how many elements are joined. What is left over at the end is dropped.
        stride: an older name of ``window_shift``.
        window_shift: by how many elements the next window begins later; None for 1.
        window_stride: 1 for neighbours, 2 for every other element, and so on.

    Returns:
        A function for `Dataset.apply`. Its elements have shapes (window_size, ...).

    Raises:
        ValueError: both ``stride`` and ``window_shift`` are given.
        InvalidArgumentError: a number is below 1.

    >>> [x.numpy().tolist() for x in Dataset.range(5).apply(sliding_window_batch(3))]
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    name = "sliding_window_batch"
    if stride is not None and window_shift is not None:
        raise ValueError(f"{name}: cannot specify both `stride` and `window_shift`.")
    size = arguments.positive(name, "window_size", window_size)
    given = window_shift if stride is None else stride
    shift = 1 if given is None else arguments.positive(name, "window_shift" if stride is None else "stride", given)
    every = arguments.positive(name, "window_stride", window_stride)
    return lambda dataset: dataset._then(WindowBatch(dataset._stage, size, shift, every, drop_remainder=True))
