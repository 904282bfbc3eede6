"""Lookup: devices by their names, the scopes that choose one, and the backends behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.backends import backends, check_decided, device_types
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.device_spec import DeviceSpec
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.plugins.preference import forgetting
from agog_core.dispatch.plugins.reference import load_function
from agog_core.dispatch.plugins.unavailability import why_unavailable
from agog_core.dispatch.plugins.watch import watched
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError, PluginError, describe_error, describe_value
from agog_core.named_tuple import Named

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.backend import Backend

__all__ = ["count_devices", "device", "list_devices"]

# Names that TensorFlow programs use on any machine: entering their scope is no error where nothing serves them.
_TENSORFLOW_TYPES = ("cpu", "gpu")
_PREFIX = r"(?i)^/job:localhost/replica:0/task:0(?=/)"
_OPEN = r"(?i)^(/job:localhost)?(/replica:0)?(/task:0)?/?\Z"
_NAME = r"(?i)^/?(?:device:)?([a-z_]\w*)(?::(\d+|\*))?\Z"


class Choice(Named):
    """What a device name says; parts that the name leaves open are None."""

    type: str | None
    number: int | None


# The innermost `device` scope of this thread or task.
_scope: ContextVar[Choice | None] = ContextVar("agog_device", default=None)
# One entry per scope that any thread or task is in. Ops look at the context variable only while this is not empty.
scopes: list[Choice | None] = []

FAILED = "its plugin failed"
"""What a reason begins with, where a backend is broken and its hardware may be there."""

# How often resolutions were forgotten: what has kept kernels looks here whether to ask for them again.
forgotten = [0]
# Every device that something has asked for.
_devices: dict[tuple[str, int], Device] = {}


@contextmanager
def device(name: str | DeviceSpec | None) -> Iterator[None]:
    """Run the ops inside on a device; inputs that are elsewhere are copied there.

    Scopes nest, and a partial name takes what it leaves open from the scope around it.

    Args:
        name: a device name such as ``"/cpu:0"``, ``"gpu:1"`` or ``"/job:localhost/replica:0/task:0/device:CPU:0"``, a
            `DeviceSpec`, or None to let each op run where its inputs are. ``""`` is the scope's around it, and the
            default device outside of all scopes.

    Returns:
        A context manager.

    Raises:
        ValueError: the name is not a string or not a device name.
        RuntimeError: the name is a function, which has no meaning without a graph.

    >>> import agog_core as ag
    >>> with ag.device("/cpu:0"):
    ...     print(ag.constant([1.0]).device)
    /job:localhost/replica:0/task:0/device:CPU:0
    """
    spec = None if name is None else _merge(_parse_partial(name), _scope.get())
    token = _scope.set(spec)
    scopes.append(spec)
    try:
        yield
    finally:
        scopes.remove(spec)
        _scope.reset(token)


def get_device(name: str) -> Device:
    """The device of a name; without an index, the first of its type.

    >>> get_device("cpu:0")
    <Device cpu:0>
    """
    spec = _parse(name)
    return _find(spec.type, spec.number or 0)


def current_device() -> Device:
    """The device of the scope that this thread or task is in, or the default one."""
    return scope_device() or default_device()


def scope() -> Choice | None:
    """What the innermost scope asks for; None outside of all, and where each op is to run where its inputs are."""
    return _scope.get()


def scope_device() -> Device | None:
    """The device that the innermost scope asks for, or None outside of all scopes."""
    spec = _scope.get()
    return None if spec is None else _find(spec.type, spec.number or 0)


def scope_name() -> str:
    """The full name of the device that the innermost scope asks for, usable or not; empty where none does.

    >>> with device("gpu:1"):
    ...     scope_name()
    '/job:localhost/replica:0/task:0/device:GPU:1'
    """
    spec = _scope.get()
    if spec is None or spec.type is None:
        return ""
    return f"/job:localhost/replica:0/task:0/device:{spec.type.upper()}:{spec.number or 0}"


@cache
def default_device() -> Device:
    """The device of tensors that are made outside of all scopes: the first whose arrays live in host memory."""
    return _find(None, 0)


@cache
def host_device(*dtypes: DType) -> Device:
    """The device in host memory that has what others do not hold: the first one that holds some dtypes."""
    for backend in backends():
        if backend.host_memory and state(backend)[0] and _find(backend.device, 0).holds_all(dtypes):
            return _find(backend.device, 0)
    raise InvalidArgumentError(
        f"No device in host memory holds {', '.join(dtype.name for dtype in dtypes)}; the devices are "
        f"{', '.join(list_devices()) or 'none'}. Install one: pip install agog-cpu-numpy."
    )


def list_devices() -> list[str]:
    """The full names of all usable devices, those in host memory first.

    Returns:
        Names such as ``"/job:localhost/replica:0/task:0/device:CPU:0"``.

    >>> list_devices()[0]
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    return [_find(backend.device, index).name for backend in backends() for index in range(state(backend)[0])]


def count_devices(device_type: str) -> int:
    """How many usable devices of a type there are; 0 where no backend serves the type.

    >>> count_devices("cpu")
    1
    """
    return sum(state(backend)[0] for backend in backends() if backend.device == device_type)


def devices_in_use() -> list[Device]:
    """The devices that something has asked for."""
    return list(_devices.values())


def tables() -> Iterator[KernelTable]:
    """All kernel tables that exist."""
    for known in list(_devices.values()):
        yield from list(known.tables.values())


def clear_tables() -> None:
    """Forget all resolutions, because a preference or the set of plugins has changed."""
    forgotten[0] += 1
    for table in tables():
        table.kernels.clear()
        table.scalar_kernels.clear()
        table.several.clear()
        table.keeps.clear()
        table.chains.clear()


def forget_devices() -> None:
    """Look for devices again, because the set of plugins has changed; those whose backend stays, stay."""
    default_device.cache_clear()
    host_device.cache_clear()
    known_backends = backends()
    for key, known in list(_devices.items()):
        mine = (backend for backend in known_backends if backend.device == known.type)
        if not any(backend.loaded is known.backend for backend in mine):
            del _devices[key]


def _forget_preference() -> None:
    clear_tables()
    forget_devices()


forgetting.append(_forget_preference)


def state(backend: Backend) -> tuple[int, str | None]:
    """How many devices a backend has that can be used, and why it has none; a broken backend harms no other."""
    try:
        if (why := why_unavailable(backend, "backend")) is not None:
            return 0, why
        asked = f"device_count of the backend for device type {backend.device!r}"
        with watched(lambda seconds: f"agog: {asked} has not answered after {seconds:g} s."):
            count = load_function(backend.device_count)()
        if not isinstance(count, int) or count < 0:
            return 0, f"{FAILED}: device_count must return a number of devices; it returned {describe_value(count)}"
        if count:
            _ = backend.loaded
        return int(count), None
    except PluginError as error:
        return 0, f"{FAILED}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # libraries in other languages raise their panics as such
        return 0, f"{FAILED}: {describe_error(error)}"


def _find(device_type: str | None, index: int) -> Device:
    if device_type is None:
        types = device_types()
        if not types:
            raise InvalidArgumentError(_no_backend())
        device_type = next((backend.device for backend in backends() if state(backend)[0]), types[0])
    key = device_type, index
    if key in _devices:
        return _devices[key]
    check_decided(device_type)
    for backend in backends():
        if backend.device == device_type:
            count, why = state(backend)
            if index < count:
                return _devices.setdefault(key, Device(backend, index))  # another thread may have made it
            raise InvalidArgumentError(_unknown(device_type, index, why))
    raise InvalidArgumentError(
        _unknown(device_type, index, f"no installed plugin brings the device type {device_type!r}.")
    )


def _no_backend() -> str:
    """Why there is no device at all: plugins that AGOG_PLUGINS leaves out, that failed, or that are not installed."""
    from agog_core.dispatch.plugins.loader import loader

    found = loader()
    left_out = [p.name for p in found.plugins if p.skipped]
    lines = ["No plugin that brings a device is loaded."]
    lines += [
        f"  failed to load: plugin {p.name!r} ({p.distribution}): {p.failure}"
        for p in found.plugins
        if p.failure is not None
    ]
    if left_out:
        allowed = ",".join(sorted(found.allowed or ()))
        lines.append(f"  left out by AGOG_PLUGINS={allowed!r}: {', '.join(map(repr, left_out))}")
        lines.append("Name one of these in AGOG_PLUGINS, or unset it.")
    else:
        lines.append("Install one: pip install agog-cpu-numpy.")
    return "\n".join(lines)


def _unknown(device_type: str, index: int, why: str | None) -> str:
    from agog_core.dispatch.plugins.loader import loader

    usable = [f"{backend.device}:{i}" for backend in backends() for i in range(state(backend)[0])]
    lines = [f"/job:localhost/replica:0/task:0/device:{device_type.upper()}:{index} unknown device."]
    if why:
        lines.append(f"  why: {why}")
    lines.append(f"  devices: {', '.join(usable) or 'none'}")
    lines += [
        f"  failed to load: plugin {p.name!r} ({p.distribution}): {p.failure}"
        for p in loader().plugins
        if p.failure is not None
    ]
    lines.append("`agog plugins` lists the plugins and their devices.")
    return "\n".join(lines)


def _parse(name: Any) -> Choice:
    if callable(name):
        raise RuntimeError(
            "tf.device does not support functions: a device function chooses by graph node, and here ops run at once."
        )
    if isinstance(name, DeviceSpec):
        name = name.to_string()
    if not isinstance(name, str):
        raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
    match = re.match(_NAME, re.sub(_PREFIX, "", name))
    if match is None:
        raise ValueError(f"Unknown attribute: {name!r} is not a device name; names look like '/cpu:0' or 'gpu:1'.")
    device_type = match[1].lower()
    if device_type not in _TENSORFLOW_TYPES and device_type not in device_types():
        known = ", ".join(sorted({*_TENSORFLOW_TYPES, *device_types()}))
        raise ValueError(f"Unknown attribute: {device_type!r} in {name!r}; the device types are {known}.")
    return Choice(device_type, None if match[2] in (None, "*") else int(match[2]))


def _parse_partial(name: Any) -> Choice:
    """What a scope's name says; one that leaves all open, such as ``""``, says nothing."""
    text = name.to_string() if isinstance(name, DeviceSpec) else name
    return Choice(None, None) if isinstance(text, str) and re.match(_OPEN, text) else _parse(name)


def _merge(inner: Choice, outer: Choice | None) -> Choice:
    if outer is not None and inner.type is None:
        return outer
    if outer is None or inner.type != outer.type:
        return inner
    return Choice(inner.type, outer.number if inner.number is None else inner.number)
