"""Implementation: the function of a kernel under test, imported or made at its first call.

A kernel may decline calls. The next one of the device then gives the result, as for users, and if there is none, the
host; so checks go on, and say at the end how many calls were declined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import default_device
from agog_core.dispatch.kernels.candidates import Candidate, candidates, function_of, load_kernel, rank
from agog_core.dispatch.kernels.fallback import elsewhere
from agog_core.dispatch.kernels.resolution import Chain, resolve
from agog_core.dispatch.kernels.unresolved import declined
from agog_core.dispatch.op import all_ops
from agog_core.dispatch.plugins.loader import Plugin
from agog_core.dtypes import as_dtype
from agog_core.errors import MissingKernelError
from agog_core.plugin import Kernel
from agog_testing.subject import Untaken


class Implementation:
    """The function of a kernel for a device and dtype.

    Args:
        kernel: the kernel.
        plugin: the plugin that brings it.
        device: the device.
        dtype: the dtype's name.
    """

    def __init__(self, kernel: Kernel, plugin: Plugin, device: Device, dtype: str) -> None:
        self.__module__, _, self.__qualname__ = kernel.source.partition(":")  # errors name a kernel so
        self.kernel = kernel
        self.plugin = plugin
        self.device = device
        self._table = device.table(as_dtype(dtype))
        self.forget_counts()

    def __call__(self, *arrays: Any, **attributes: Any) -> Any:
        """Call the kernel, or another one where it declines."""
        result = self._function(*arrays, **attributes)
        if result is NotImplemented:
            self._times_declined += 1
            return self._instead(arrays, attributes)
        self._times_taken += 1
        return result

    def several(self, groups: Sequence[tuple[Any, ...]], **attributes: Any) -> Any:
        """Call the kernel's function for several variables at once."""
        candidate = Candidate(self.kernel, self.plugin, {})
        function = function_of(candidate, self._table, self.kernel.several)
        return self.device.bind(self.kernel.op, self._table.dtype, function)[0](groups, **attributes)

    def fill(self, *arrays: Any, out: Any, **attributes: Any) -> Any:
        """Call the kernel's function that fills an array with its result."""
        function = function_of(Candidate(self.kernel, self.plugin, {}), self._table, self.kernel.out)
        return self.device.bind(self.kernel.op, self._table.dtype, function)[0](*arrays, out=out, **attributes)

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Put the kernel before all others of its op, which follow in rank, as traced functions find them."""
        op = all_ops()[self.kernel.op]
        usable, _ = candidates(op.name, self.device.type, self._table.dtype.name)
        mine = next((each for each in usable if each.kernel is self.kernel), Candidate(self.kernel, self.plugin, {}))
        chain = Chain(op, self._table, [mine, *(each for each in usable if rank(each) != rank(mine))])
        kernels = chain.first()
        assert kernels is not None
        self._table.install(op.name, *kernels, chain)
        try:
            yield
        finally:
            self._table.remove(op.name)

    def forget_counts(self) -> None:
        """Count calls from now on."""
        self._times_taken = self._times_declined = 0

    @property
    def has_declined(self) -> bool:
        """Whether a call was declined."""
        return self._times_declined > 0

    def declined(self, must_take: bool) -> str:
        """How many calls were declined, if any; raises `Untaken` where the kernel must take some and took none."""
        calls = self._times_declined + self._times_taken
        if must_take and self.has_declined and not self._times_taken:
            rule = "a kernel takes some of the samples of its op"
            raise Untaken(rule, "all", "a result", f"NotImplemented for each of {calls} calls")
        return f"declined {self._times_declined} of {calls} calls" if self.has_declined else ""

    @cached_property
    def _function(self) -> Callable[..., Any]:
        """The kernel's own function."""
        try:
            load_kernel(self.kernel)
        except Exception as error:
            raise ImportError(f"it cannot be imported: {type(error).__name__}: {error}") from error
        try:
            function = function_of(Candidate(self.kernel, self.plugin, {}), self._table)
        except Exception as error:
            raise RuntimeError(f"it cannot be made: {type(error).__name__}: {error}") from error
        return self.device.bind(self.kernel.op, self._table.dtype, function)[0]

    def _instead(self, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        """The result of the next kernel that accepts the call."""
        op = all_ops()[self.kernel.op]
        chain = Chain(op, self._table)
        for place, candidate in enumerate(chain.candidates):
            if candidate.kernel is not self.kernel and (functions := chain.kernels(place)) is not None:
                result = functions[0](*arrays, **attributes)
                if result is not NotImplemented:
                    return result
        host = default_device()
        if host is self.device:
            where = op.name, self.device.type, self._table.dtype.name
            raise MissingKernelError(declined(*where, [x.shape for x in arrays], chain.candidates, chain.rejected))
        there = host.table(self._table.dtype)
        resolve(op, there)
        return elsewhere(op, there, self.device)(*arrays, **attributes)
