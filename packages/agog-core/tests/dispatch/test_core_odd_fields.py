"""Odd fields: wrong values in every field that plugins give leave the plugin out with one sentence, and agog works."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.dispatch.plugins.loader import Plugin, loader
from agog_core.dispatch.reports.diagnosis import problems
from agog_core.plugin import Backend, Collective, Compiler, Conformance, Executor, Kernel, LateOps, Op, hookimpl
from agog_testing import says


class Unprintable:
    """An object without a representation."""

    def __repr__(self) -> str:
        raise OSError("no words")


def function(*arguments: Any, **options: Any) -> None:
    """A function that takes all and returns nothing."""


ODD: dict[str, Any] = {
    "None": None,
    "bool": True,
    "int": 5,
    "float": 1.5,
    "nan": float("nan"),
    "empty": "",
    "text": "x y",
    "reference": "no_such_module_of_agog:x",
    "bytes": b"x",
    "list": [1],
    "texts": ["x y"],
    "tuple": (),
    "mapping": {},
    "numbers": {1: 2},
    "function": function,
    "type": int,
    "object": Unprintable(),
}


def shown(value: Any) -> str:
    """How a sentence names a value."""
    if isinstance(value, Unprintable):
        return "an object of type Unprintable, whose __repr__ raises OSError"
    return repr(value)


class Wanted:
    """What a field takes: the odd values among it, and the words for it."""

    def __init__(self, words: str, *accepted: str) -> None:
        self.words = words
        self.accepted = accepted

    def or_none(self) -> Wanted:
        """The same, or None."""
        return Wanted(self.words, *self.accepted, "None")


FUNCTION = Wanted("a function", "function", "type")
REFERENCE = Wanted("a function or a 'module:attribute' string", *FUNCTION.accepted, "reference")
REASON = Wanted("a function that returns a sentence or None", *FUNCTION.accepted)
BOOL = Wanted("True or False", "bool")
INT = Wanted("an int", "int")
NAMES = ("tuple", "texts")
TOLERANCES = Wanted("a mapping of names to pairs of numbers, rtol and atol", "mapping")

# Hook, class, how a sentence names the object, the usual arguments, and what each field takes.
CLASSES: list[tuple[str, Callable[..., Any], str, dict[str, Any], dict[str, Wanted]]] = [
    (
        "agog_kernels",
        Kernel,
        "Kernel(op={op})",
        {"op": "square", "device": "cpu", "fn": abs},
        {
            "op": Wanted("the name of an op", "text", "reference"),
            "fn": Wanted(REFERENCE.words, *REFERENCE.accepted, "None"),
            **dict.fromkeys(("several", "out", "reserve"), REFERENCE.or_none()),
            "lower": Wanted("a function, a 'module:attribute' string or 'next'", *REFERENCE.accepted, "None"),
            "on": Wanted("'host', or None", "None"),
            "priority": INT,
            "when": Wanted("a string", "empty", "text", "reference"),
            "deterministic": BOOL,
            **dict.fromkeys(("per_thread", "pool"), BOOL),
            "pair": Wanted("a name, or None", "None", "text", "reference"),
            "unavailable": REASON,
        },
    ),
    (
        "agog_backends",
        Backend,
        "Backend(device={device})",
        {
            "device": "odd",
            "array_type": list,
            **dict.fromkeys(("device_count", "from_host", "to_host", "copy", "synchronize"), function),
        },
        {
            "array_type": Wanted("a type or a 'module:attribute' string", "type", "reference"),
            **dict.fromkeys(("device_count", "from_host", "to_host", "copy", "synchronize", "as_array"), REFERENCE),
            **dict.fromkeys(("bind", "memory_stats", "to_dlpack", "from_dlpack", "unavailable"), REFERENCE),
            **dict.fromkeys(
                ("base", "copy_from", "empty", "allocate_host", "prefetch", "set_memory_limit"), REFERENCE.or_none()
            ),
            **dict.fromkeys(("free_cached", "translate", "timer", "pending_error"), REFERENCE.or_none()),
            **dict.fromkeys(("host_copy", "writable", "host_memory"), BOOL),
            "dlpack_type": INT.or_none(),
            **dict.fromkeys(("allocate", "memory_in_use", "for_scalars"), FUNCTION.or_none()),
        },
    ),
    (
        "agog_ops",
        Op,
        "Op {name}",
        {"name": "test_core_odd", "function": function, "inputs": ("x",), "shape": function},
        {
            "name": Wanted("a name", "text", "reference"),
            "function": FUNCTION,
            "inputs": Wanted("names of inputs", *NAMES),
            "shape": FUNCTION,
            "dtype": Wanted("a DType or a function", *FUNCTION.accepted, "None"),
            "dtypes": Wanted("a set of DTypes", "tuple"),
            "vjp": Wanted("a mapping of names of inputs to Python functions", "mapping", "None"),
            "alike": Wanted("names of inputs", *NAMES, "None"),
            **dict.fromkeys(("updates", "host_reads", "late"), Wanted("names of inputs", *NAMES)),
            **dict.fromkeys(("views", "sparse", "elementwise", "random", "host"), BOOL),
            "may_fail": Wanted("a bool or a set of DTypes", "bool", "tuple"),
            **dict.fromkeys(("reserve", "reserve_of"), Wanted("a name", "text", "reference", "None")),
            "parts": Wanted("a name or names of ops, a function, and more names if any", "None"),
            "unneeded": Wanted("a mapping of names to functions", "None", "mapping"),
        },
    ),
    (
        "agog_ops",
        LateOps,
        "LateOps",
        {"names": ("odd_op",), "ops": "no_such_module_of_agog:x"},
        {
            "names": Wanted("a tuple of the names of ops", "texts"),
            "ops": Wanted("a 'module:attribute' string, which is imported when the ops are needed", "reference"),
        },
    ),
    (
        "agog_executors",
        Executor,
        "Executor(name={name})",
        {"name": "odd", "device": "cpu", "prepare": function},
        {
            "name": Wanted("a name, such as 'numpy'", "text", "reference"),
            "prepare": REFERENCE,
            "priority": INT,
            "unavailable": REASON,
        },
    ),
    (
        "agog_compilers",
        Compiler,
        "Compiler(name={name})",
        {"name": "odd", "device": "cpu", "compile": function, "takes": function},
        {
            "name": Wanted("a name, such as 'llvm'", "text", "reference"),
            **dict.fromkeys(("compile", "takes"), REFERENCE),
            "claims": REFERENCE.or_none(),
            "priority": INT,
            "tolerances": TOLERANCES,
            "unavailable": REASON,
        },
    ),
    (
        "agog_collectives",
        Collective,
        "Collective(name={name})",
        {"name": "odd", "devices": ("cpu",), "connect": function},
        {
            "name": Wanted("a name, such as 'mpi'", "text", "reference"),
            "devices": Wanted("a tuple of device types, such as ('cpu',)"),
            "connect": REFERENCE,
            "priority": INT,
            "unavailable": REASON,
        },
    ),
    (
        "agog_conformance",
        Conformance,
        "Conformance",
        {},
        {
            "tolerances": TOLERANCES,
            "expected_failures": Wanted("a mapping of test ids to reasons", "mapping"),
            "infos": Wanted("a 'module:attribute' string, which only the kit imports", "None", "reference"),
            "samples": Wanted("a 'module:attribute' string, which only the kit imports", "None", "reference"),
        },
    ),
]
# Whose sentences are others: see `test_device_types_and_dtypes`.
OTHERS = {
    Kernel: {"device", "dtypes", "make"},
    Backend: {"device", "dtypes"},
    Executor: {"device"},
    Compiler: {"device"},
}


def cases() -> Iterator[tuple[str, str, Any, dict[str, Any], str]]:
    """Name, hook, class, arguments with an odd one, and the sentence."""
    for hook, kind, owner, usual, fields in CLASSES:
        for field, wanted in fields.items():
            for odd, value in ODD.items():
                if odd not in wanted.accepted:
                    arguments = {**usual, field: value}
                    who = owner.format(**{name: shown(each) for name, each in arguments.items()})
                    why = f"{hook}: TypeError: {who}: {field} must be {wanted.words}; got {shown(value)}."
                    yield f"{kind.__name__}-{field}-{odd}", hook, kind, arguments, why


CASES = list(cases())


def brings(hook: str, make: Callable[[], Any]) -> Any:
    """A plugin of one hook."""
    if hook == "agog_conformance":
        return SimpleNamespace(**{hook: hookimpl(lambda: make())})

    def implementation() -> Iterator[Any]:
        yield make()

    return SimpleNamespace(**{hook: hookimpl(implementation)})


@pytest.fixture(scope="module")
def left_out() -> Iterator[Mapping[str, Plugin]]:
    """All of them, installed at once."""
    known = list(loader().plugins)
    found = {}
    for name, hook, kind, arguments, _ in CASES:
        module = brings(hook, partial(kind, **arguments))
        found[name] = loader().load(name, "odd 1.0", lambda module=module: module)
    yield found
    loader().plugins[:] = known


def test_each_field_is_among_them() -> None:
    for _, kind, _, _, fields in CLASSES:
        names = kind.__init__.__annotations__.keys() - {"return"} - OTHERS.get(kind, set())
        assert fields.keys() == names, kind


@pytest.mark.parametrize("field", dict.fromkeys(case[0].rpartition("-")[0] for case in CASES))
def test_it_is_left_out_with_one_sentence(field: str, left_out: Mapping[str, Plugin]) -> None:
    for name, *_, why in CASES:
        if name.rpartition("-")[0] == field:
            plugin = left_out[name]
            assert plugin.failure == why
            brought = (plugin.backends, plugin.kernels, plugin.ops, plugin.executors, plugin.compilers)
            assert (*brought, plugin.conformance) == ([], [], [], [], [], Conformance())


def test_doctor_tells_each_and_all_else_works(left_out: Mapping[str, Plugin]) -> None:
    told = problems()
    for name, _, _, _, why in CASES:
        assert told.count(f"{name} (odd 1.0) failed: {why}") == 1
    assert len(told) == len(CASES)
    assert float(ag.add(1.0, 2.0)) == 3.0
    assert "test_core_odd" not in ag.__dict__
    assert ag.function(lambda x: x * x + 1.0)(ag.constant(3.0)).numpy() == 10.0


@pytest.mark.parametrize("seed", range(5))
def test_several_odd_values_at_once(seed: int) -> None:
    """Values drawn at random, accepted ones too: whatever a plugin brings, it loads or is left out, and ops run."""
    draw = random.Random(seed)
    known = list(loader().plugins)
    try:
        for number in range(10):
            for hook, kind, _, usual, fields in CLASSES:
                drawn = {name: draw.choice(list(ODD.values())) for name in draw.sample(sorted(fields), 2)}
                arguments = {**usual, **drawn} | ({"device": "odd"} if kind is Kernel else {})
                module = brings(hook, partial(kind, **arguments))
                name = f"{kind.__name__}-{number}"
                plugin = loader().load(name, "odd 1.0", lambda module=module: module)
                assert plugin.failure is None or plugin.failure.startswith(f"{hook}: ")
        assert float(ag.add(1.0, 2.0)) == 3.0
        told = problems()
        assert all(told.count(f"{p.name} (odd 1.0) failed: {p.failure}") == 1 for p in loader().plugins if p.failure)
    finally:
        for plugin in loader().plugins[len(known) :]:
            if plugin.failure is None:
                ag.unregister_plugin(plugin.name)
        loader().plugins[:] = known


DEVICE = "a device type is one lower-case word, such as 'gpu'."


@pytest.mark.parametrize(("kind", "owner", "usual"), [each[1:4] for each in CLASSES if "device" in each[3]])
def test_device_types(kind: Any, owner: str, usual: dict[str, Any]) -> None:
    for value in ODD.values():
        who = owner.format(**{name: shown(each) for name, each in {**usual, "device": value}.items()})
        if kind is not Backend:
            who = f"{who[:-1]}, device={shown(value)})"
        with says(ValueError, f"{who}: {DEVICE}"):
            kind(**{**usual, "device": value})


@pytest.mark.parametrize(("kind", "usual"), [(Kernel, CLASSES[0][3]), (Backend, CLASSES[1][3])])
def test_dtypes(kind: Any, usual: dict[str, Any]) -> None:
    owner = "Kernel(op='square')" if kind is Kernel else "Backend(device='odd')"
    for odd, words in {"int": "5", "function": repr(function), "object": shown(ODD["object"])}.items():
        with says(TypeError, f"{owner}: dtypes must be names of dtypes, or None; got {words}."):
            kind(**usual, dtypes=ODD[odd])
    for odd, words in {"text": "'x y'", "list": "1", "texts": "'x y'", "bytes": "120"}.items():
        with pytest.raises(ValueError, match=f"^{re.escape(owner)}: unknown dtypes {words}; the dtypes are bfloat16, "):
            kind(**usual, dtypes=ODD[odd])
