"""The Python code in README.md, in docs/ and in the members' READMEs runs, and prints what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = ("*.md", "docs/**/*.md", "packages/*/README.md", "plugins/*/README.md")
PAGES = sorted(file for pattern in PATTERNS for file in ROOT.glob(pattern))
# The line before a block that cannot run: <!-- not run: needs a GPU -->.
# What is quoted from a source runs in the tests of that.
BLOCK = re.compile(
    r"^(?P<skip><!-- (not run|quote): .+ -->\n\n?)?```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def run(code: str, page: str, line: int, names: dict[str, object]) -> None:
    """Run one block: as a doctest where it has prompts, as a program otherwise."""
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, names, f"{page}:{line}", page, line)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        assert runner.failures == 0, "".join(report)
    else:
        # The blank lines make a traceback name the line of the page.
        exec(compile("\n" * line + code, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_of_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    # One namespace for a page: a later block may use what an earlier one made.
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        if not block["skip"]:
            run(block["code"], str(page.relative_to(ROOT)), text.count("\n", 0, block.start("code")), names)
