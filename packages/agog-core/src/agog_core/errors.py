"""Errors: the exceptions of agog, TensorFlow's ``tf.errors`` by status code, and those of its plugins."""

from __future__ import annotations

from typing import Any

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "AmbiguousKernelError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "MissingKernelError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "PluginError",
    "PluginWarning",
    "ResourceExhaustedError",
    "TracingError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]


class OpError(Exception):
    """Base of the errors that ops, devices and files raise.

    Programs of TensorFlow raise them by ``(node_def, op, message)``; the first two mean nothing here.

    Args:
        message: the whole text; it names the op, the expected and the actual value, and the remedy.
        error_code: TensorFlow's number of the status; None for that of the class.

    >>> str(OutOfRangeError("the end")), str(OutOfRangeError(None, None, "the end"))
    ('the end', 'the end')
    """

    error_code = 2

    def __init_subclass__(cls, *, error_code: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if error_code is not None:
            cls.error_code = error_code

    def __init__(self, *parts: Any, message: str | None = None, error_code: int | None = None, **ignored: Any) -> None:
        if len(parts) == 4:
            *parts, error_code = parts  # type: ignore[assignment]  # a list does, too
        text = parts[-1] if parts else message
        super().__init__(text)
        self.message = text
        if error_code is not None:
            self.error_code = error_code
        self.op = None
        self.node_def = None


class CancelledError(OpError, error_code=1):
    """An operation was cancelled."""


class UnknownError(OpError, error_code=2):
    """An error that fits no other class."""


class InvalidArgumentError(OpError, error_code=3):
    """An op got an argument of a wrong shape, dtype, device or value."""


class DeadlineExceededError(OpError, error_code=4):
    """A deadline passed before an operation could end."""


class NotFoundError(OpError, error_code=5):
    """A file, a checkpoint key or a kernel does not exist."""


class AlreadyExistsError(OpError, error_code=6):
    """Something that was to be created is there already."""


class PermissionDeniedError(OpError, error_code=7):
    """The caller may not do this."""


class ResourceExhaustedError(OpError, error_code=8):
    """Memory or another resource has run out."""


class FailedPreconditionError(OpError, error_code=9):
    """The state that an operation needs is not there."""


class AbortedError(OpError, error_code=10):
    """An operation was aborted."""


class OutOfRangeError(OpError, error_code=11):
    """An iteration is past its end."""


class UnimplementedError(OpError, error_code=12):
    """The operation is not supported."""


class InternalError(OpError, error_code=13):
    """Something that agog or a plugin promised does not hold."""


class UnavailableError(OpError, error_code=14):
    """A service is not reachable now."""


class DataLossError(OpError, error_code=15):
    """A file is truncated or corrupted."""


class UnauthenticatedError(OpError, error_code=16):
    """The caller has not said who it is."""


class MissingKernelError(NotFoundError):
    """No usable kernel exists for an op on a device and dtype."""


class AmbiguousKernelError(FailedPreconditionError):
    """Several kernels of equal rank exist for an op on a device and dtype, and nothing chooses among them."""


class PluginError(FailedPreconditionError):
    """A plugin could not be loaded, or broke the plugin contract."""


class TracingError(FailedPreconditionError):
    """A function does what a traced one cannot: later calls would not do it again."""


class TracingWarning(UserWarning):
    """A traced function does what its author may not mean."""


class FallbackWarning(UserWarning):
    """An op ran on another device than asked for, because its own has no kernel for it."""


class PluginWarning(UserWarning):
    """A plugin was left out; the text says which one and why."""


def describe_error(error: BaseException) -> str:
    """The type and the text of an error, even of one that cannot be printed.

    >>> describe_error(ValueError("no"))
    'ValueError: no'
    """
    try:
        text = str(error)
    except Exception as failure:
        text = f"its text cannot be read, for __str__ raises {type(failure).__name__}"
    return f"{type(error).__name__}: {text}"


def describe_value(value: Any) -> str:
    """The representation of a value, shortened, even of one that has none.

    >>> describe_value("no")
    "'no'"
    """
    try:
        text = repr(value)
    except Exception as failure:
        return f"an object of type {type(value).__name__}, whose __repr__ raises {type(failure).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}..."
