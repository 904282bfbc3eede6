"""Docstrings: full ones for what programs import from the umbrella, any for the rest of what packages export.

A full one has an Args section where an argument matters, a Returns section where something comes back, and for ops an
example. Overrides, aliases and older names may say ``See `X`.`` instead.
"""

from __future__ import annotations

import ast
import dis
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

import agog  # it registers the ops
from agog_compat import graph_only
from agog_core.dispatch.op import all_ops

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(file.parent.name for file in ROOT.glob("*/*/src/*/py.typed"))
# The packages of which every module's docstring begins with the module's name.
NAMED = PACKAGES

each_package = pytest.mark.parametrize("package", PACKAGES)


def exports(module: str) -> dict[str, Any]:
    """What a module exports: the names in its ``__all__``, or else the public names that its package defines."""
    namespace = importlib.import_module(module)
    package = module.partition(".")[0]
    defined = [name for name, value in vars(namespace).items() if (module_of(value) or "").startswith(package)]
    names = getattr(namespace, "__all__", [name for name in defined if not name.startswith("_")])
    return {f"{module}.{name}": getattr(namespace, name) for name in names}


def module_of(value: Any) -> str | None:
    module: str | None = getattr(value, "__module__", None)
    return module


def read_names(code: CodeType) -> Iterator[str]:
    """The variables that a function reads, itself or by a function inside of it."""
    yield from code.co_cellvars
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            yield from instruction.argval if isinstance(instruction.argval, tuple) else [instruction.argval]


def takes_arguments(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument that matters: arguments without effect are documented nowhere."""
    layers = [function]
    while hasattr(layers[-1], "__wrapped__"):
        layers.append(layers[-1].__wrapped__)
    read = {name for layer in layers if hasattr(layer, "__code__") for name in read_names(layer.__code__)}
    return bool({*inspect.signature(function).parameters} - {"self", "cls"} & read)


def returns_something(function: Callable[..., Any]) -> bool:
    return inspect.signature(function).return_annotation not in (None, "None", "NoReturn", inspect.Signature.empty)


def public_methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, member in vars(cls).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        is_own = inspect.isfunction(function) and function.__qualname__ == f"{cls.__qualname__}.{name}"
        if is_own and not name.startswith("_"):
            yield name, function


def faults_of_function(name: str, function: Callable[..., Any]) -> list[str]:
    documentation = inspect.getdoc(function)
    if not documentation:
        return [f"{name}: no docstring"]
    if re.search(r"\b[Ss]ee `", documentation):
        return []
    faults = []
    if takes_arguments(function) and "Args:" not in documentation:
        faults.append(f"{name}: no Args section")
    if returns_something(function) and not any(section in documentation for section in ("Returns:", "Yields:")):
        faults.append(f"{name}: no Returns section")
    return faults


def faults_of_class(name: str, cls: type) -> list[str]:
    # inspect.getdoc would answer for an undocumented class with the docstring of its base.
    documentation = vars(cls).get("__doc__")
    if not documentation:
        return [f"{name}: no docstring"]
    faults = []
    constructor = vars(cls).get("__init__")
    # One that a class has from its base, under its own name, is documented there.
    inherited = hasattr(constructor, "__code__") and any(
        getattr(base.__init__, "__code__", None) is constructor.__code__ for base in cls.__bases__
    )
    if (
        constructor
        and not inherited
        and takes_arguments(constructor)
        and not re.search(r"Args:|\b[Ss]ee `", documentation)
    ):
        faults.append(f"{name}: no Args section")
    for attribute, member in vars(cls).items():
        if not attribute.startswith("_") and isinstance(member, property) and not inspect.getdoc(member):
            faults.append(f"{name}.{attribute}: no docstring")
    for method, function in public_methods(cls):
        overrides = any(hasattr(base, method) for base in cls.__bases__)
        if overrides:
            faults += [] if inspect.getdoc(getattr(cls, method)) else [f"{name}.{method}: no docstring"]
        else:
            faults += faults_of_function(f"{name}.{method}", function)
    return faults


@each_package
def test_exports_are_documented(package: str) -> None:
    documented = (ModuleType, type, Callable)
    values = {name: value for name, value in exports(package).items() if isinstance(value, documented)}
    undocumented = [name for name, value in values.items() if not inspect.getdoc(value)]
    assert undocumented == []


@each_package
def test_modules_are_documented(package: str) -> None:
    faults = []
    for file in sorted(ROOT.glob(f"*/*/src/{package}/**/*.py")):
        tree = ast.parse(file.read_text())
        if tree.body and not ast.get_docstring(tree):
            faults.append(f"{file.relative_to(ROOT)}: no docstring")
    assert faults == []


def names(opening: str, file_name: str) -> bool:
    """Whether a text has a word of a file's name, whatever its ending: "Normalisation" names batch_normalization.py."""
    said = re.sub(r"[^a-z0-9]", "", opening.lower())
    return any(word[:4] in said for word in file_name.split("_"))


@pytest.mark.parametrize("package", NAMED)
def test_docstrings_of_modules_begin_with_the_name(package: str) -> None:
    """The first words name the file, or for an ``__init__`` the folder: those before the first punctuation mark."""
    faults = []
    for file in sorted(ROOT.glob(f"*/*/src/{package}/**/*.py")):
        documentation = ast.get_docstring(ast.parse(file.read_text()))
        name = "agog" if file.name == "__main__.py" else file.parent.name if file.name == "__init__.py" else file.stem
        opening = re.split(r"[:;,]|\. ", documentation or "", maxsplit=1)[0]
        is_named = names(opening, name)
        if documentation and not is_named:
            faults.append(f"{file.relative_to(ROOT)}: {documentation.splitlines()[0]}")
    assert faults == []


def test_ops_have_examples() -> None:
    assert all_ops(), "agog_core registers no op"
    assert [name for name, op in all_ops().items() if ">>>" not in (inspect.getdoc(op.function) or "")] == []


def has_example(function: Callable[..., Any]) -> bool:
    """Whether a docstring has an example, or says where there is one."""
    documentation = inspect.getdoc(function) or ""
    return ">>> " in documentation or "see `" in documentation.lower()


def modules_of_the_umbrella() -> list[str]:
    found = pkgutil.walk_packages(agog.__path__, "agog.")
    # The command's modules offer nothing to programs.
    return [
        "agog",
        *(module.name for module in found if not module.name.startswith(("agog.__main__", "agog.commands"))),
    ]


@pytest.mark.parametrize("module", modules_of_the_umbrella())
def test_what_programs_import_is_documented_in_full(module: str) -> None:
    """Composed functions too, under every name: the packages' own lists name few of those in namespaces."""
    # What exists in graphs only raises: the text of its error is its documentation. The array API is a standard.
    elsewhere = (graph_only.__name__, "agog_core.array_api")
    ours = {
        name: value
        for name, value in exports(module).items()
        if (module_of(value) or "").startswith("agog") and not (module_of(value) or "").startswith(elsewhere)
    }
    faults = []
    for name, value in ours.items():
        if inspect.isclass(value):
            faults += faults_of_class(name, value)
        elif inspect.isfunction(value):
            faults += faults_of_function(name, value)
            is_op = value.__module__.startswith("agog_core.ops.")
            faults += [f"{name}: no example"] if is_op and not has_example(value) else []
    assert faults == []
