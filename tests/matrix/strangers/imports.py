"""Imports: print what a stranger's sources import of agog beyond the three doors that are open to it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

DOORS = ("agog_core.plugin", "agog_kernels_xp", "agog_testing")


def beyond(folder: Path) -> Iterator[str]:
    """Imports of agog's packages by anything but the doors, as ``"file:line: module"``."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                is_open = any(name == door or name.startswith(f"{door}.") for door in DOORS)
                if name.partition("_")[0].partition(".")[0] == "agog" and not is_open:
                    yield f"{file}:{node.lineno}: {name}"


if __name__ == "__main__":
    found = list(beyond(Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)
