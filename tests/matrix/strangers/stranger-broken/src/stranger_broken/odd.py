"""Plugins with odd values and odd functions, each an object of its own; its name says which."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from agog_core.plugin import Backend, Compiler, Executor, Kernel, Op, hookimpl


class UnprintableError(Exception):
    """An error without a text."""

    def __str__(self) -> str:
        raise OSError("no words")


def fail(*arguments: Any) -> Any:
    """A function that fails."""
    raise UnprintableError


class Plugin(SimpleNamespace):
    """An object in place of a module."""

    def __repr__(self) -> str:
        return "<an odd plugin>"


def plugin(**hooks: Callable[[], Any]) -> Plugin:
    """A plugin of some hooks."""
    return Plugin(**{name: hookimpl(hook) for name, hook in hooks.items()}, AGOG_API_VERSION=3)


def kernel(**facts: Any) -> Plugin:
    """A plugin of one kernel."""
    return plugin(agog_kernels=lambda: [Kernel(**{"op": "square", "device": "cpu", "fn": fail} | facts)])


def op(*facts: Any, **more: Any) -> Plugin:
    """A plugin of one op."""
    return plugin(agog_ops=lambda: [Op(*facts, **{"inputs": ["x"], "shape": fail} | more)])


def backend(**facts: Any) -> Plugin:
    """A plugin of one device."""
    functions = dict.fromkeys(("from_host", "to_host", "copy", "synchronize"), fail)
    usual = {"device": "odd", "array_type": bytearray, "device_count": lambda: 1, **functions}
    return plugin(agog_backends=lambda: [Backend(**usual | facts)])


# Values.
priority_text = kernel(priority="high")
function_number = kernel(fn=5)
op_number = op(5, fail)
shape_none = op("stranger_shape", fail, shape=None)
op_taken = op("square", fail)
array_type_none = backend(array_type=None)
executor_without_name = plugin(agog_executors=lambda: [Executor(name="", device="cpu", prepare=fail)])
tolerance_text = plugin(
    agog_compilers=lambda: [
        Compiler(name="odd", device="cpu", compile=fail, takes=fail, tolerances={"float32": "tight"})
    ]
)

# Hooks.
unprintable = plugin(agog_kernels=fail)
returns_nothing = plugin(agog_kernels=lambda: None)
yields_text = plugin(agog_kernels=lambda: ["square"])
endless = plugin(agog_kernels=lambda: itertools.repeat(Kernel(op="square", device="cpu", fn=fail)))
newer = Plugin(AGOG_API_VERSION=99)
no_hook = Plugin()
unknown_hook = plugin(agog_kernel=lambda: [])
conformance_mapping = plugin(agog_conformance=lambda: {})

# Functions.
unavailable_true = kernel(unavailable=lambda: True, priority=500)
count_text = backend(device_count=lambda: "1")
named_nowhere = backend(device="nowhere", from_host="stranger_broken.nowhere:from_host")
executor_failing = plugin(agog_executors=lambda: [Executor(name="failing", device="cpu", prepare=fail, priority=500)])
takes_failing = plugin(
    agog_compilers=lambda: [Compiler(name="failing", device="cpu", compile=fail, takes=fail, priority=500)]
)
