"""Advice: replacements for names of TensorFlow, Keras and PyTorch that agog lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

from agog_core.exports import export

__all__ = ["absent", "advice_on", "face", "refused", "taught"]

_EVERY = "*"


class Table(NamedTuple):
    """What ``names.txt`` says: advice by the name that a program says, such as ``tf.ragged``.

    Attributes:
        absent: names that are not there; ``tf.contrib.slim.*`` stands for all of a namespace.
        refused: functions that are there, and raise: the error's type, and the advice.
    """

    absent: dict[str, str]
    refused: dict[str, tuple[type[Exception], str]]


@cache
def table() -> Table:
    """The table, which is read when the first name is missing."""
    from importlib import resources  # here, because its import takes milliseconds

    found = Table({}, {})
    advice = ""
    lines = resources.files("agog_compat").joinpath("names.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            advice = line
            continue
        namespace, _, names = line.strip().partition(": ")
        for name in names.split():
            plain = name.rstrip("!").removesuffix("()")
            if plain == name:
                found.absent[f"{namespace}.{name}"] = advice
            else:
                error = NotImplementedError if name.endswith("!") else RuntimeError
                found.refused[f"{namespace}.{plain}"] = error, advice
    return found


def absent() -> dict[str, str]:
    """The names that are not there, with what to do instead.

    >>> absent()["tf.ragged"]
    'use padded_batch with masks'
    """
    return table().absent


def refused() -> dict[str, tuple[type[Exception], str]]:
    """The functions that are there, and raise when they are called: the error's type, and what to do instead.

    >>> refused()["tf.placeholder"]
    (<class 'RuntimeError'>, 'pass tensors to a function instead')
    """
    return table().refused


def advice_on(name: str) -> str | None:
    """What to do instead of a name, such as ``tf.ragged``; None where nothing is known of it.

    >>> advice_on("tf.contrib.slim")
    'use tf.keras.layers'
    >>> advice_on("tf.no_such_name")
    """
    known = absent()
    return known.get(name) or known.get(f"{name.rpartition('.')[0]}.{_EVERY}")


def taught(module: str, found: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a namespace of the umbrella: the error for a known name says what to do instead. It is an
    AttributeError, and an ImportError for ``from namespace import name``.

    Args:
        module: the namespace, such as ``"agog.keras"``.
        found: the ``__getattr__`` of what the namespace imports later, if there is one.

    Returns:
        The function.

    >>> try:
    ...     taught("agog")("ragged")
    ... except AttributeError as error:
    ...     print(error)
    tf.ragged: not in agog; use padded_batch with masks
    """
    plain = f"module {module!r} has no attribute "

    def __getattr__(name: str) -> Any:
        if found is not None:
            try:
                return found(name)
            except AttributeError as error:
                if str(error) != f"{plain}{name!r}":  # it comes from inside of what is imported
                    raise
        advice = None if name.startswith("_") else advice_on(f"{said(module)}.{name}")
        if advice is None:
            raise AttributeError(f"{plain}{name!r}") from None
        text = f"{said(module)}.{name}: not in agog; {advice}"
        if is_import(sys._getframe(1)):
            raise ImportError(f"cannot import name {name!r} from {module!r}: {text}", name=module) from None
        raise AttributeError(text) from None

    return __getattr__


def face(namespace: dict[str, Any], *modules: str) -> None:
    """Make a namespace of the umbrella of star imports: `export` it, and let it teach what it lacks.

    Args:
        namespace: its ``globals()``.
        *modules: the modules that it offers besides.
    """
    export(namespace, *modules)
    namespace["__getattr__"] = taught(namespace["__name__"])


def is_import(frame: FrameType) -> bool:
    """Whether a frame is at ``from module import name``, for which Python hides what an AttributeError says."""
    from opcode import opmap

    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def said(module: str) -> str:
    """What programs call a namespace.

    >>> said("agog.keras.layers"), said("agog.eager")
    ('tf.keras.layers', 'tfe')
    """
    return "tfe" if module == "agog.eager" else "tf" + module.removeprefix("agog")
