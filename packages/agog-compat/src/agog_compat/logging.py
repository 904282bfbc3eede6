"""Logging: the messages of a program, under the names of ``tf.logging``, over Python's own library."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

from agog_core.calls.docstrings import documented_like

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]

DEBUG = logging.DEBUG
INFO = logging.INFO
WARN = logging.WARNING
ERROR = logging.ERROR
FATAL = logging.CRITICAL

logger = logging.getLogger("agog")
# How often each line has asked for a message that is not to be logged every time.
_counts: Counter[Any] = Counter()


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message.

    Args:
        level: how important it is, such as `INFO`.
        msg: the message, with placeholders such as ``%s``.
        *args: what to put in their places.
        **kwargs: as for `logging.Logger.log`.
    """
    if not (logger.handlers or logging.getLogger().handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s:agog:%(message)s"))
        logger.addHandler(handler)
    logger.log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level `DEBUG`. See `log`."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level `INFO`. See `log`."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level `WARN`. See `log`."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level `ERROR`. See `log`."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of the level `FATAL`; the program goes on. See `log`."""
    log(FATAL, msg, *args, **kwargs)


vlog = log


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Log a message, if something is true.

    Args:
        level: how important it is.
        msg: the message, with placeholders such as ``%s``.
        condition: whether to log it.
        *args: what to put in their places.
    """
    if condition:
        log(level, msg, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log a message the first time, and then every ``n``-th time.

    Args:
        level: how important it is.
        msg: the message, with placeholders such as ``%s``; each message has its own count.
        n: how often.
        *args: what to put in their places.
    """
    _counts["every", msg] += 1
    log_if(level, msg, (_counts["every", msg] - 1) % n == 0, *args)


@documented_like(log_every_n)
def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log a message the first ``n`` times."""
    _counts["first", msg] += 1
    log_if(level, msg, _counts["first", msg] <= n, *args)


def set_verbosity(v: int | str) -> None:
    """Choose which messages are shown.

    Args:
        v: the lowest level that is.
    """
    logger.setLevel(v)


def get_verbosity() -> int:
    """Which messages are shown.

    Returns:
        The lowest level that is; `WARN` at the beginning.
    """
    return logger.getEffectiveLevel()


def flush() -> None:
    """Write what has not been written yet."""
    for handler in [*logger.handlers, *logging.getLogger().handlers]:
        handler.flush()
