"""Card module: the kernels of a CUDA C source on a card, with the tests' arrays of the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from guarded_memory import Array, address_of

from agog_cuda_cupy import compiling


class CardModule:
    """The kernels of one source, compiled by NVRTC for the card as the plugin compiles them.

    Args:
        code: the source.
        options: those of NVRTC.
    """

    def __init__(self, code: str, options: Sequence[str] = ()) -> None:
        import cupy

        cupy.cuda.set_allocator(None)  # each array has memory of its own, so that a sanitizer sees who leaves it
        self._module = compiling.compile(code=code, options=options)

    def get_function(self, name: str) -> CardKernel:
        """The kernel of a name."""
        return CardKernel(self._module.get_function(name))


class CardKernel:
    """One kernel, called as CuPy calls one; arrays go to the card before, and come back behind it."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        """Run the kernel, and wait for it."""
        named = {id(each): (each, _on_card(each)) for each in arguments if isinstance(each, np.ndarray)}
        for array, copy in _addressed.values():
            copy.set(_bytes(array))
        self._function(grid, block, tuple(named[id(each)][1] if id(each) in named else each for each in arguments))
        for array, copy in (*named.values(), *_addressed.values()):
            if array.flags.writeable:
                _bytes(array)[...] = copy.get()  # which waits


_addressed: dict[tuple[int, int], tuple[Array, Any]] = {}
"""By address and size on the host: arrays whose addresses structures hold, and their copies on the card."""


def address_on_card(array: Array) -> int:
    """The address of an array's copy on the card, which goes there and back with each kernel from now on."""
    key = address_of(array), array.nbytes
    if key not in _addressed:
        _addressed[key] = array, _on_card(array)
    return int(_addressed[key][1].data.ptr)


def forget_addresses() -> None:
    """Let go of all arrays; what a test has left does not come to the next one."""
    _addressed.clear()


def _on_card(array: Array) -> Any:
    """The bytes of an array on the card: CuPy has not all of the dtypes."""
    import cupy

    return cupy.asarray(_bytes(array))


def _bytes(array: Array) -> Array:
    if not array.flags.c_contiguous:
        raise TypeError(f"A kernel takes arrays that lie in one piece; got strides {array.strides}.")
    return array.reshape(-1).view("u1")
