"""Ops: the list of ops and functions, made from the registry of ops and the namespaces of agog.

``python docs/ops.py [FILE]`` writes it, as docs/ops.md where no file is named; the site has it too.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import agog
from agog_compat import graph_only
from agog_core.dispatch.reports.inventory import first_sentence, inventory

PAGE = Path(__file__).with_suffix(".md")
PLUGINS = ("cpu-numpy", "fake")
COMMANDS = ("agog.__main__", "agog.commands")  # modules without names for programs

OPS = """# Ops and functions

## The {count} ops

An op is what a backend has kernels for; `agog explain OP` says which one runs, and `agog ops` prints this table for
what is installed. {differentiable} ops have gradients, in reverse and in forward mode. Those are made of ops, so they
have gradients themselves, to any order.

Dtypes: *floats* are bfloat16, float16, float32 and float64; *complex* are complex64 and complex128; *integers* are
signed and unsigned ones of 8 to 64 bits; *all* are those, bool and string.

"""

FUNCTIONS = """
## The {count} functions

They have {names} names. Those that are not ops are made of ops, and have gradients where those do. {raising} further
functions of TensorFlow make sense in graphs only; they raise an error that says what to do instead.

Arguments that programs of TensorFlow 1 pass and that change nothing here, such as `name`, `use_locking`,
`validate_shape` and `collections`, are accepted and described nowhere.
"""


def write(file: Path = PAGE) -> None:
    """Write the page."""
    file.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page, as Markdown."""
    entries = inventory(PLUGINS)
    named = {namespace: dict(functions(module)) for namespace, module in namespaces()}
    every = [function for each in named.values() for function in each.values()]
    useful = [function for function in every if function.__module__ != graph_only.__name__]
    parts = [OPS.format(count=len(entries), differentiable=sum(bool(entry.differentiable) for entry in entries))]
    parts += table(
        ("op", "what it does", "inputs", "gradient for", "dtypes", "kernels"),
        (
            (f"`{e.name}`", e.sentence, *map(", ".join, (e.inputs, e.differentiable, e.dtypes, e.kernels)))
            for e in entries
        ),
    )
    raising = len(set(every) - set(useful))
    parts.append(FUNCTIONS.format(count=len(set(map(inspect.unwrap, useful))), names=len(useful), raising=raising))
    for namespace, members in named.items():
        rows = [(f"`{n}`", first_sentence(f)) for n, f in members.items() if f.__module__ != graph_only.__name__]
        if rows:
            parts.append(f"\n### {namespace}: {len(rows)}\n\n")
            parts += table(("function", "what it does"), rows)
    return "".join(parts)


def namespaces() -> Iterator[tuple[str, Any]]:
    """The modules of agog under the names that TensorFlow's users know, such as ``("tf.nn", module)``."""
    yield "tf", agog
    found = [module.name for module in pkgutil.walk_packages(agog.__path__, "agog.")]
    modules = [name for name in found if not name.startswith(COMMANDS)]
    names = {name.replace("agog.eager", "agog.contrib.eager").replace("agog", "tf", 1): name for name in modules}
    for name in sorted(names):
        yield name, importlib.import_module(names[name])


def functions(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions that a namespace exports, with their names."""
    for name in sorted(module.__all__):
        if inspect.isfunction(getattr(module, name)):
            yield name, getattr(module, name)


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table, line by line."""
    titles = list(titles)
    for row in (titles, ["---"] * len(titles), *rows):
        cells = [cell.replace("|", "\\|").replace("``", "`") for cell in row]
        yield f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
