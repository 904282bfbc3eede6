"""Plugins that a program registers itself: what is refused, and what can be taken back."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import all_ops, registry
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import PluginError
from agog_core.plugin import Backend, Conformance, Kernel, Op, hookimpl, load_reference, requires
from agog_testing import says

HOOKS = "agog_backends, agog_kernels, agog_ops, agog_conformance, agog_executors, agog_compilers, agog_collectives"


def backend(device: str) -> Backend:
    def none(*arguments: Any) -> None:
        return None

    return Backend(
        device=device,
        array_type=list,
        device_count=lambda: 1,
        from_host=none,
        to_host=none,
        allocate=none,
        copy=none,
        synchronize=none,
        memory_in_use=none,
    )


def plugin(**hooks: Any) -> Any:
    return SimpleNamespace(**{name: hookimpl(function) for name, function in hooks.items()})


def state() -> tuple[list[str], list[str], list[str]]:
    return [p.name for p in loader().plugins], sorted(all_ops()), ag.list_devices()


def fails() -> Any:
    raise OSError("no driver")


def yields_then_fails() -> Any:
    yield Kernel(op="square", device="cpu", fn=abs)
    raise OSError("no driver")


def named(value: Any) -> str:
    """A test's name that is the same in every process, which a function's address is not."""
    return value if isinstance(value, str) else ", ".join(f"{hook}={f.__name__}" for hook, f in value.items())


@pytest.mark.parametrize(
    ("hooks", "why"),
    [
        ({"agog_kernels": lambda: [1]}, "agog_kernels must yield Kernel objects; it yielded 1."),
        ({"agog_backends": lambda: [Kernel]}, f"agog_backends must yield Backend objects; it yielded {Kernel!r}."),
        ({"agog_ops": lambda: ["square"]}, "agog_ops must yield Op or LateOps objects; it yielded 'square'."),
        ({"agog_ops": lambda: None}, "agog_ops must yield Op or LateOps objects; it returned None."),
        ({"agog_conformance": lambda: None}, "agog_conformance must return a Conformance; it returned None."),
        ({"agog_compilers": lambda: [1]}, "agog_compilers must yield Compiler objects; it yielded 1."),
        ({"agog_compilers": lambda: None}, "agog_compilers must yield Compiler objects; it returned None."),
        ({"agog_kernels": fails}, "agog_kernels: OSError: no driver"),
        ({"agog_kernels": yields_then_fails}, "agog_kernels: OSError: no driver"),
        ({}, "module namespace() implements no hook; mark its functions with agog_core.plugin.hookimpl."),
        ({"agog_backends": lambda: [backend("toy"), backend("toy")]}, "it brings the device type 'toy' twice."),
        (
            {"agog_backends": lambda: [backend("CPU")]},
            "agog_backends: ValueError: Backend(device='CPU'): a device type is one lower-case word, such as 'gpu'.",
        ),
        (
            {"agog_ops": lambda: [Op("square", abs, inputs=["x"], shape=abs)]},
            "agog_ops: ValueError: Op 'square' is defined already; choose another name.",
        ),
        (
            {"agog_ops": lambda: [Op("toy", abs, inputs=["x"], shape=abs, vjp={"y": lambda g: g})]},
            "agog_ops: ValueError: Op 'toy': a vjp is given for ['y'], but the inputs are ['x'].",
        ),
    ],
    ids=named,
)
def test_what_is_refused_leaves_everything_as_it_was(hooks: dict[str, Any], why: str) -> None:
    before = state()
    with says(PluginError, f"register_plugin('stranger'): {why}"):
        ag.register_plugin(plugin(**hooks), "stranger")
    assert state() == before
    ag.register_plugin(plugin(agog_kernels=lambda: []), "stranger")  # the name is free
    ag.unregister_plugin("stranger")
    assert state() == before


def test_a_misspelled_hook() -> None:
    stranger = plugin(agog_kernals=lambda: [])
    with says(
        PluginError,
        f"register_plugin('stranger'): unknown hook 'agog_kernals' in plugin {stranger!r} The hooks are {HOOKS}.",
    ):
        ag.register_plugin(stranger, "stranger")
    ag.register_plugin(plugin(agog_kernels=lambda: []), "other")  # nothing of the misspelled hook is left
    ag.unregister_plugin("other")


def test_a_name_or_device_that_is_taken() -> None:
    ag.register_plugin(plugin(agog_backends=lambda: [backend("toy")]), "first")
    try:
        with says(
            PluginError,
            "register_plugin('first'): the plugin name 'first' is taken already (registered by the program); "
            "uninstall one of the two.",
        ):
            ag.register_plugin(plugin(agog_kernels=lambda: []), "first")
        rival = next(p for p in loader().plugins if any(b.device == "cpu" for b in p.backends))
        with says(
            PluginError,
            f"register_plugin('second'): it brings the device type 'cpu', which plugin {rival.name!r} "
            f"({rival.distribution}) brings too; choose one with AGOG_PLUGINS or uninstall one.",
        ):
            ag.register_plugin(plugin(agog_backends=lambda: [backend("cpu")]), "second")
        assert ag.count_devices("toy") == 1
    finally:
        ag.unregister_plugin("first")
    assert ag.count_devices("toy") == 0


def test_one_object_cannot_be_two_plugins() -> None:
    stranger = plugin(agog_kernels=lambda: [])
    ag.register_plugin(stranger, "first")
    try:
        with says(PluginError, "register_plugin('second'): its module is loaded already, as plugin 'first'."):
            ag.register_plugin(stranger, "second")
    finally:
        ag.unregister_plugin("first")


def test_only_loaded_plugins_can_be_taken_back() -> None:
    with says(ValueError, "unregister_plugin: no plugin 'nobody' is loaded."):
        ag.unregister_plugin("nobody")
    failed = loader().load("failed", "a test", fails)
    try:
        assert failed.failure == "OSError: no driver"
        with says(ValueError, "unregister_plugin: no plugin 'failed' is loaded."):
            ag.unregister_plugin("failed")
    finally:
        loader().plugins.remove(failed)


def test_an_op_comes_and_goes_with_its_plugin() -> None:
    def ops() -> Any:
        yield Op("test_core_op", abs, inputs=["x"], shape=lambda x: x)

    for _ in range(2):
        ag.register_plugin(plugin(agog_ops=ops), "stranger")
        assert "test_core_op" in registry
        ag.unregister_plugin("stranger")
        assert "test_core_op" not in registry


def test_an_op_that_is_made_before_its_plugin_is_registered() -> None:
    op = Op("test_core_op", abs, inputs=["x"], shape=lambda x: x)
    ag.register_plugin(plugin(agog_ops=lambda: [op]), "stranger")
    assert registry["test_core_op"] is op
    ag.unregister_plugin("stranger")


LATE_NAME = """
from types import ModuleType, SimpleNamespace
import agog_core as ag
from agog_core.dispatch.op import Op, all_ops, registry
from agog_core.plugin import hookimpl
assert "rfft" not in registry
op = Op("rfft", abs, inputs=["x"], shape=lambda x: x)
try:
    ag.register_plugin(SimpleNamespace(agog_ops=hookimpl(lambda: [op])), "stranger")
except ag.errors.PluginError as error:
    print(error)
own = [op for op in all_ops().values() if op.function.__module__.startswith("agog_core.")]
print(all_ops()["rfft"].function.__module__, len(own))
"""


def test_an_op_cannot_take_the_name_of_one_that_loads_late() -> None:
    run = subprocess.run([sys.executable, "-c", LATE_NAME], capture_output=True, text=True, check=True)
    own = [op for op in all_ops().values() if op.function.__module__.startswith("agog_core.")]  # not of plugins
    assert run.stdout.splitlines() == [
        "register_plugin('stranger'): it defines the op 'rfft', which exists already; choose another name.",
        f"agog_core.ops.signal.real_fourier {len(own)}",
    ]


ONE_BY_ONE = {"x": lambda g, y: g * y, "y": lambda g, x: g * x, "z": lambda g: g}
LAST_JOINTLY = {"x": lambda g, y: g * y, ("y", "z"): lambda g, x: (g * x, g)}
FIRST_JOINTLY = {("x", "y"): lambda g, x, y: (g * y, g * x), "z": lambda g: g}
ALL_JOINTLY = {("x", "y", "z"): lambda g, x, y: (g * y, g * x, g)}


@pytest.mark.parametrize("vjp", [ONE_BY_ONE, LAST_JOINTLY, FIRST_JOINTLY, ALL_JOINTLY])
def test_gradients_of_an_op_in_every_form(vjp: Any) -> None:
    """x * y + z: each input's gradient on its own, or several at once, gives the same."""

    def hooks() -> Any:
        op = Op("test_core_op", abs, inputs=["x", "y", "z"], shape=lambda x, y, z: x, vjp=vjp)
        kernel = Kernel(op="test_core_op", device="cpu", fn=lambda x, y, z: x * y + z)
        return plugin(agog_ops=lambda: [op], agog_kernels=lambda: [kernel]), op

    stranger, op = hooks()
    ag.register_plugin(stranger, "stranger")
    try:
        with ag.device("cpu"):
            x, y, z = (ag.constant(value) for value in (2.0, 3.0, 5.0))
            for watched in ([x, y, z], [x], [y], [z], [x, z]):
                with ag.GradientTape(persistent=True) as tape:
                    tape.watch(watched)
                    out = call(op, x, y, z)
                    total = out * out
                for target, factor in ((out, 1.0), (total, 22.0)):
                    gradients = tape.gradient(target, [x, y, z, out])
                    expected = [v * factor if s in watched else None for s, v in ((x, 3.0), (y, 2.0), (z, 1.0))]
                    assert [None if g is None else float(g) for g in gradients] == [*expected, factor]
    finally:
        ag.unregister_plugin("stranger")


def test_gradients_of_an_op_with_two_outputs() -> None:
    """(x * y, x + y), with a vjp for each input."""
    op = Op(
        "test_core_op",
        abs,
        inputs=["x", "y"],
        shape=lambda x, y: [x, y],
        vjp={
            "x": lambda g, y: (0.0 if g[0] is None else g[0] * y) + (0.0 if g[1] is None else g[1]),
            "y": lambda g, x: (0.0 if g[0] is None else g[0] * x) + (0.0 if g[1] is None else g[1]),
        },
    )
    kernel = Kernel(op="test_core_op", device="cpu", fn=lambda x, y: (x * y, x + y))
    ag.register_plugin(plugin(agog_ops=lambda: [op], agog_kernels=lambda: [kernel]), "stranger")
    try:
        with ag.device("cpu"):
            x, y = ag.constant(2.0), ag.constant(3.0)
            with ag.GradientTape(persistent=True) as tape:
                tape.watch([x, y])
                product, total = call_several(op, x, y)
                loss = product * 10.0 + total * 100.0
            assert [float(g) for g in tape.gradient(loss, [x, y, product, total])] == [130.0, 120.0, 10.0, 100.0]
            assert [float(g) for g in tape.gradient(product, [x, y])] == [3.0, 2.0]
            assert [float(g) for g in tape.gradient(total, [x, y])] == [1.0, 1.0]
    finally:
        ag.unregister_plugin("stranger")


def test_conformance_is_kept() -> None:
    facts = Conformance(tolerances={"matmul": (1e-3, 1e-3)}, expected_failures={"a/b/c": "why"})
    ag.register_plugin(plugin(agog_conformance=lambda: facts), "stranger")
    assert next(p.conformance for p in loader().plugins if p.name == "stranger") is facts
    ag.unregister_plugin("stranger")


def test_kernels() -> None:
    kernel = Kernel(op="square", device="cpu", fn="math:sqrt", dtypes="float32")
    assert kernel.dtypes == frozenset({"float32"})
    assert Kernel(op="square", device="cpu", fn=abs, dtypes=(d for d in ["int8", "int16"])).dtypes == {"int8", "int16"}
    assert (kernel.priority, kernel.unavailable()) == (100, None)
    with pytest.raises(AttributeError):
        kernel.op = "exp"  # type: ignore[misc]  # frozen
    with pytest.raises(TypeError, match="positional"):
        Kernel("square", "cpu", abs)  # type: ignore[call-arg,misc]  # keyword-only
    for fn in ("math", "a:b:c", 3):
        with says(TypeError, f"Kernel(op='square'): fn must be a function or a 'module:attribute' string; got {fn!r}."):
            Kernel(op="square", device="cpu", fn=fn)  # type: ignore[arg-type]


def test_references() -> None:
    import math

    assert load_reference("math:sqrt") is math.sqrt
    assert load_reference(abs) is abs


def test_an_interrupt_while_a_plugin_loads_passes_through() -> None:
    def interrupted() -> Any:
        yield Op("test_core_interrupted", abs, inputs=["x"], shape=abs)
        raise KeyboardInterrupt

    before = state()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            ag.register_plugin(plugin(agog_ops=interrupted), "stranger")
        assert state() == before
    ag.register_plugin(plugin(agog_ops=lambda: []), "stranger")  # which brings no op of the one before
    ag.unregister_plugin("stranger")
    assert state() == before


def test_a_version_is_kept_where_it_is_said() -> None:
    module = ModuleType("stranger")
    exec("from agog_core.plugin import requires\nsaid = requires(3)", module.__dict__)
    assert (module.AGOG_API_VERSION, module.said) == (3, 3)
    for version, shown in ((4, "4"), (0, "0"), ("2", "'2'"), (2.0, "2.0"), (None, "None")):
        with says(
            PluginError, f"it is written for plugin API {shown}, and this agog-core has API 3; upgrade the older one."
        ):
            requires(version)  # type: ignore[arg-type]


def test_plugins_of_every_version_that_is_served() -> None:
    for version in (None, 1, 2, 3):
        stranger = plugin(agog_kernels=lambda: [])
        if version is not None:
            stranger.AGOG_API_VERSION = version
        ag.register_plugin(stranger, "stranger")
        try:
            assert loader().plugins[-1].version == version
        finally:
            ag.unregister_plugin("stranger")


def test_an_op_that_takes_a_reserve_names_it_last() -> None:
    with says(ValueError, "Op 'test_taker': 'reserve' must be its last input."):
        Op("test_taker", abs, inputs=["reserve", "x"], shape=abs, reserve_of="lstm")


def test_an_elementwise_op_keeps_no_reserve() -> None:
    with says(ValueError, "Op 'test_keeper': an elementwise op keeps no reserve; its vjp may name inputs and out."):
        Op("test_keeper", abs, inputs=["x"], shape=abs, vjp={"x": lambda g, reserve: g}, elementwise=True)
