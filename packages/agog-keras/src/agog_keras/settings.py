"""Settings: the settings of ``tf.keras.backend``, most of them fixed."""

from __future__ import annotations

from agog_core.settable import Settable
from agog_core.variables.name_scope import reset_names

__all__ = [
    "backend",
    "clear_session",
    "epsilon",
    "floatx",
    "image_data_format",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
]


class _Numbers(Settable):
    """The numbers that programs may set; functions that were traced with others are traced again."""

    def __init__(self) -> None:
        self.epsilon = 1e-7


# What `set_epsilon` was told.
_numbers = _Numbers()


def backend() -> str:
    """What computes.

    Returns:
        ``"tensorflow"``, since that is what programs ask about.

    >>> backend()
    'tensorflow'
    """
    return "tensorflow"


def epsilon() -> float:
    """A small number.

    Returns:
        1e-7, or what `set_epsilon` was told.

    >>> epsilon()
    1e-07
    """
    return _numbers.epsilon


def set_epsilon(value: float) -> None:
    """Change what `epsilon` returns; layers and losses have their own arguments for it.

    Args:
        value: the number.
    """
    _numbers.epsilon = float(value)


def floatx() -> str:
    """The dtype of floats that nothing else determines.

    Returns:
        ``"float32"``.

    >>> floatx()
    'float32'
    """
    return "float32"


def set_floatx(value: str) -> None:
    """Choose the dtype of floats, which is float32 here.

    Args:
        value: ``"float32"``.

    Raises:
        ValueError: it is another dtype.

    >>> set_floatx("float32")
    """
    if value != "float32":
        raise ValueError(
            f"set_floatx: floats are float32 where nothing else is said; got {value!r}. Give layers dtype={value!r}, "
            "and inputs of that dtype."
        )


def image_data_format() -> str:
    """Where images have their channels.

    Returns:
        ``"channels_last"``.

    >>> image_data_format()
    'channels_last'
    """
    return "channels_last"


def set_image_data_format(data_format: str) -> None:
    """Choose where images have their channels, which is last here.

    Args:
        data_format: ``"channels_last"``.

    Raises:
        ValueError: it is another format.

    >>> set_image_data_format("channels_last")
    """
    if data_format != "channels_last":
        raise ValueError(
            f"set_image_data_format: channels are last where nothing else is said; got {data_format!r}. Give layers "
            f"data_format={data_format!r}."
        )


def clear_session() -> None:
    """Let the numbers in the names of layers and variables begin anew; there is no session."""
    reset_names()
