"""Execution: TensorFlow's switches to eager execution, agog's only mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agog_compat.configuration import ConfigProto, limit_gpu_memory, warn_of_more_devices
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.devices.lookup import count_devices, devices_in_use
from agog_core.tensors.placement import set_device_policy

__all__ = [
    "ASYNC",
    "SYNC",
    "async_clear_error",
    "async_wait",
    "enable_eager_execution",
    "executing_eagerly",
    "execution_mode",
    "in_eager_mode",
    "num_gpus",
    "set_execution_mode",
]

SYNC = "sync"
ASYNC = "async"

# What `set_execution_mode` chose in this thread or task.
_mode: ContextVar[str] = ContextVar("agog_execution_mode", default=SYNC)
# Whether `enable_eager_execution` was called.
_is_enabled = False


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Choose the policy and the mode; agog always executes eagerly. After the first call nothing happens.

    Args:
        config: a `ConfigProto` or None. Of its fields, ``gpu_options.per_process_gpu_memory_fraction`` limits what is
            taken of each GPU's memory, and ``device_count`` warns where there are more devices.
        device_policy: what happens when an op's input is on another device, as for `set_device_policy`; it holds for
            the thread that calls this and those that inherit its context.
        execution_mode: `SYNC`, `ASYNC` or None; ops are done when their functions return in both.

    Raises:
        ValueError: the device policy or the execution mode is unknown.
        TypeError: ``config`` is something else.
        InvalidArgumentError: the part of GPUs' memory is not in [0, 1].
        UnimplementedError: there are GPUs whose memory cannot be limited.

    >>> enable_eager_execution()
    """
    global _is_enabled
    if _is_enabled:
        return
    if config is not None and not isinstance(config, ConfigProto):
        raise TypeError(
            f"enable_eager_execution: config must be a tf.ConfigProto or None; got {config!r} of type "
            f"{type(config).__name__}."
        )
    check_mode("enable_eager_execution", execution_mode)
    if config is not None:
        warn_of_more_devices(config.device_count)
        limit_gpu_memory(config.gpu_options)
    if device_policy is not None:
        set_device_policy(device_policy)
    if execution_mode is not None:
        set_execution_mode(execution_mode)
    _is_enabled = True


def set_execution_mode(mode: str | None) -> None:
    """Choose whether ops of this thread or task may be done later than their functions return; none is.

    Args:
        mode: `SYNC`, `ASYNC`, or None for `SYNC`.

    Raises:
        ValueError: the mode is unknown.
    """
    check_mode("set_execution_mode", mode)
    _mode.set(mode or SYNC)


@documented_like(set_execution_mode)
@contextmanager
def execution_mode(mode: str | None) -> Iterator[None]:
    """Choose the execution mode inside a ``with`` block.

    Returns:
        A context manager.

    >>> with execution_mode(ASYNC):
    ...     async_wait()
    """
    with chosen_mode(_mode, mode):
        yield


@contextmanager
def chosen_mode(kept: ContextVar[str], mode: str | None) -> Iterator[None]:
    """`execution_mode`, where a mode is kept."""
    check_mode("execution_mode", mode)
    token = kept.set(mode or SYNC)
    try:
        yield
    finally:
        kept.reset(token)


def async_wait() -> None:
    """Wait until all ops are done, which they are on devices in host memory; others are synchronized."""
    for device in devices_in_use():
        device.synchronize()


def async_clear_error() -> None:
    """Forget errors of ops that were done later; as none is, an op's error is raised by its function."""


def check_mode(function: str, mode: str | None) -> None:
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"{function}: the execution mode must be tfe.SYNC, tfe.ASYNC or None; got {mode!r}.")


def executing_eagerly() -> bool:
    """Whether ops are executed as they are called.

    Returns:
        True, always.

    >>> executing_eagerly()
    True
    """
    return True


in_eager_mode = executing_eagerly


def num_gpus() -> int:
    """How many GPUs there are.

    Returns:
        The number of usable devices of the type "gpu"; 0 where no plugin brings that type.
    """
    return count_devices("gpu")
