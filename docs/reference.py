"""Reference: the page of the plugin contract, made from its own docstrings.

``python docs/reference.py [FILE]`` writes it, as docs/plugins/reference.md where no file is named; the site has it too.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import agog_kernels_xp
from agog_core import plugin
from agog_core.dispatch.plugins.contract import Hooks
from agog_testing import opinfo
from agog_testing.conformance import collect

PAGE = Path(__file__).parent / "plugins" / "reference.md"

START = """# Reference of the plugin contract

This is version {version} of the contract. A plugin imports `agog_core.plugin`, `agog_core.compiler`, `agog_kernels_xp`
and, in its tests and facts, `agog_testing`; all else may change from one release to the next.
[Writing a plugin](../plugins.md) is the road through all this.
"""

HOOKS = """
## Hooks

A plugin's module has those that it needs, each marked with `@hookimpl`. They are called once, on the first use of a
device, and return plain data. What they name by `"module:attribute"` strings is imported when it is first used.
"""

# Where each name of `agog_core.plugin` is described, in the order of the page.
PARTS = {
    "What hooks return": ("Kernel", "Backend", "MemoryStats", "Op", "LateOps", "Conformance"),
    "The module of hooks": ("requires",),
    "In new ops": ("unary", "binary", "call", "call_several", "call_with", "create", "update", "convert_to_tensor"),
    "In executors": ("Executor", "Executable", "Graph", "Node", "Value"),
    "Between processes": ("Collective",),
    "In compilers": ("Compiler", "Subgraph", "Primitive", "ArraySpec", "Claim"),
    "In kernels and backends": (
        *(
            "version",
            "as_dtype",
            "load_reference",
            "matmul_precision",
            "random_bits",
            "describe_error",
            "describe_value",
        ),
    ),
}

# What has no signature of its own, in one line each.
OTHERS = {
    "AbortedError": "what a `Communicator` raises where the processes can no longer compute together",
    "API_VERSION": "the version of the contract that this agog-core has",
    "Communicator": "what `Collective.connect` gives; its methods are in [Connect processes](collectives.md)",
    "HostCommunicator": "what `Collective.connect` gives for host arrays: a `Communicator` that serves a second thread",
    "InvalidArgumentError": "what a kernel raises where a value is wrong, with the op's name in front",
    "Late": "a number of a traced function that the host computes at each run",
    "LateItem": "one of several such numbers, by its name",
    "PluginWarning": "what agog warns with of a plugin that does not work",
    "PROJECT": "the group of entry points, and pluggy's name of the project",
    "ResourceExhaustedError": "what `Backend.translate` gives where memory is out",
    "Tensor": "the type of what ops take and return, for annotations",
    "TensorShape": "what shape rules give where a size is known to kernels alone: None stands in its place",
    "SingleOp": "for `Kernel.make`: eager calls of one op as graphs of one node, compiled as traced functions are",
    "PURE": "the effects of nodes that only compute: `Effect.NONE` and `Effect.VIEW`",
    "WRITES": "the effects of nodes that give variables new values: `Effect.UPDATE` and `Effect.ASSIGN`",
    "Effect": "what a node does beside computing, such as `Effect.GUARD`; its comments say what each one means",
    "KernelTable": "the kernels of a device and dtype: `device`, `dtype`, and `adopt`, which makes arrays of results",
    "adopted": "for executors: what a kernel returned, in arrays of the device's own type",
    "kernel_of": "for executors: the kernel that runs an op on a table's device and dtype",
    "filling": "for executors: what fills an array with the result of that kernel (`Kernel.out`), or None",
    "lowering": "for executors: what records the steps of that kernel (`Kernel.lower`), or None",
    "note_failure": "for executors: adds to an error which kernel raised it, and what that was given",
    "note_written": "for executors: says of an error which arrays variables had before it, where it is not undone",
    "run_next": "for executors: runs the kernel next in rank where one has declined a call",
    "TracedStep": "for executors that tell of their steps: what one computes, what runs it, and the lines of its ops",
    "tell": "for executors: tells profiles of a step, and when it began; it returns when the next one begins",
    "undone": "for executors: says of an error in a run that no variable was written and no function of Python called "
    "before it, so that the function may be called in its place",
    "unobserved": "for executors: a block whose kernel calls are told to nobody, since its steps are",
    "dtypes": "the module of dtypes (`dtypes.float32`) and of sets of them (`dtypes.FLOATING`)",
    "hookimpl": "marks a function as a hook",
    "hookspec": "pluggy's marker with which the hooks themselves are declared; a plugin does not need it",
    "registry": "each op by its name, as `Op`",
    "threads": "the module of the number of threads and of their owner: `count`, `listen`, `register`, `owner`",
}

XP = """
## Kernels for an array library
"""

KIT = """
## Facts and tests

These are in `agog_testing`, which only tests import: `from agog_testing.opinfo import OpInfo, Sample, ErrorSample` and
`from agog_testing.conformance import collect`.
"""


class Described(NamedTuple):
    """A docstring in its parts: what it says first, and of each argument, and the sections behind them."""

    text: str
    arguments: dict[str, str]
    sections: dict[str, str]


def write(file: Path = PAGE) -> None:
    """Write the page."""
    file.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    parts = [START.format(version=plugin.API_VERSION), HOOKS]
    for name, hook in inspect.getmembers(Hooks, inspect.isfunction):
        parts.append(f"\n### `{name}() -> {hook.__annotations__['return']}`\n\n{described(hook).text}\n")
    for title, names in PARTS.items():
        parts.append(f"\n## {title}\n")
        parts += (entry(name, getattr(plugin, name)) for name in names)
    parts.append("\n## Names without arguments\n\n")
    parts += table(("name", "what it is"), ((f"`{name}`", what) for name, what in OTHERS.items()))
    parts += [XP, entry("agog_kernels_xp.bind", agog_kernels_xp.bind), KIT]
    parts += (entry(name, getattr(opinfo, name)) for name in ("OpInfo", "Sample", "ErrorSample"))
    parts.append(entry("collect", collect))
    return "".join(parts)


def entry(name: str, thing: Any) -> str:
    """What is called: its text, a table of its arguments, and what its docstring says behind them."""
    said = described(thing)
    signature = inspect.signature(thing)
    heading = name if isinstance(thing, type) else f"{name}({outline(signature)})"
    rows = [
        (f"`{each}`", kind(parameter), default(parameter), said.arguments.get(each, ""))
        for each, parameter in signature.parameters.items()
        if each not in ("self", "name") or each in said.arguments
    ]
    lines = [f"\n### `{heading}`\n\n{said.text}\n"]
    if any(what for *_, what in rows):
        lines += ["\n", *table(("argument", "type", "default", "what it is"), rows)]
    lines += (f"\n{section}: {text}\n" for section, text in said.sections.items())
    return "".join(lines)


def described(thing: Any) -> Described:
    """The docstring of a function or class, as Markdown, in parts."""
    documentation = re.split(r"^>>> ", inspect.getdoc(thing) or "", flags=re.MULTILINE)[0].replace("``", "`")
    first, *rest = re.split(r"^(Args|Returns|Yields|Raises|Example)::?\n", documentation, flags=re.MULTILINE)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    found = re.split(r"^    (\*{0,2}\w+): ", sections.pop("Args", ""), flags=re.MULTILINE)
    arguments = {name.lstrip("*"): joined(text) for name, text in zip(found[1::2], found[2::2], strict=True)}
    sections.pop("Example", None)
    return Described(first.strip(), arguments, {name: joined(text) for name, text in sections.items()})


def joined(text: str) -> str:
    """Indented lines as one."""
    return " ".join(text.split())


def outline(signature: inspect.Signature) -> str:
    """The parameters of a function by name, those with a default with it."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parts: list[str] = []
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        value = "" if each.default is each.empty else f"={default(each).strip('`')}"
        parts.append(f"{stars.get(each.kind, '')}{each.name}{value}")
    return ", ".join(parts)


def kind(parameter: inspect.Parameter) -> str:
    """The type of a parameter."""
    annotation = parameter.annotation
    return (
        f"`{annotation if isinstance(annotation, str) else annotation.__forward_arg__}`"  # a NamedTuple has the latter
    )


def default(parameter: inspect.Parameter) -> str:
    """What a parameter is where nothing is given; dots for functions and what is long."""
    value = parameter.default
    if value is parameter.empty:
        return ""
    return f"`{value!r}`" if value is None or isinstance(value, (bool, float, int, str, tuple)) else "`...`"


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table, line by line."""
    titles = list(titles)
    for row in (titles, ["---"] * len(titles), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n"


def missing(module: ModuleType = plugin) -> set[str]:
    """The names of the contract that the page does not describe, and those that it does and that are gone."""
    return set(module.__all__) ^ {*OTHERS, *(name for names in PARTS.values() for name in names)}


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
