"""docs/architecture.md says what stands where, and what modules keep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_tables_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DOCS / "rooms.py"), str(tmp_path / "architecture.md")], check=True)
    page, written = ((folder / "architecture.md").read_text(encoding="utf-8") for folder in (tmp_path, DOCS))
    differing = "\n".join(sorted(set(page.splitlines()) ^ set(written.splitlines())))
    assert page == written, (
        f"docs/architecture.md is not what the sources say; `python docs/rooms.py` renews it:\n{differing}"
    )


def test_what_modules_keep_says_who_writes_it() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("<!-- state -->")[2].partition("<!-- end -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    assert [row for row in rows if row.endswith("|  |")] == []


def test_the_readme_says_how_much_there_is_to_read() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        import rooms
    finally:
        sys.path.remove(str(DOCS))
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(rooms.READING) == 9
    assert sum(rooms.lines(rooms.CORE / file) for file in rooms.READING) < 2300
    assert "nine files of Python, fewer than 2,300 lines" in " ".join(readme.split())
