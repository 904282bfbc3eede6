"""Reference: a ``"module:attribute"`` string that stands for what is imported later."""

from __future__ import annotations

import importlib
from typing import Any


def load_reference(reference: Any) -> Any:
    """Import what a ``"module:attribute"`` string names.

    >>> load_reference("math:sqrt")(9.0)
    3.0
    """
    if not isinstance(reference, str):
        return reference
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)
