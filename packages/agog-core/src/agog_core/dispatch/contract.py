"""Contract: what plugins bring, as plain data (`Backend` has a file of its own), and the hooks that hand it over.

Plugins import it as `agog_core.plugin`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pluggy

from agog_core import dtypes as _dtypes
from agog_core.dispatch.backend import Backend
from agog_core.dispatch.op import Op

PROJECT = "agog"
API_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One implementation of one op on one device type.

    A kernel is ``fn(*arrays, **attributes)``: arrays of the backend's own type, and one array or a tuple of arrays
    back. It never changes its inputs, except those that the op declares as updated in place (the steps of optimizers);
    its result never shares memory with an input unless the op is a view (``reshape``, ``transpose``, slices); it keeps
    no state between calls.

    Args:
        op: the op's name, such as ``"matmul"``.
        device: the device type, such as ``"cpu"``.
        fn: the function, or a ``"module:attribute"`` string that is imported when the kernel is first chosen.
        dtypes: names of the dtypes that the kernel is for; None for every dtype of the op.
        priority: among several, the highest is chosen: 0 for a reference, 100 for a backend, 200 for a specialised
            kernel.
        unavailable: returns a sentence that says why the kernel cannot be used here, or None. Errors and ``explain``
            print it.

    Raises:
        ValueError: a dtype does not exist, or the device type is not one lower-case word.
        TypeError: ``fn`` is neither callable nor a ``"module:attribute"`` string.

    >>> Kernel(op="square", device="cpu", fn="my_kernels.fast:square", dtypes=("float32",), priority=200).dtypes
    frozenset({'float32'})
    """

    op: str
    device: str
    fn: Callable[..., Any] | str
    dtypes: Iterable[str] | None = None
    priority: int = 100
    unavailable: Callable[[], str | None] = lambda: None

    def __post_init__(self) -> None:
        if not self.device.isidentifier() or self.device != self.device.lower():
            raise ValueError(
                f"Kernel(op={self.op!r}, device={self.device!r}): a device type is one lower-case word, such as 'gpu'."
            )
        if not callable(self.fn) and not (isinstance(self.fn, str) and self.fn.count(":") == 1):
            raise TypeError(
                f"Kernel(op={self.op!r}): fn must be a function or a 'module:attribute' string; got {self.fn!r}."
            )
        if self.dtypes is not None:
            names = (self.dtypes,) if isinstance(self.dtypes, str) else tuple(self.dtypes)
            known = {dtype.name for dtype in _dtypes.ALL}
            if unknown := sorted(set(names) - known):
                raise ValueError(
                    f"Kernel(op={self.op!r}): unknown dtypes {unknown}; the dtypes are {', '.join(sorted(known))}."
                )
            object.__setattr__(self, "dtypes", frozenset(names))


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """What the conformance kit should know of a plugin's kernels.

    Args:
        tolerances: per op name, or ``"op/dtype"``, the pair (rtol, atol) to use instead of the kit's.
        expected_failures: test ids (``"op/dtype/check"``, with ``*`` for any) to the reason why each fails. They are
            strict: one that passes is an error.

    >>> Conformance(expected_failures={"matmul/float16/value": "accumulates in float16"}).tolerances
    {}
    """

    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    expected_failures: Mapping[str, str] = field(default_factory=dict)


class Hooks:
    """The four hooks. A plugin implements those that it needs, as functions of its module marked with `hookimpl`."""

    @hookspec
    def agog_backends(self) -> Iterable[Backend]:
        """Yield the device types that the plugin brings.

        Returns:
            Backends.

        Example::

            @hookimpl
            def agog_backends():
                yield Backend(device="tpu", array_type="my_tpu:Array", device_count=count, ...)
        """
        raise NotImplementedError

    @hookspec
    def agog_kernels(self) -> Iterable[Kernel]:
        """Yield the kernels that the plugin brings.

        Returns:
            Kernels, for ops and devices of any plugin.

        Example::

            @hookimpl
            def agog_kernels():
                yield Kernel(op="square", device="cpu", fn="my_kernels.fast:square", priority=200)
        """
        raise NotImplementedError

    @hookspec
    def agog_ops(self) -> Iterable[Op]:
        """Yield the ops that the plugin adds to those of agog-core.

        Returns:
            Ops; their kernels come through `agog_kernels`.

        Example::

            @hookimpl
            def agog_ops():
                from my_ops.gelu import gelu_op

                yield gelu_op
        """
        raise NotImplementedError

    @hookspec
    def agog_conformance(self) -> Conformance:
        """Return the tolerances and expected failures of the plugin's kernels.

        Returns:
            One `Conformance`.

        Example::

            @hookimpl
            def agog_conformance():
                return Conformance(tolerances={"matmul/float32": (1e-4, 1e-4)})
        """
        raise NotImplementedError
