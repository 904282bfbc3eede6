"""Contract: what plugins bring, as plain data (`Backend`, `Kernel`, `Conformance`), and the hooks that hand it over.

Plugins import it as `agog_core.plugin`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pluggy

from agog_core import dtypes as _dtypes
from agog_core.dispatch.op import Op

PROJECT = "agog"
API_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"{type(value).__name__} is not an array of this backend")


def _same(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return kernel


def _no_dlpack(*_: Any) -> NoReturn:
    raise BufferError("its backend does not speak DLPack; copy it to the host first, such as x.cpu()")


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A device type and how its arrays come and go.

    An array that is a view of another one must keep that one's Python object alive: variables tell by its reference
    count whether anybody else sees their memory.

    Args:
        device: the device type, lower case, such as ``"cpu"`` or ``"gpu"``.
        array_type: the type of its arrays, or a ``"module:attribute"`` string that is imported on first use. An array
            has its sizes as ``shape`` and its element type, one of NumPy's or its name, as ``dtype``.
        device_count: returns how many devices of the type are usable now; 0 where the hardware is missing.
        from_host: ``(host, index)`` to an array on device ``index``. ``host`` is a C-contiguous `numpy.ndarray` that
            nobody writes afterwards, so it may be adopted without a copy.
        to_host: an array to a `numpy.ndarray` of the same shape and dtype; it may share memory.
        allocate: ``(shape, dtype, index)`` to an uninitialised array; ``dtype`` is a name such as ``"float32"``.
        copy: an array to another one, C-contiguous, that owns its memory.
        synchronize: ``(index)`` waits until all work on the device is done.
        memory_in_use: ``(index)`` to the bytes that arrays hold there, or None where nobody knows.
        as_array: turns what a kernel returned, where it is not of ``array_type``, into an array (a NumPy ufunc gives
            scalars for 0-d input); it raises TypeError where it cannot.
        for_scalars: a kernel of an elementwise op to one that is only called where the result has rank 0, and may be
            faster there; by default the same.
        dlpack_type: the number of its devices' type in DLPack, such as 1 for a CPU and 2 for CUDA; None where it has
            none.
        to_dlpack: ``(array, stream, max_version, shared)`` to a DLPack capsule: of a copy, or, where ``shared`` is
            true, of the array's own memory, marked as read-only. It raises BufferError where it cannot.
        from_dlpack: an object of another library that has ``__dlpack__``, on a device of this type, to an array that
            is a copy of it. It raises BufferError where it cannot.
        host_memory: whether the arrays live in host memory; the default device is the first such one.
        unavailable: returns a sentence that says why there is no device, or None.
    """

    device: str
    array_type: type | str
    device_count: Callable[[], int]
    from_host: Callable[[Any, int], Any]
    to_host: Callable[[Any], Any]
    allocate: Callable[[tuple[int, ...], str, int], Any]
    copy: Callable[[Any], Any]
    synchronize: Callable[[int], None]
    memory_in_use: Callable[[int], int | None]
    as_array: Callable[[Any], Any] = _refuse
    for_scalars: Callable[[Callable[..., Any]], Callable[..., Any]] = _same
    dlpack_type: int | None = None
    to_dlpack: Callable[[Any, Any, tuple[int, int] | None, bool], Any] = _no_dlpack
    from_dlpack: Callable[[Any], Any] = _no_dlpack
    host_memory: bool = False
    unavailable: Callable[[], str | None] = lambda: None

    def __post_init__(self) -> None:
        if not self.device.isidentifier() or self.device != self.device.lower():
            raise ValueError(f"Backend(device={self.device!r}): a device type is one lower-case word, such as 'gpu'.")


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
        pair: the name of the pair that the kernel belongs to, for an op that keeps a reserve for its gradient's kernel
            and for the op that takes it (``lstm`` and ``lstm_grad``). The two kernels of a pair come from one plugin
            and are chosen together; a plugin that brings only one half is passed over. A plugin with one kernel for
            each of the two needs no name; one with several says by it which belong together.
        unavailable: returns a sentence that says why the kernel cannot be used here, or None. Errors and ``explain``
            print it.

    Raises:
        ValueError: a dtype does not exist, or the device type is not one lower-case word.
        TypeError: ``fn`` is neither callable nor a ``"module:attribute"`` string, or ``pair`` is no name.

    >>> Kernel(op="square", device="cpu", fn="my_kernels.fast:square", dtypes=("float32",), priority=200).dtypes
    frozenset({'float32'})
    """

    op: str
    device: str
    fn: Callable[..., Any] | str
    dtypes: Iterable[str] | None = None
    priority: int = 100
    pair: str | None = None
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
        if self.pair is not None and not (isinstance(self.pair, str) and self.pair):
            raise TypeError(f"Kernel(op={self.op!r}): pair must be a name, or None; got {self.pair!r}.")
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
