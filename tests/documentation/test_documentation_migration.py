"""The tables for those who come from elsewhere name what there is."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path

import pytest

import agog as tf

PAGES = sorted((Path(__file__).parents[2] / "docs" / "migration").glob("*.md"))
NAME = re.compile(r"`(?:tf\.|(?=keras\.))([A-Za-z_][\w.]*)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_in_tables_are_there(page: Path) -> None:
    rows = [line.split("|") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [row[1] if row[2].startswith(" the same") else row[2] for row in rows]
    names = {name.rstrip(".") for cell in cells for name in NAME.findall(cell)}
    assert names
    missing = []
    for name in sorted(names):
        try:
            reduce(getattr, name.split("."), tf)
        except AttributeError:
            missing.append(name)
    assert missing == []
