"""Strings in lower and upper case."""

from __future__ import annotations

from agog_core.ops.strings.case import lower, upper
from agog_testing import says


def test_lower_and_upper() -> None:
    words = [["ÄB", "Cd"], ["", "x1"]]
    assert lower(words, "utf-8").numpy().tolist() == [["äb".encode(), b"cd"], [b"", b"x1"]]
    assert lower(words).numpy().tolist() == [["Äb".encode(), b"cd"], [b"", b"x1"]]
    assert upper("äb", "utf-8").numpy() == "ÄB".encode()
    with says(ValueError, "upper: encoding must be '' or 'utf-8'; got 'latin'."):
        upper("a", "latin")
