"""The picture of a session in the README: it is of the session, and asks for nothing of the network."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"


def shown(svg: str) -> str:
    """What a picture shows, without spaces."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
    return re.sub(r"\s", "", html.unescape("".join(texts)))


def test_a_session_is_typed_and_answered() -> None:
    terminal: Any = runpy.run_path(str(DOCS / "terminal.py"))
    svg = terminal["picture"]("import agog as tf\nfor n in (2, 3):\n    print(tf.constant(n) * 7)\n\nprint(1 / 0)\n")
    text = shown(svg)
    assert "...print(tf.constant(n)*7)tf.Tensor(14,shape=(),dtype=int32)tf.Tensor(21," in text
    assert text.endswith("ZeroDivisionError:divisionbyzero")


def test_the_picture_is_of_the_session_and_asks_for_nothing_of_the_network() -> None:
    terminal: Any = runpy.run_path(str(DOCS / "terminal.py"))
    svg = terminal["PICTURE"].read_text(encoding="utf-8")
    session = "".join(">>>" + "...".join(lines) for lines in terminal["blocks"](terminal["SESSION"]))
    for line in re.split(r">>>|\.\.\.", re.sub(r"\s", "", session)):
        assert line in shown(svg), f"{line}: `python docs/terminal.py` renews the picture"
    assert "url(http" not in svg
