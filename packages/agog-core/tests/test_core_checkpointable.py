"""Parts of objects that other threads make while a restore lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import Checkpointable, Variable
from agog_core.checkpointable import is_checkpointable


class Meanwhile:
    """Does something whenever somebody asks for its class, as `isinstance` does: what another thread might do then."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        self.act()
        return object


def test_attributes() -> None:
    owner = Checkpointable()
    owner.parts = [Meanwhile(lambda: setattr(owner, f"more_{len(vars(owner))}", 0)), Variable(0.0)]
    owner.last = Variable(0.0)
    assert list(owner.checkpoint_dependencies()) == ["parts", "last"]
    assert "more_2" in vars(owner)


def test_dicts() -> None:
    parts: dict[str, Any] = {"first": Meanwhile(lambda: parts.setdefault("more", 0)), "v": Variable(0.0)}
    assert is_checkpointable(parts)
    assert "more" in parts
