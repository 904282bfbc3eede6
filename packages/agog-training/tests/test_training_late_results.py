"""Late results: they ask once, at the first look of any kind, and are dicts otherwise."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from agog_training.fit.late_results import LateResults

LOOKS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "item": (lambda late: late["loss"], 0.5),
    "get": (lambda late: late.get("none", 3), 3),
    "in": (lambda late: "mae" in late, True),
    "length": (len, 2),
    "truth": (bool, True),
    "names": (list, ["loss", "mae"]),
    "values": (lambda late: list(late.values()), [0.5, 2.0]),
    "items": (lambda late: [*late.items()], [("loss", 0.5), ("mae", 2.0)]),
    "dict": (dict, {"loss": 0.5, "mae": 2.0}),
    "unpacked": (lambda late: {**late}, {"loss": 0.5, "mae": 2.0}),
    "equal": (lambda late: late == {"loss": 0.5, "mae": 2.0}, True),
    "joined": (lambda late: {"a": 1} | late, {"a": 1, "loss": 0.5, "mae": 2.0}),
    "text": (repr, "{'loss': 0.5, 'mae': 2.0}"),
    "JSON": (json.dumps, '{"loss": 0.5, "mae": 2.0}'),
    "copy": (lambda late: late.copy(), {"loss": 0.5, "mae": 2.0}),
}


@pytest.mark.parametrize("name", LOOKS)
def test_each_look_asks_once(name: str) -> None:
    look, wanted = LOOKS[name]
    asked: list[int] = []

    def ask() -> dict[str, float]:
        asked.append(1)
        return {"loss": 0.5, "mae": 2.0}

    late = LateResults(["loss", "mae"], ask)
    beside = late.beside({})
    assert asked == []
    assert look(beside) == wanted
    assert look(late) == wanted
    assert len(asked) == 1


def test_what_is_beside_is_asked_for_too() -> None:
    late = LateResults(["loss"], lambda: {"loss": 0.5})
    both = late.beside({"batch": 3})
    late.look()
    assert dict.__repr__(both) == "{'batch': 3, 'loss': 0.5}"


def test_what_is_written_before_a_look_stays() -> None:
    late = LateResults(["loss"], lambda: {"loss": 0.5})
    late["loss"] = 3.0
    assert late == {"loss": 3.0}


def test_copies_have_numbers() -> None:
    for copied in (copy.copy, copy.deepcopy, lambda late: pickle.loads(pickle.dumps(late))):
        late = LateResults(["loss"], lambda: {"loss": 0.5})
        assert dict(copied(late)) == {"loss": 0.5}
