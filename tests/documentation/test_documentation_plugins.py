"""The pages for authors of plugins say what the sources, the commands and the kit say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import agog_kernels_xp
from agog_kernels_xp.standard import MISSING
from agog_testing.conformance import collect

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")


def module(name: str) -> object:
    """A program of docs/, as a module."""
    sys.path.insert(0, str(DOCS))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(DOCS))


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names by which links reach the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_quotes_are_what_they_quote(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DOCS / "quotes.py"), str(tmp_path)], check=True)
    renewed = {file.relative_to(tmp_path): file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.md")}
    assert {str(name) for name in renewed} == {
        "plugins.md",
        *(f"plugins/{name}.md" for name in ("devices", "kernels", "libraries", "ops")),
    }
    stale = [str(name) for name, text in renewed.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert stale == [], "what these pages quote has changed; `python docs/quotes.py` renews them"


def test_every_quote_has_an_end() -> None:
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        starts = len(re.findall(r"^<!-- (?:quote|output): ", text, re.MULTILINE))
        assert starts == len(module("quotes").QUOTE.findall(text)), page  # type: ignore[attr-defined]


def test_a_quote_is_renewed_whatever_stood_there() -> None:
    source = "tests/matrix/strangers/stranger-op/src/stranger_op/__init__.py: __all__"
    page = f"a\n<!-- quote: {source} -->\nstale\n<!-- end -->\nb\n"
    assert module("quotes").page(page) == (  # type: ignore[attr-defined]
        f'a\n<!-- quote: {source} -->\n```python\n__all__ = ["softcap"]\n```\n<!-- end -->\nb\n'
    )


def test_the_reference_has_every_name_of_the_contract() -> None:
    assert module("reference").missing() == set()  # type: ignore[attr-defined]


def test_the_reference_says_something_of_every_argument(tmp_path: Path) -> None:
    # In a process of its own: examples in the documentation bring plugins.
    subprocess.run([sys.executable, str(DOCS / "reference.py"), str(tmp_path / "reference.md")], check=True)
    page = (tmp_path / "reference.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if row.endswith("|  |")] == []
    assert {"### `agog_kernels() -> Iterable[Kernel]`", "### `Backend`", "### `OpInfo`"} <= set(page.splitlines())


def test_the_report_page_describes_every_check() -> None:
    page = (DOCS / "plugins" / "report.md").read_text(encoding="utf-8")
    table = page.partition("| check |")[2].partition("\n\n")[0]
    described = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    checks = {re.sub(r"_by_\w+", "_by_NAME", case.check) for case in collect("cpu-numpy")}
    # Some are of what is not there: kernels that fill an array or take several variables, executors and compilers.
    assert described == checks | {"out", "several", "pair", "reserve", "executed_by_NAME", "compiled_by_NAME"}


def test_the_page_of_devices_counts_the_kernels_for_the_array_api_standard() -> None:
    page = (DOCS / "plugins" / "devices.md").read_text(encoding="utf-8")
    count = len(agog_kernels_xp.NAMES)
    assert f"array-api-strict runs {count - len(MISSING)} of the {count} kernels so" in page


@pytest.mark.parametrize("page", sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")]), ids=lambda page: page.name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(prose(page)):
        target = page if path == "" else page.parent / path
        assert target.exists(), f"{page.name}: {path}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {path}#{anchor}"
