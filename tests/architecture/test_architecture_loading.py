"""Nothing that is read from a file can run code: what reads files has no way to make code of data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READERS = ("agog-checkpoint", "agog-data", "agog-saved-model")

MODULES = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "jsonpickle"),
    *("importlib", "imp", "runpy", "pkgutil", "zipimport", "code", "codeop", "ctypes", "yaml"),
}
BUILTINS = {"eval", "exec", "compile", "__import__", "__builtins__", "breakpoint"}
# Of modules that are harmless otherwise, and by other ways to the same.
ATTRIBUTES = {"import_module", "load_module", "find_loader", "exec_module", "read_pickle", "unpickle", "__loader__"}


def ways_to_run_code(source: str) -> Iterator[str]:
    """The places in a source that could make code of data, or import what data name."""
    for node in ast.walk(ast.parse(source)):
        found: set[str] = set()
        if isinstance(node, ast.Import):
            found = {alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom):
            found = {node.module or ""} if (node.module or "").partition(".")[0] in MODULES else set()
            found |= {alias.name for alias in node.names} & (MODULES | BUILTINS | ATTRIBUTES)
        elif isinstance(node, ast.Name):
            found = {node.id} & BUILTINS
        elif isinstance(node, ast.Attribute):
            found = {node.attr} & ATTRIBUTES
            if isinstance(node.value, ast.Name) and node.value.id in ("builtins", "sys"):
                found |= {node.attr} & (BUILTINS | {"modules", "meta_path"})
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            allowed = isinstance(node.value, ast.Constant) and node.value.value is False
            found = set() if allowed else {"allow_pickle"}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = {node.value} & (BUILTINS | ATTRIBUTES)  # for getattr
        for name in sorted(found):
            yield f"line {node.lineno}: {name}"


@pytest.mark.parametrize("member", READERS)
def test_nothing_that_is_loaded_can_run_code(member: str) -> None:
    sources = sorted((ROOT / "packages" / member / "src").rglob("*.py"))
    assert len(sources) > 10
    found = {str(file.relative_to(ROOT)): [*ways_to_run_code(file.read_text(encoding="utf-8"))] for file in sources}
    assert {file: places for file, places in found.items() if places} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import numpy, pickle as json",
        "from pickle import loads",
        "import concurrent.futures, importlib.util",
        "from importlib import import_module as f",
        "def f(text):\n    return eval(text)",
        "exec('x = 1')",
        "code = compile(text, 'f', 'exec')",
        "__import__(name)",
        "import builtins\nbuiltins.eval(text)",
        "import sys\nsys.modules[name]",
        "getattr(builtins, 'eval')(text)",
        "np.load(file, allow_pickle=True)",
        "np.load(file, allow_pickle=trusted)",
        "pandas.read_pickle(file)",
    ],
)
def test_it_would_be_found(source: str) -> None:
    assert [*ways_to_run_code(source)] != []


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.compile('x')",
        "import ast\nast.literal_eval(text)",
        "np.load(file, allow_pickle=False)",
        "x.eval()",
    ],
)
def test_what_is_harmless_is_allowed(source: str) -> None:
    assert [*ways_to_run_code(source)] == []
