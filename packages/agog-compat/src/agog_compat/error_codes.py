"""Error codes: TensorFlow's numbers for kinds of errors, and their exceptions."""

from __future__ import annotations

from agog_core import errors
from agog_core.errors import OpError

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16

_TYPES: dict[int, type[OpError]] = {
    kind.error_code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, OpError) and kind.__base__ is OpError
}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The exception that is raised for a number.

    Args:
        error_code: the number.

    Returns:
        A class of `agog_core.errors`.

    Raises:
        KeyError: no exception has the number.

    >>> exception_type_from_error_code(NOT_FOUND).__name__
    'NotFoundError'
    """
    return _TYPES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The number of an exception.

    Args:
        cls: a class of `agog_core.errors`.

    Returns:
        The number.

    >>> error_code_from_exception_type(errors.NotFoundError)
    5
    """
    return cls.error_code
