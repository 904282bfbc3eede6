"""Retries: operations of remote stores that are tried again where an error may pass."""

from __future__ import annotations

import errno
import random
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from agog_core.errors import InvalidArgumentError

__all__ = ["set_remote_retries"]

T = TypeVar("T")

_LONGEST_PAUSE = 30.0  # seconds
_PERMANENT = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
_ERRNOS = {
    *(errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.EIO, errno.EPIPE, errno.ETIMEDOUT),
    *(errno.ECONNABORTED, errno.ECONNREFUSED, errno.ECONNRESET, errno.ENETDOWN, errno.ENETRESET, errno.ENETUNREACH),
    *(errno.EHOSTUNREACH, getattr(errno, "EREMOTEIO", errno.EIO)),
}
_STATUSES = {408, 425, 429, 500, 502, 503, 504}
# Classes of libraries for networks that are no OSError.
_CLASSES = {
    *("ClientConnectionError", "ClientPayloadError", "ConnectTimeoutError", "EndpointConnectionError"),
    *("HTTPClientError", "IncompleteRead", "ProtocolError", "ReadTimeoutError", "ResponseStreamingError", "Timeout"),
    *("TransportError",),
}


class Policy(NamedTuple):
    """How often an operation is tried again, and how many seconds after its first failure."""

    retries: int
    pause: float


_policy = Policy(5, 0.5)  # what `set_remote_retries` chose


def set_remote_retries(retries: int = 5, pause: float = 0.5) -> None:
    """Say how often an operation on a remote file is tried again after an error that may pass.

    These are lost connections, timeouts, and servers that are busy or have failed: the statuses 408, 425, 429, 500,
    502, 503 and 504. All others, such as a missing file or permission, are raised at once.

    Args:
        retries: how many tries follow the first one; 0 for none. The default is 5.
        pause: how many seconds are waited before the second try, 0.5 by default. Before each further one it is twice as
            long, up to 30 seconds; a random part of up to a half is left out, so that many programs do not come back
            at once.

    Raises:
        InvalidArgumentError: a number is negative.

    >>> set_remote_retries(3, pause=1.0)
    >>> set_remote_retries()
    """
    global _policy
    if retries < 0 or pause < 0:
        raise InvalidArgumentError(
            f"set_remote_retries: retries and pause must not be negative; got {retries} and {pause}."
        )
    _policy = Policy(int(retries), float(pause))


def retried(url: str, act: Callable[[], T]) -> T:
    """What an operation returns, tried again where it fails for a while. Raises OSError with the URL as its file's
    name, and ConnectionError if it failed until the last try."""
    policy = _policy
    for number in range(policy.retries + 1):
        try:
            return act()
        except (MemoryError, NotImplementedError, TypeError):
            raise
        except Exception as error:
            if not is_transient(error):
                raise _named(error, url) from error
            if number == policy.retries:
                tries = f"{number + 1} tries" if number else "1 try"
                raise ConnectionError(errno.EIO, f"{_text(error)} (after {tries})", url) from error
        time.sleep(min(_LONGEST_PAUSE, policy.pause * 2**number) * random.uniform(0.5, 1.0))
    raise AssertionError("unreachable")


def is_transient(error: BaseException) -> bool:
    """Whether an operation may succeed if it is tried again."""
    if isinstance(error, _PERMANENT):
        return False
    if isinstance(error, (ConnectionError, TimeoutError)) or status_of(error) in _STATUSES:
        return True
    if any(each.__name__ in _CLASSES for each in type(error).__mro__):
        return True
    return isinstance(error, OSError) and error.errno in _ERRNOS


def status_of(error: BaseException) -> int | None:
    """The status of HTTP that an error tells of, where there is one."""
    for each in (error, error.__cause__):
        answer = getattr(each, "response", None)
        if isinstance(answer, dict):  # botocore's
            status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
            return status if isinstance(status, int) else None
        for name in ("status", "status_code", "code"):
            if isinstance(found := getattr(each, name, None), int):
                return found
    return None


def _named(error: Exception, url: str) -> Exception:
    """The error of the operating system for one of a store."""
    if isinstance(error, ValueError):
        return error
    for kind, number in (
        (FileNotFoundError, errno.ENOENT),
        (FileExistsError, errno.EEXIST),
        (IsADirectoryError, errno.EISDIR),
        (NotADirectoryError, errno.ENOTDIR),
        (PermissionError, errno.EACCES),
    ):
        if isinstance(error, kind):
            return kind(number, _text(error) if kind is PermissionError else _TEXTS[number], url)
    if type(error).__name__ == "NoCredentialsError":
        return PermissionError(errno.EACCES, _text(error), url)
    return OSError(getattr(error, "errno", None) or errno.EINVAL, _text(error), url)


_TEXTS = {
    errno.ENOENT: "No such file or directory",
    errno.EEXIST: "File exists",
    errno.EISDIR: "Is a directory",
    errno.ENOTDIR: "Not a directory",
}


def _text(error: BaseException) -> str:
    text = (getattr(error, "strerror", None) or str(error)).rstrip(".")
    return text or type(error).__name__
