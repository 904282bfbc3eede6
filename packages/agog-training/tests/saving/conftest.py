"""What the tests of saved models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


@pytest.fixture(scope="session")
def places() -> Callable[[Any], list[tuple[Any, Any]]]:
    """Lists where something is in nested dicts and lists: what holds it, and its key."""
    return _places
