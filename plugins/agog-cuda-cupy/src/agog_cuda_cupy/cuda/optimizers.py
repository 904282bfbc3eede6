"""Optimizers: the steps of optimizers.cu, on one variable or on many in one launch.

A launcher takes for each variable what its op takes: the variable, its slots, and last the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import THREADS, Modules, element

Array = Any
Variables = Sequence[tuple[Array, ...]]

MOST_TENSORS = 24
_MOST_ARRAYS = 5
_PER_THREAD = 4  # elements that a thread of a large tensor takes
_TENSORS = np.dtype(
    [
        ("array", "u8", (_MOST_ARRAYS, MOST_TENSORS)),
        ("size", "i8", MOST_TENSORS),
        ("first_block", "i4", MOST_TENSORS + 1),
        ("count", "i4"),
    ],
    align=True,
)
_ADDRESSES = Struct(f"{_MOST_ARRAYS * MOST_TENSORS}Q")


def step_all(modules: Modules, name: str, variables: Variables, *numbers: Any) -> Any:
    """One step of an optimizer on many variables, in place.

    Args:
        modules: what launches.
        name: the kernel of optimizers.cu.
        variables: for each variable its arrays, all contiguous and of one dtype.
        numbers: what the kernel takes behind the tensors: bools, and of any type what it takes as doubles.

    Returns:
        None, or NotImplemented where the arrays have another dtype or gaps.
    """
    if not _is_served(variables):
        return NotImplemented
    kernel = modules.kernel("optimizers", name, AGOG_NUMBER=element(variables[0][0].dtype) or "")
    exact = _exact(numbers)
    for table, blocks in _tables(modules, variables):
        kernel((blocks,), (THREADS,), (table, *exact))
    return None


def _exact(numbers: tuple[Any, ...]) -> list[float]:
    """Numbers as kernels declare them: a device reads the bits of an integer, or of a float32, as those of a double."""
    return [bool(number) if isinstance(number, (bool, np.bool_)) else float(number) for number in numbers]


def _is_served(variables: Variables) -> bool:
    arrays = [array for one in variables for array in one]
    dtype = arrays[0].dtype
    return element(dtype) is not None and all(a.dtype == dtype and a.flags.c_contiguous for a in arrays)


def _tables(modules: Modules, variables: Variables) -> Iterator[tuple[Any, int]]:
    """The tensors of each launch, and its blocks; what has no element is in none."""
    filled = [one for one in variables if one[0].size]
    for start in range(0, len(filled), MOST_TENSORS):
        yield _table(modules, filled[start : start + MOST_TENSORS])


def _table(modules: Modules, variables: Variables) -> tuple[Any, int]:
    """The addresses and sizes, and which blocks take which tensor; and how many blocks there are."""
    addresses = [0] * (_MOST_ARRAYS * MOST_TENSORS)
    for number, arrays in enumerate(variables):
        for kind, array in enumerate(arrays):
            addresses[kind * MOST_TENSORS + number] = modules.address(array)
    behind, blocks = _sizes(tuple([one[0].size for one in variables]))
    return np.frombuffer(_ADDRESSES.pack(*addresses) + behind, _TENSORS)[0], blocks


@lru_cache(maxsize=256)
def _sizes(sizes: tuple[int, ...]) -> tuple[bytes, int]:
    """What lies behind the addresses, and how many blocks there are."""
    table = np.zeros((), _TENSORS)
    table["count"] = len(sizes)
    table["size"][: len(sizes)] = sizes
    blocks = np.cumsum([-(-size // (THREADS * _PER_THREAD)) for size in sizes])
    table["first_block"][1 : len(sizes) + 1] = blocks
    return table.tobytes()[_ADDRESSES.size :], int(blocks[-1])


def apply_add(modules: Modules, variables: Variables, scale: float) -> Any:
    return step_all(modules, "apply_add", variables, scale)


def apply_gradient_descent(modules: Modules, variables: Variables, learning_rate: float) -> Any:
    return step_all(modules, "apply_gradient_descent", variables, learning_rate)


def apply_momentum(
    modules: Modules, variables: Variables, learning_rate: float, momentum: float, use_nesterov: bool
) -> Any:
    return step_all(modules, "apply_momentum", variables, learning_rate, momentum, bool(use_nesterov))


def apply_keras_momentum(
    modules: Modules, variables: Variables, learning_rate: float, momentum: float, use_nesterov: bool
) -> Any:
    return step_all(modules, "apply_keras_momentum", variables, learning_rate, momentum, bool(use_nesterov))


def apply_adam(
    modules: Modules,
    variables: Variables,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    use_nesterov: bool,
    weight_decay: float,
) -> Any:
    numbers = learning_rate, epsilon, beta1, 1 - beta1, 1 - beta2, 1 - weight_decay, bool(use_nesterov)
    return step_all(modules, "apply_adam", variables, *numbers)


def apply_lamb(
    modules: Modules,
    variables: Variables,
    learning_rate: float,
    correction: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Any:
    """See `agog_kernels_xp.updates.adam`. Two launches; the norms are sums in float64, in an order of their own."""
    if not _is_served(variables):
        return NotImplemented
    xp, dtype = modules.xp, variables[0][0].dtype
    first, second = (
        modules.kernel("optimizers", name, AGOG_NUMBER=element(dtype) or "")
        for name in ("lamb_directions", "apply_lamb")
    )
    numbers = correction, 1 - beta1, 1 - beta2, epsilon, weight_decay
    for table, blocks in _tables(modules, variables):
        directions = xp.empty(blocks * THREADS * _PER_THREAD, "float32" if dtype.itemsize == 2 else dtype)
        sums = xp.empty((blocks, 2), "float64")
        first((blocks,), (THREADS,), (table, directions, sums, *_exact(numbers)))
        second((blocks,), (THREADS,), (table, directions, sums, *_exact((learning_rate,))))
    return None


def apply_amsgrad(
    modules: Modules, variables: Variables, learning_rate: float, beta1: float, beta2: float, epsilon: float
) -> Any:
    return step_all(modules, "apply_amsgrad", variables, learning_rate, epsilon, 1 - beta1, 1 - beta2)


def apply_adamax(
    modules: Modules, variables: Variables, learning_rate: float, beta1: float, beta2: float, epsilon: float
) -> Any:
    return step_all(modules, "apply_adamax", variables, learning_rate, epsilon, 1 - beta1, beta2)


def apply_lion(
    modules: Modules, variables: Variables, learning_rate: float, beta1: float, beta2: float, weight_decay: float
) -> Any:
    numbers = learning_rate, 1 - beta1, 1 - beta2, 1 - learning_rate * weight_decay
    return step_all(modules, "apply_lion", variables, *numbers)


def apply_adadelta(modules: Modules, variables: Variables, learning_rate: float, rho: float, epsilon: float) -> Any:
    return step_all(modules, "apply_adadelta", variables, learning_rate, 1 - rho, epsilon)


def apply_adagrad(modules: Modules, variables: Variables, learning_rate: float) -> Any:
    return step_all(modules, "apply_adagrad", variables, learning_rate)


def apply_adagrad_da(
    modules: Modules, variables: Variables, learning_rate: float, l1: float, l2: float, step: int
) -> Any:
    numbers = learning_rate, l1 > 0, l1 * step, l2 * step * learning_rate
    return step_all(modules, "apply_adagrad_da", variables, *numbers)


def apply_rmsprop(
    modules: Modules, variables: Variables, learning_rate: float, decay: float, momentum: float, epsilon: float
) -> Any:
    return step_all(modules, "apply_rmsprop", variables, learning_rate, 1 - decay, momentum, epsilon)


def apply_centered_rmsprop(
    modules: Modules, variables: Variables, learning_rate: float, decay: float, momentum: float, epsilon: float
) -> Any:
    return step_all(modules, "apply_centered_rmsprop", variables, learning_rate, 1 - decay, momentum, epsilon)


def apply_proximal_gradient_descent(
    modules: Modules, variables: Variables, learning_rate: float, l1: float, l2: float
) -> Any:
    numbers = learning_rate, l1 > 0, learning_rate * l1, 1 + learning_rate * l2
    return step_all(modules, "apply_proximal_gradient_descent", variables, *numbers)


def apply_proximal_adagrad(modules: Modules, variables: Variables, learning_rate: float, l1: float, l2: float) -> Any:
    return step_all(modules, "apply_proximal_adagrad", variables, learning_rate, l1 > 0, l1, l2)


def apply_ftrl(
    modules: Modules,
    variables: Variables,
    learning_rate: float,
    learning_rate_power: float,
    l1: float,
    l2: float,
    l2_shrinkage: float,
) -> Any:
    """See `agog_kernels_xp.updates.proximal`; powers other than -0.5 are declined."""
    if learning_rate_power != -0.5:
        return NotImplemented
    return step_all(modules, "apply_ftrl", variables, learning_rate, l1, 2 * l2, 2 * l2_shrinkage)
