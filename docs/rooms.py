"""Writes the tables of docs/architecture.md from the sources: ``python docs/rooms.py [FILE]``."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("architecture.md")
SOURCES = {file.parent.name: file.parent for file in sorted(ROOT.glob("*/*/src/*/py.typed"))}
CORE = SOURCES["agog_core"]

# What one reads to know how the core works.
READING = (
    *("calls/elementwise", "calls/call", "dispatch/op", "dispatch/devices/table"),
    *("dispatch/kernels/resolution", "dispatch/kernels/coats"),
    *("recording", "gradients/tape", "gradients/backpropagation"),
)
# What a module makes that is written later: by calls of these, as empty containers, under ``global``, or where
# elements or attributes of it are set.
MAKERS = {
    *("ContextVar", "Counter", "Lock", "RLock", "Setting", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary"),
    *("count", "defaultdict", "deque", "local", "set"),
}
WRITERS = {
    *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"),
}


def lines(folder: Path) -> int:
    """How many lines the Python files below a folder, or of one file, have."""
    files = folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def rounded(count: int) -> str:
    """A number of lines as people say it."""
    return f"{round(count, -2):,}" if count >= 100 else "under 100"


def described(file: Path) -> str:
    """What a module's docstring says behind its name."""
    documentation = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return documentation.split("\n\n")[0].partition(": ")[2].replace("\n", " ")


def rooms(package: str) -> Iterator[str]:
    """The rooms of a package in the order of the import contract, the lowest last, as rows of a table."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers" and c["layers"][0].startswith(f"{package}."))
    yield from ("| room | lines | what is there |", "|---|---:|---|")
    for layer in layers:
        for module in layer.split(" | "):
            folder = SOURCES[package].parent / Path(*module.split("."))
            if folder.is_dir():
                name = module.removeprefix(f"{package}.").replace(".", "/")
                yield f"| `{name}/` | {rounded(lines(folder))} | {described(folder / '__init__.py')} |"


def members() -> Iterator[str]:
    """The members and the lines of their sources, as rows of a table."""
    yield from ("| member | lines |", "|---|---:|")
    for package, folder in SOURCES.items():
        yield f"| {package.replace('_', '-')} | {rounded(lines(folder))} |"


def state() -> Iterator[str]:
    """What modules keep and write, with the comment that stands beside it, as rows of a table."""
    yield from ("| where | name | what, and who writes it |", "|---|---|---|")
    for package, folder in SOURCES.items():
        for file in sorted(folder.rglob("*.py")):
            where = ".".join([package, *file.relative_to(folder).with_suffix("").parts])
            for name, comment in state_of(file.read_text(encoding="utf-8")):
                yield f"| `{where}` | `{name}` | {comment} |"


def state_of(source: str) -> Iterator[tuple[str, str]]:
    """The names of a module that are written later, each with its comment: above it, or at the end of its line."""
    tree, text = ast.parse(source), source.splitlines()
    rebound = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    inside = [changed_in_place(node) for function in functions for node in ast.walk(function)]
    rebound |= {name for name in inside if name is not None}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and (target.id in rebound or is_written(getattr(node, "value", None))):
                yield target.id, comment_of(text, node.lineno, node.end_lineno or node.lineno)


def changed_in_place(node: ast.AST) -> str | None:
    """The name of what a part of a module changes in place: of which it sets an element or attribute."""
    whole = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        whole = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS:
        whole = node.func.value
    return whole.id if isinstance(whole, ast.Name) else None


def is_written(value: ast.expr | None) -> bool:
    """Whether a module's value is made to be written: an empty container, a context variable, a lock, a counter."""
    if isinstance(value, (ast.Dict, ast.List)):
        return not (value.keys if isinstance(value, ast.Dict) else value.elts)
    made = value if isinstance(value, (ast.Attribute, ast.Call)) else None
    calls = [node.func for node in ast.walk(made) if isinstance(node, ast.Call)] if made else []
    names = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
    return bool(names & MAKERS)


def comment_of(text: list[str], first: int, last: int) -> str:
    """The comment at the end of a statement, or the one above it."""
    if found := re.search(r"  # (?!type:|noqa)(.*)$", text[last - 1]):
        return found[1]
    above: list[str] = []
    while first > 1 and text[first - 2].startswith("# "):
        first -= 1
        above.insert(0, text[first - 1].removeprefix("# "))
    return " ".join(above)


TABLES = {"rooms": lambda: rooms("agog_core"), "members": members, "state": state}


def page() -> str:
    """docs/architecture.md with its tables and numbers renewed."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        rows = "\n".join(table())
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", lambda m, r=rows: m[1] + r + m[2], text, flags=re.DOTALL
        )
    total = sum(lines(CORE / file) for file in READING)
    return re.sub(r"about [\d,]+ lines", f"about {rounded(total)} lines", text)


if __name__ == "__main__":
    Path(*sys.argv[1:] or [PAGE]).write_text(page(), encoding="utf-8")
