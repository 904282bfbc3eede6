"""What TensorFlow programs call to switch to eager execution, which is all that agog has."""

from __future__ import annotations

from typing import Any

from agog_core.devices import count_devices

DEVICE_PLACEMENT_EXPLICIT = "explicit"
DEVICE_PLACEMENT_WARN = "warn"
DEVICE_PLACEMENT_SILENT = "silent"
SYNC = "sync"
ASYNC = "async"


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Do nothing: agog always executes eagerly. Programs that call this first need not be changed.

    Args:
        config: not used; kept for compatibility.
        device_policy: `DEVICE_PLACEMENT_SILENT` or None: inputs that are on another device are copied.
        execution_mode: `SYNC` or None: an op is done when its function returns.

    Raises:
        ValueError: another device policy or execution mode is asked for, which agog does not have yet.

    >>> enable_eager_execution()
    """
    if device_policy not in (None, DEVICE_PLACEMENT_SILENT):
        raise ValueError(
            f"enable_eager_execution: device_policy must be tfe.DEVICE_PLACEMENT_SILENT or None; got {device_policy!r}."
        )
    if execution_mode not in (None, SYNC):
        raise ValueError(f"enable_eager_execution: execution_mode must be tfe.SYNC or None; got {execution_mode!r}.")


def executing_eagerly() -> bool:
    """Whether ops are executed as they are called.

    Returns:
        True, always.

    >>> executing_eagerly()
    True
    """
    return True


def num_gpus() -> int:
    """How many GPUs there are.

    Returns:
        The number of usable devices of the type "gpu"; 0 where no plugin brings that type.
    """
    return count_devices("gpu")


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU.

    Args:
        cuda_only: not used; kept for compatibility.
        min_cuda_compute_capability: not used; kept for compatibility.

    Returns:
        True when `num_gpus` is not 0.
    """
    return num_gpus() > 0
