"""Renews what pages of docs/ quote from sources and of commands: ``python docs/quotes.py [FOLDER]``.

A quote stands between two comments, of which the first says where it comes from:

    <!-- quote: plugins/agog-fake/src/agog_fake/stream.py: Stream, on -->   definitions of a file, or the whole file
    <!-- quote: agog new-plugin my-op --op: src/my_op/facts.py -->          a file that the command writes
    <!-- output: agog ops convolution -->                                   what a command prints
    <!-- end -->
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
QUOTE = re.compile(
    r"(?P<start><!-- (?P<kind>quote|output): (?P<source>.+?) -->\n).*?(?P<end>^<!-- end -->)", re.M | re.S
)


def page(text: str) -> str:
    """A page with its quotes renewed."""
    return QUOTE.sub(lambda quote: f"{quote['start']}{block(quote['kind'], quote['source'])}{quote['end']}", text)


def block(kind: str, source: str) -> str:
    """What stands between the two comments of a quote."""
    if kind == "output":
        return f"```\n$ {source}\n{printed(source)}```\n"
    path, _, rest = source.partition(": ")
    text = written(path, rest) if path.startswith("agog ") else from_file(ROOT / path, rest)
    return f"```{'toml' if source.endswith('.toml') else 'python'}\n{text.strip()}\n```\n"


def from_file(file: Path, names: str) -> str:
    """A file, or the definitions of some names in it."""
    text = file.read_text(encoding="utf-8")
    if not names:
        return text
    lines = text.splitlines()
    found = {name: "\n".join(lines[first - 1 : last]) for name, first, last in definitions(text)}
    return "\n\n\n".join(found[name] for name in names.split(", "))


def definitions(source: str) -> list[tuple[str, int, int]]:
    """The functions, classes and assignments of a module, each with its first and last line."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.append((node.name, first, node.end_lineno or first))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.append((node.targets[0].id, node.lineno, node.end_lineno or node.lineno))
    return found


@cache
def printed(command: str) -> str:
    """What a command prints where the plugins of this repository are installed, and that of the first stop."""
    with tempfile.TemporaryDirectory() as folder:
        return run(command, Path(folder), installed(Path(folder)))


def written(command: str, file: str) -> str:
    """A file of the folder that ``agog new-plugin`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        run(command, Path(folder))
        return (Path(folder) / command.split()[2] / file).read_text(encoding="utf-8")


def installed(folder: Path) -> Path:
    """The sources of a new plugin ``quick-square``, with the metadata that an installer would make of its project."""
    run("agog new-plugin quick-square", folder)
    sources = folder / "quick-square" / "src"
    project = tomllib.loads((sources.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = sources / f"quick_square-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    ((name, module),) = project["entry-points"]["agog"].items()
    (metadata / "entry_points.txt").write_text(f"[agog]\n{name} = {module}\n")
    return sources


def run(command: str, folder: Path, site: Path | None = None) -> str:
    """Run a command of agog in a folder, with another folder of packages, and return what it prints."""
    program, *arguments = command.split()
    environment = {**os.environ, "AGOG_PLUGINS": "cpu-numpy,fake"}
    if site is not None:
        environment |= {"AGOG_PLUGINS": "cpu-numpy,fake,quick-square", "PYTHONPATH": str(site)}
    module = {"agog": "agog", "agog-conformance": "agog_testing.conformance"}[program]
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


if __name__ == "__main__":
    target = Path(*sys.argv[1:] or [DOCS])
    for file in sorted(DOCS.rglob("*.md")):
        if (text := page(file.read_text(encoding="utf-8"))) and QUOTE.search(text):
            copy = target / file.relative_to(DOCS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
