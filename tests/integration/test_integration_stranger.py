"""The plugin that docs/plugins.md writes, as a stranger would install it, in processes of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plugins.md").read_text(encoding="utf-8")
REPORT = (DOCS / "plugins" / "report.md").read_text(encoding="utf-8")
KERNEL = "return np.multiply(x, x)"


def shown(file: str) -> str:
    """A file of the plugin, as the page shows it."""
    quote = re.search(rf"<!-- quote: .+: {re.escape(file)} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert quote, f"docs/plugins.md does not show {file}"
    return quote[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the page's modules, and the metadata that an installer would make of its pyproject.toml."""
    project = tomllib.loads(shown("pyproject.toml"))["project"]
    package = tmp_path / "quick_square"
    package.mkdir()
    (package / "__init__.py").touch()
    for file in ("hooks.py", "kernels.py"):
        (package / file).write_text(shown(f"src/quick_square/{file}"))
    metadata = tmp_path / f"quick_square-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    ((name, module),) = project["entry-points"]["agog"].items()
    (metadata / "entry_points.txt").write_text(f"[agog]\n{name} = {module}\n")
    return tmp_path


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site), "AGOG_PLUGINS": "cpu-numpy,quick-square"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, check=False)


def plant(site: Path, bug: str) -> None:
    kernels = site / "quick_square" / "kernels.py"
    text = kernels.read_text()
    assert KERNEL in text
    kernels.write_text(text.replace(KERNEL, bug))


def test_it_is_chosen(site: Path) -> None:
    done = run(site, "-m", "agog", "explain", "square", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == (
        "  chosen: plugin 'quick-square' (quick-square 0.1), priority 200, float32, float64, when C-contiguous"
    )


def test_it_conforms(site: Path) -> None:
    done = run(site, "-m", "agog_testing.conformance", "quick-square")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "square" in done.stdout


@pytest.mark.parametrize(
    ("bug", "found"),
    [
        ("x *= x\n    return x", "square/float32/inputs: FAILED"),
        ("return np.multiply(x, x).astype('float64')", "square/float32/dtype: FAILED"),
        ("return np.multiply(x, x) + 1e-3", "square/float32/value: FAILED"),
        ("return x[...]", "square/float32/aliasing: FAILED"),
    ],
    ids=["writes to its input", "wrong dtype", "wrong value", "aliases its input"],
)
def test_a_planted_bug_is_found(site: Path, bug: str, found: str) -> None:
    plant(site, bug)
    done = run(site, "-m", "agog_testing.conformance", "quick-square")
    assert done.returncode == 1, done.stdout + done.stderr
    assert found in done.stdout


def test_the_failure_that_the_docs_explain(site: Path) -> None:
    told = re.search(r"ends with `(return .+)`:\n\n```\n(.*?)```", REPORT, re.DOTALL)
    assert told
    plant(site, told[1])
    done = run(site, "-m", "agog_testing.conformance", "quick-square", "--dtype", "float32")
    assert done.returncode == 1, done.stderr
    assert told[2] in done.stdout


def test_the_verdict_of_speed_that_the_docs_show(site: Path) -> None:
    told = re.search(r"^square/float32: .+$", REPORT, re.MULTILINE)
    assert told
    plant(site, "return np.multiply(np.sqrt(np.multiply(x, x)), np.abs(x))")  # far slower, however busy a machine is
    done = run(
        site, "-m", "agog_testing.conformance", "quick-square", "--dtype", "float32", "--faster-than", "cpu-numpy"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert told[0] in done.stdout
