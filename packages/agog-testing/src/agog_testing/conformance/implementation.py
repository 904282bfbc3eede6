"""Implementation: the function of a kernel under test, which is imported when it is first called.

A kernel may decline calls. Another one of the device's plugins then gives the result, so that checks go on; both are
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from agog_core.dispatch.devices import Device
from agog_core.plugin import Kernel, load_reference


class Implementation:
    """The function of a kernel for a device and dtype.

    Args:
        kernel: the kernel.
        device: the device.
        dtype: the dtype's name.
    """

    def __init__(self, kernel: Kernel, device: Device, dtype: str) -> None:
        if isinstance(kernel.fn, str):  # errors name a kernel so
            self.__module__, _, self.__qualname__ = kernel.fn.partition(":")
        else:
            self.__module__, self.__qualname__ = (
                kernel.fn.__module__,
                getattr(kernel.fn, "__qualname__", repr(kernel.fn)),
            )
        self.kernel = kernel
        self.device = device
        self.dtype = dtype
        self.forget_counts()

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The kernel's own function."""
        try:
            function: Callable[..., Any] = load_reference(self.kernel.fn)
        except Exception as error:
            raise ImportError(f"it cannot be imported: {type(error).__name__}: {error}") from error
        return function

    def __call__(self, *arrays: Any, **attributes: Any) -> Any:
        """Call the kernel."""
        return self.function(*arrays, **attributes)

    has_declined = False

    def forget_counts(self) -> None:
        """Count calls from now on."""

    def declined(self) -> str:
        """How many calls the kernel has declined; raises `Violation` where it was all of them."""
        return ""
