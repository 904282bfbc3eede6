"""Backend: a device type as plain data, which a plugin brings: how its arrays come, go and are looked after."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from agog_core import dtypes as _dtypes
from agog_core.dispatch.fields import BOOL, FUNCTION, INT, REFERENCE, Field, check_fields, is_reference, optional
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.dispatch.plugins.unavailability import available
from agog_core.dtypes import DType
from agog_core.errors import PluginError, describe_error, describe_value

Function = Callable[..., Any]


class MemoryStats(NamedTuple):
    """The memory of one device, in bytes; None is what nobody knows.

    Args:
        in_use: what arrays hold now.
        peak: the most that arrays have held.
        reserved: what the process has taken from the device, for arrays that are and arrays to come.
        limit: the most that the process may take.
        total: all that the device has.
    """

    in_use: int | None = None
    peak: int | None = None
    reserved: int | None = None
    limit: int | None = None
    total: int | None = None


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"{type(value).__name__} is not an array of this backend")


def _no_dlpack(*_: Any) -> NoReturn:
    raise BufferError("its backend does not speak DLPack; copy it to the host first, such as x.cpu()")


def check_device_type(owner: str, device: Any) -> None:
    """Refuse what is no name of a device type."""
    if not isinstance(device, str) or not device.isidentifier() or device != device.lower():
        raise ValueError(f"{owner}: a device type is one lower-case word, such as 'gpu'.")


def dtype_names(owner: str, names: Any, known: frozenset[DType]) -> frozenset[str]:
    """A set of names of dtypes, which are one name or several; refused where there are no such dtypes."""
    if not isinstance(names, Iterable):
        raise TypeError(f"{owner}: dtypes must be names of dtypes, or None; got {describe_value(names)}.")
    found = (names,) if isinstance(names, str) else tuple(names)
    there = {dtype.name for dtype in known}
    if unknown := sorted({describe_value(name) for name in found if not isinstance(name, str) or name not in there}):
        raise ValueError(f"{owner}: unknown dtypes {', '.join(unknown)}; the dtypes are {', '.join(sorted(there))}.")
    return frozenset(found)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A device type and how its arrays come and go.

    Streams: a device has one *compute stream*, on which its work is done in the order in which the program asks for
    it. Kernels, in-place updates, ``from_host``, ``copy`` and ``copy_from`` (on the target's stream, after what the
    source's stream was asked for before) run there, and may return before the work is done; so a write that is asked
    for later comes after all earlier reads, and memory that Python has let go of may be used again at once. Any
    thread may call any of them, and each chooses the device by its index and not by what the thread was told.
    ``to_host``, ``synchronize`` and the ``stop`` of a ``timer`` wait. ``prefetch`` alone may use another stream, and
    lets the compute stream wait for it.

    Where a view does not keep the Python object of the array that it is a view of alive, ``base`` has to be given:
    variables tell by reference counts whether anybody else sees their memory.

    Each function may be a ``"module:attribute"`` string. What the strings name is imported when the device is first
    used or listed, so that a program without it does not wait for its library. Then ``unavailable`` is asked first,
    and ``device_count`` next.

    Args:
        device: the device type, lower case, such as ``"cpu"`` or ``"gpu"``.
        array_type: the type of its arrays, or a ``"module:attribute"`` string that is imported on first use. An array
            has its sizes as ``shape`` and its element type, one of NumPy's or its name, as ``dtype``.
        device_count: returns how many devices of the type are usable now; 0 where the hardware is missing.
        from_host: ``(host, index)`` to an array on device ``index``. ``host`` is a C-contiguous `numpy.ndarray` that
            nobody writes afterwards, so it may be adopted without a copy.
        to_host: an array to a `numpy.ndarray` of the same shape and dtype; it may share memory.
        copy: an array to another one, C-contiguous, that owns its memory, on the same device.
        empty: ``(shape, dtype, index)``, dtype a name, to a C-contiguous array of any numbers that owns its memory, for
            kernels to fill with large results (`Kernel.out`); by default these make arrays themselves.
        synchronize: ``(index)`` waits until all work on the device is done.
        as_array: turns what a kernel returned, where it is not of ``array_type``, into an array (a NumPy ufunc gives
            scalars for 0-d input); it raises TypeError where it cannot.
        bind: ``(kernel, op, dtype, index)`` to the function that runs, once for each op, dtype and device, before the
            kernel is first called: the place to enter a device, to wrap and unwrap arrays, or to give kernels a dtype
            of the library. A pair of functions is a kernel and the one to call instead where an elementwise op's
            result has rank 0. By default it is the kernel itself.
        dtypes: names of the dtypes that the device holds; None for all. Tensors of other dtypes stay on the host, and
            ops on them run there.
        base: an array to the object that owns its memory: the array itself, or an object to which each array that
            shows the memory holds one reference, and nobody else any.
        copy_from: ``(array, source_index, index)`` to a copy on device ``index`` of an array of another device of the
            type; by default copies go through the host.
        host_copy: whether what ``to_host`` returns is a copy that its caller owns.
        allocate_host: ``(shape, dtype)``, dtype one of NumPy's, to a `numpy.ndarray` in host memory from which copies
            to the device are fastest (pinned memory); by default `numpy.empty`.
        prefetch: ``(host, index)`` like ``from_host``, for elements of a dataset, which worker threads bring while
            the device computes: it may copy on a stream of its own. The memory of the result comes from the compute
            stream, the copy waits for the compute stream's work up to there, and the compute stream for the copy. It
            keeps ``host`` alive as long as the copy reads it. By default ``from_host``.
        memory_stats: ``(index)`` to `MemoryStats`.
        set_memory_limit: ``(index, bytes)`` lets the process take no more than so much memory of the device; None for
            no limit.
        free_cached: ``(index)`` gives memory back that no array holds.
        translate: an exception that a kernel or a function of the backend raised to the one to raise instead, such as
            a `ResourceExhaustedError`; None where it is right as it is.
        timer: ``(index)`` starts a clock on the device and returns ``stop``; ``stop()`` waits and returns the seconds
            that the device took for what was asked for in between. Without one, profiles have the host's times.
        pending_error: ``(index)`` to what was wrong with values in work that is done, such as an index out of range:
            a sentence that begins with the op's name, or None; once it is told, it is forgotten. It is asked after
            ``to_host`` and ``synchronize``, and raised as `InvalidArgumentError`.
        dlpack_type: the number of its devices' type in DLPack, such as 1 for a CPU and 2 for CUDA; None where it has
            none.
        to_dlpack: ``(array, stream, max_version, shared)`` to a DLPack capsule: of a copy, or, where ``shared`` is
            true, of the array's own memory, marked as read-only. It raises BufferError where it cannot.
        from_dlpack: an object of another library that has ``__dlpack__``, on a device of this type, to an array that
            is a copy of it. It raises BufferError where it cannot.
        writable: whether kernels may write to arrays. Where they may not, as with JAX's, kernels of ops that update
            variables return new arrays, which the variables take, and agog copies no value before an update;
            ``copy`` may return the array itself.
        host_memory: whether the arrays live in host memory. The default device is such a one: that of a plugin which
            the user prefers, else the CPU, else the first by its name.
        unavailable: returns a sentence that says why there is no device, or None.
        allocate: of version 1, which nothing calls any more.
        memory_in_use: of version 1; `memory_stats` says more.
        for_scalars: of version 1; `bind` returns pairs.

    Raises:
        ValueError: the device type is not one lower-case word, or a dtype does not exist.
        TypeError: an argument that must be a function is none.
    """

    device: str
    array_type: type | str
    device_count: Callable[[], int] | str
    from_host: Callable[[Any, int], Any] | str
    to_host: Callable[[Any], Any] | str
    copy: Callable[[Any], Any] | str
    synchronize: Callable[[int], None] | str
    empty: Callable[[tuple[int, ...], str, int], Any] | str | None = None
    as_array: Callable[[Any], Any] | str = _refuse
    bind: Callable[[Function, str, str, int], Function | tuple[Function, Function]] | str = lambda kernel, *_: kernel
    dtypes: Iterable[str] | None = None
    base: Callable[[Any], Any] | str | None = None
    copy_from: Callable[[Any, int, int], Any] | str | None = None
    host_copy: bool = False
    allocate_host: Callable[[tuple[int, ...], Any], Any] | str | None = None
    prefetch: Callable[[Any, int], Any] | str | None = None
    memory_stats: Callable[[int], MemoryStats] | str = lambda index: MemoryStats()
    set_memory_limit: Callable[[int, int | None], None] | str | None = None
    free_cached: Callable[[int], None] | str | None = None
    translate: Callable[[Exception], Exception | None] | str | None = None
    timer: Callable[[int], Callable[[], float]] | str | None = None
    pending_error: Callable[[int], str | None] | str | None = None
    dlpack_type: int | None = None
    to_dlpack: Callable[[Any, Any, tuple[int, int] | None, bool], Any] | str = _no_dlpack
    from_dlpack: Callable[[Any], Any] | str = _no_dlpack
    writable: bool = True
    host_memory: bool = False
    unavailable: Callable[[], str | None] | str = available
    allocate: InitVar[Function | None] = None
    memory_in_use: InitVar[Callable[[int], int | None] | None] = None
    for_scalars: InitVar[Callable[[Function], Function] | None] = None

    def __post_init__(
        self,
        allocate: Function | None,
        memory_in_use: Callable[[int], int | None] | None,
        for_scalars: Callable[[Function], Function] | None,
    ) -> None:
        owner = f"Backend(device={describe_value(self.device)})"
        check_device_type(owner, self.device)
        check_fields(owner, _FIELDS, vars(self))
        older = {"allocate": allocate, "memory_in_use": memory_in_use, "for_scalars": for_scalars}
        check_fields(owner, dict.fromkeys(older, optional(FUNCTION)), older)
        if for_scalars is not None:
            object.__setattr__(self, "bind", lambda kernel, *_: (kernel, for_scalars(kernel)))
        if memory_in_use is not None:
            object.__setattr__(self, "memory_stats", lambda index: MemoryStats(in_use=memory_in_use(index)))
        if self.dtypes is not None:
            object.__setattr__(self, "dtypes", dtype_names(owner, self.dtypes, _dtypes.ALL | _dtypes.FLOAT8))

    @cached_property
    def loaded(self) -> Any:  # a Backend whose functions are no strings
        """The backend with what its ``"module:attribute"`` strings name, which is imported now.

        Raises:
            PluginError: something cannot be imported, or is no function or type.
        """
        fields = ("array_type", *_REQUIRED, *_OPTIONAL)
        found = {name: self._load(name) for name in fields if isinstance(getattr(self, name), str)}
        return replace(self, **found) if found else self

    def _load(self, name: str) -> Any:
        reference = getattr(self, name)
        try:
            value = load_reference(reference)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # libraries in other languages raise their panics as such
            raise PluginError(f"{name} ({reference}) could not be loaded: {describe_error(error)}") from error
        if not (isinstance(value, type) if name == "array_type" else callable(value)):
            wanted = "a type" if name == "array_type" else "a function"
            raise PluginError(f"{name} ({reference}) must be {wanted}; it is {describe_value(value)}")
        return value


_REQUIRED = (
    *("device_count", "from_host", "to_host", "copy", "synchronize", "as_array", "bind", "memory_stats"),
    *("to_dlpack", "from_dlpack", "unavailable"),
)
_OPTIONAL = (
    *("base", "copy_from", "empty", "allocate_host", "prefetch", "set_memory_limit", "free_cached"),
    *("translate", "timer", "pending_error"),
)
_FIELDS = {
    "array_type": Field(
        lambda value: isinstance(value, type) or is_reference(value), "a type or a 'module:attribute' string"
    ),
    **dict.fromkeys(_REQUIRED, REFERENCE),
    **dict.fromkeys(_OPTIONAL, optional(REFERENCE)),
    **dict.fromkeys(("host_copy", "writable", "host_memory"), BOOL),
    "dlpack_type": optional(INT),
}
