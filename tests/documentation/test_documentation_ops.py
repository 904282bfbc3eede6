"""The list of ops and functions that docs/ops.py writes has all that there is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import agog as tf
from agog_compat import graph_only
from agog_core.dispatch.op import all_ops

ROOT = Path(__file__).parents[2]
OP_FILES = ROOT / "packages" / "agog-core" / "src" / "agog_core" / "ops"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page, of a process of its own: examples in the documentation define ops."""
    file = tmp_path_factory.mktemp("docs") / "ops.md"
    subprocess.run([sys.executable, str(ROOT / "docs" / "ops.py"), str(file)], check=True)
    return file.read_text(encoding="utf-8")


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The cells of the table behind a heading, by the first."""
    section = re.split(rf"^##+ {heading}$", page, flags=re.MULTILINE)[1].partition("\n#")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return {first.strip().strip("`"): [cell.strip() for cell in rest] for first, *rest in cells}


def test_every_op_has_a_row(page: str) -> None:
    [count] = re.findall(r"^## The (\d+) ops$", page, re.MULTILINE)
    listed = rows(page, rf"The {count} ops")
    assert len(listed) == int(count)
    # What is declared in the sources themselves, in one of the three ways.
    declared = {
        name
        for file in OP_FILES.rglob("*.py")
        for name in re.findall(r'^_\w+ = (?:Op\(\s*"|define\(\s*)(\w+)', file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(declared) > 100
    assert declared <= set(listed)
    assert {name for name in all_ops() if not name.startswith("test")} >= set(listed)
    assert listed["matmul"] == [
        "Product of matrices; leading axes are a batch and broadcast.",
        *("a, b", "a, b", "floats, complex, integers"),
        "cpu (cpu-numpy), fake (fake: complex, integers, float16, float32, float64)",
    ]
    assert listed["floor"][2] == ""


@pytest.mark.parametrize(
    ("namespace", "module"), [("tf", tf), ("tf.nn", tf.nn), ("tf.contrib.eager", tf.contrib.eager)]
)
def test_every_function_of_a_namespace_has_a_row_unless_it_raises_alone(
    page: str, namespace: str, module: object
) -> None:
    [count] = re.findall(rf"^### {re.escape(namespace)}: (\d+)$", page, re.MULTILINE)
    listed = rows(page, rf"{re.escape(namespace)}: {count}")
    assert len(listed) == int(count)
    found = {name: value for name, value in vars(module).items() if name in module.__all__}  # type: ignore[attr-defined]
    functions = {name for name, value in found.items() if type(value) is type(rows)}
    raising = {name for name in functions if found[name].__module__ == graph_only.__name__}
    assert set(listed) >= functions - raising
    assert not set(listed) & raising
    assert all(sentence for [sentence] in listed.values())
