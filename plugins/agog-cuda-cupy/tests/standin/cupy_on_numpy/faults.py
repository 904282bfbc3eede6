"""Faults: kernels that fail while they run; CUDA tells at the next call that waits or launches, and at later ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CUDARuntimeError(RuntimeError):
    """What CUDA answers when something is wrong."""


class CUDADriverError(RuntimeError):
    """What its driver answers, which CuPy asks for launches."""


# What the driver calls the runtime's errors.
_DRIVER = {"cudaErrorIllegalAddress": "CUDA_ERROR_ILLEGAL_ADDRESS"}

# The name of a kernel that is to fail with an error of CUDA's, and the error once it has.
_planted: dict[str, str] = {}
_happened: list[str] = []


@contextmanager
def planted(
    kernel: str, error: str = "cudaErrorIllegalAddress: an illegal memory access was encountered"
) -> Iterator[None]:
    """Let the kernel of a name fail inside; on a real device nothing mends it, here the end does."""
    _planted[kernel] = error
    try:
        yield
    finally:
        _planted.clear()
        _happened.clear()


def check(is_launch: bool = False) -> None:
    """Raise where a kernel has failed before."""
    if not _happened:
        return
    if not is_launch:
        raise CUDARuntimeError(_happened[0])
    name, colon, text = _happened[0].partition(":")
    raise CUDADriverError(_DRIVER[name] + colon + text)


def run(kernel: str) -> None:
    """Run a kernel, which may fail unnoticed."""
    if kernel in _planted:
        _happened.append(_planted[kernel])
