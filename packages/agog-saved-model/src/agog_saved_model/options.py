"""Options: what TensorFlow lets programs choose when they save and load; here nothing depends on it."""

from __future__ import annotations

from typing import Any

__all__ = ["LoadOptions", "SaveOptions"]


class SaveOptions:
    """Options of `save`, which are accepted and have no effect.

    Args:
        **options: those of TensorFlow.

    >>> SaveOptions(experimental_io_device="/job:localhost").options
    {'experimental_io_device': '/job:localhost'}
    """

    def __init__(self, **options: Any) -> None:
        self.options = options


class LoadOptions(SaveOptions):
    """Options of `load`, which are accepted and have no effect.

    Args:
        **options: those of TensorFlow.

    >>> LoadOptions().options
    {}
    """
