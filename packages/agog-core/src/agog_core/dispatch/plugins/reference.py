"""Reference: a ``"module:attribute"`` string that stands for what is imported later."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from agog_core.errors import describe_value


def load_reference(reference: Any) -> Any:
    """Import what a ``"module:attribute"`` string names.

    >>> load_reference("math:sqrt")(9.0)
    3.0
    """
    if not isinstance(reference, str):
        return reference
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)


def load_function(reference: Any) -> Callable[..., Any]:
    """A function that a plugin has given, or named."""
    function = load_reference(reference)
    if not callable(function):
        raise TypeError(f"{reference} must be a function; it is {describe_value(function)}")
    return function  # type: ignore[no-any-return]  # callable() has just said so
