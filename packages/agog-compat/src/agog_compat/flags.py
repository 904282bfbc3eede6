"""Flags: absl's flags with TensorFlow 1's additions, for ``tf.flags``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from absl import flags as _flags
from absl.flags import *  # noqa: F403  # all of them are this module's too

__all__ = list(_flags.__all__)

# How TensorFlow 1 calls the arguments of the functions that define flags.
_OLDER_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class _Flags:
    """The values of all flags of a program. The first read takes them from the command line."""

    def __init__(self, values: _flags.FlagValues) -> None:
        vars(self)["_values"] = values

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        rest: list[str] = self._values(argv, known_only)
        return rest

    def __getattr__(self, name: str) -> Any:
        values = self._values
        if name in values and not values.is_parsed():
            values(sys.argv, known_only=True)
        try:
            return getattr(values, name)
        except AttributeError:
            raise _unknown(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise _unknown(name)
        setattr(self._values, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._values, name)

    def __dir__(self) -> list[str]:
        return dir(self._values)

    def __getitem__(self, name: str) -> _flags.Flag[Any]:
        flag: _flags.Flag[Any] = self._values[name]
        return flag

    def __setitem__(self, name: str, flag: _flags.Flag[Any]) -> None:
        self._values[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _unknown(name: str) -> AttributeError:
    return AttributeError(f"There is no flag {name!r}; define it with tf.flags.DEFINE_string or its like.")


def _with_older_names(define: Callable[..., Any]) -> Callable[..., Any]:
    """A function that defines a flag, also by TensorFlow 1's names of its arguments."""

    @wraps(define)
    def with_older_names(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLDER_NAMES.get(name, name): value for name, value in kwargs.items()})

    return with_older_names


FLAGS = _Flags(_flags.FLAGS)  # type: ignore[assignment]  # it stands for what absl has under this name
DEFINE_string = _with_older_names(_flags.DEFINE_string)
DEFINE_integer = _with_older_names(_flags.DEFINE_integer)
DEFINE_float = _with_older_names(_flags.DEFINE_float)
DEFINE_bool = DEFINE_boolean = _with_older_names(_flags.DEFINE_boolean)

_flags.disclaim_key_flags()  # a flag belongs to the program's module that defines it
