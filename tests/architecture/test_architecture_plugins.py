"""Plugins: they import two modules of the core only, those of the contract; for annotations too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACT = {"agog_core.plugin", "agog_core.compiler"}
MEMBERS = sorted(
    [*ROOT.glob("plugins/*/src/*/__init__.py"), ROOT / "packages/agog-kernels-xp/src/agog_kernels_xp/__init__.py"]
)


def imported(source: str) -> Iterator[str]:
    """The modules that a source imports anywhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            both = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from both & CONTRACT or {node.module}


def past_the_contract(source: str) -> list[str]:
    return sorted({name for name in imported(source) if name.split(".")[0] == "agog_core"} - CONTRACT)


def test_imports_are_seen_wherever_they_are() -> None:
    source = (
        "from typing import TYPE_CHECKING\n"
        "from agog_core import compiler\n"
        "from agog_core.plugin import Kernel\n"
        "if TYPE_CHECKING:\n"
        "    from agog_core.tracing.graphs.graph import Graph\n"
        "def f():\n"
        "    import agog_core.dtypes\n"
    )
    assert past_the_contract(source) == ["agog_core.dtypes", "agog_core.tracing.graphs.graph"]


@pytest.mark.parametrize("package", [file.parent for file in MEMBERS], ids=lambda folder: folder.name)
def test_nothing_is_imported_past_the_contract(package: Path) -> None:
    found = {str(file.relative_to(ROOT)): past_the_contract(file.read_text()) for file in package.rglob("*.py")}
    assert {file: names for file, names in found.items() if names} == {}
