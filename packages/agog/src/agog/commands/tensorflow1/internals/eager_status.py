"""Eager status: the errors of TensorFlow's ``python.eager.core``."""

from __future__ import annotations

from agog_compat.error_codes import exception_type_from_error_code
from agog_core.errors import OpError, UnknownError

__all__ = ["NotOkStatusException", "status_to_exception"]


class NotOkStatusException(Exception):
    """What programs catch around calls into that library; nothing of agog raises it.

    Args:
        message: the text.
        code: the number of the status.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.message, self.code = message, code


def status_to_exception(code: int, message: str) -> OpError:
    """The exception of `tf.errors` that a status stands for.

    Args:
        code: the number of the status.
        message: the text.

    Returns:
        The exception.

    >>> status_to_exception(5, "no such file")
    NotFoundError('no such file')
    """
    try:
        return exception_type_from_error_code(code)(message)
    except KeyError:
        return UnknownError(message)
