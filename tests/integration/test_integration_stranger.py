"""The plugin of docs/plugins.md, as a stranger would install it, in processes of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the page's module, and the metadata that an installer would make of its pyproject.toml."""
    module = re.search(r"```python\n# agog_quick_square\.py\n(.*?)```", PAGE, re.DOTALL)
    entry_point = re.search(r"\[project\.entry-points\.agog\]\n(\S+) = \"(\S+)\"\n", PAGE)
    assert module
    assert entry_point
    (tmp_path / "agog_quick_square.py").write_text(module[1])
    metadata = tmp_path / "agog_quick_square-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: agog-quick-square\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text(f"[agog]\n{entry_point[1]} = {entry_point[2]}\n")
    return tmp_path


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site), "AGOG_PLUGINS": "cpu-numpy,quick-square"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, check=False)


def test_it_is_chosen(site: Path) -> None:
    done = run(site, "-m", "agog", "explain", "square", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == (
        "  chosen: plugin 'quick-square' (agog-quick-square 0.1), priority 200, float32, float64"
    )


def test_it_conforms(site: Path) -> None:
    done = run(site, "-m", "agog_testing.conformance", "quick-square")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "square" in done.stdout


@pytest.mark.parametrize(
    ("bug", "found"),
    [
        ("x *= x\n    return x", "square/float32"),
        ("return (x * x).astype('float64')", "square/float32"),
        ("return x * x + 1e-2", "square/float32"),
        ("return x[...]", "square/float32"),
    ],
    ids=["writes to its input", "wrong dtype", "wrong value", "aliases its input"],
)
def test_a_planted_bug_is_found(site: Path, bug: str, found: str) -> None:
    module = site / "agog_quick_square.py"
    text = module.read_text()
    assert "return x * x" in text
    module.write_text(text.replace("return x * x", bug))
    done = run(site, "-m", "agog_testing.conformance", "quick-square")
    assert done.returncode == 1, done.stdout + done.stderr
    assert found in done.stdout
