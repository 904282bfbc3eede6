"""Take surface: write down what an installed CuPy has, for the stand-in; it needs no GPU.

    python take_surface.py > standin/cupy_on_numpy/cupy_surface.json

Of modules: names, signatures of functions, loops of ufuncs. Of classes: names, and signatures of methods where Cython
has kept them in the first line of the docstring.
"""

from __future__ import annotations

import ast
import inspect
import json
import types
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import cupy
import cupyx
import numpy as np

MODULES = (
    *("cupy", "cupy.fft", "cupy.lib.stride_tricks", "cupy.linalg", "cupy.cuda", "cupy.cuda.memory"),
    *("cupy.cuda.compiler", "cupy.cuda.function", "cupy.cuda.nvrtc", "cupy.cuda.pinned_memory", "cupy.cuda.runtime"),
    *("cupyx", "cupyx.scipy.special"),
)
UNLOADED = ("cupyx.scipy.linalg",)  # loading it loads cuBLAS
CLASSES = (
    *("cupy.ndarray", "cupy.ufunc", "cupy.cuda.Device", "cupy.cuda.Event", "cupy.cuda.Function", "cupy.cuda.Module"),
    *("cupy.cuda.MemoryPointer", "cupy.cuda.MemoryPool", "cupy.cuda.PinnedMemoryPool", "cupy.cuda.Stream"),
)
PLAIN = (int, float, str, bool, tuple, type(None))


def of_python(function: Any) -> list[list[Any]] | None:
    """The parameters of a function: name, kind, and default where there is one."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [[p.name, int(p.kind), default(p)] for p in found.parameters.values()]


def default(parameter: inspect.Parameter) -> str | None:
    """The default of a parameter as it is written, or dots where it is an object."""
    if parameter.default is parameter.empty:
        return None
    return repr(parameter.default) if isinstance(parameter.default, PLAIN) else "..."


def of_cython(method: Any) -> list[list[Any]] | None:
    """The parameters of a method of a Cython class, by the first line of its docstring."""
    head = (getattr(method, "__doc__", None) or "").partition("\n")[0]
    start = head.find("(")
    if start < 0 or " -> " not in head + " -> " or ")" not in head:
        return None
    inside = head[start + 1 : head.rfind(")")]
    plain = ", ".join(part.split(" ")[-1] if "=" not in part else typeless(part) for part in inside.split(", "))
    try:
        arguments = ast.parse(f"def f({plain}): pass").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        return None
    return listed(arguments)


def listed(arguments: ast.arguments) -> list[list[Any]]:
    """The parameters of a function that is written in Python, less `self`."""
    given = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(given) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
    out: list[list[Any]] = [[a.arg, 1, d] for a, d in zip(given, defaults, strict=True)]
    out += [[arguments.vararg.arg, 2, None]] if arguments.vararg else []
    for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        out.append([a.arg, 3, None if d is None else ast.unparse(d)])
    out += [[arguments.kwarg.arg, 4, None]] if arguments.kwarg else []
    return out[1:] if out and out[0][0] == "self" else out


def typeless(part: str) -> str:
    """A parameter with a default, without the C type in front of it."""
    head, _, value = part.partition("=")
    return f"{head.split(' ')[-1]}={value}"


def loops(function: Any) -> list[str]:
    """The dtypes of a ufunc's loops, such as "ff->f"."""

    def characters(loop: Any) -> str:
        if isinstance(loop, str):
            return loop
        return "->".join("".join(np.dtype(kind).char for kind in side) for side in loop)

    return [characters(loop) for loop in function.types]


def described(thing: Any) -> dict[str, Any]:
    """What is to be known of one name of a module."""
    if isinstance(thing, cupy.ufunc):
        return {"kind": "ufunc", "nin": thing.nin, "nout": thing.nout, "types": loops(thing)}
    if isinstance(thing, type):
        return {"kind": "class"}
    if isinstance(thing, types.ModuleType):
        return {"kind": "module"}
    if callable(thing):
        return {"kind": "function", "signature": of_python(thing)}
    return {"kind": "constant"}


def module(name: str) -> dict[str, Any]:
    """The public names of a module."""
    namespace = resolve_name(name)
    return {each: described(getattr(namespace, each)) for each in dir(namespace) if not each.startswith("_")}


def unloaded(name: str) -> dict[str, Any]:
    """The public functions of a package that cannot be loaded here, from its sources."""
    folder = Path(cupyx.__file__).parent.joinpath(*name.split(".")[1:])
    exported = ast.parse((folder / "__init__.py").read_text()).body
    names = {alias.name for node in exported if isinstance(node, ast.ImportFrom) for alias in node.names}
    functions = [node for file in folder.glob("*.py") for node in ast.parse(file.read_text()).body]
    return {
        node.name: {"kind": "function", "signature": listed(node.args)}
        for node in sorted((n for n in functions if isinstance(n, ast.FunctionDef)), key=lambda node: node.name)
        if node.name in names
    }


def methods(name: str) -> dict[str, Any]:
    """The names of a class, with the parameters of those that are methods."""
    path, _, attribute = name.rpartition(".")
    kind = getattr(import_module(path), attribute)
    names = [each for each in dir(kind) if not each.startswith("_cupy") and each not in dir(object)]
    return {each: of_cython(getattr(kind, each, None)) for each in names}


def surface() -> dict[str, Any]:
    """All of it."""
    return {
        "version": cupy.__version__,
        "modules": {name: module(name) for name in MODULES} | {name: unloaded(name) for name in UNLOADED},
        "classes": {name: methods(name) for name in CLASSES},
    }


if __name__ == "__main__":
    print(json.dumps(surface(), separators=(",", ":")))
