"""Strangers' plugins: distributions with real metadata, each tried in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from textwrap import dedent

import pytest

KERNEL = """
from agog_core.plugin import Kernel, hookimpl

@hookimpl
def agog_kernels():
    yield Kernel(op="square", device="cpu", fn="{module}:fast", priority=200)

def fast(x):
    return x * 0 + {answer}
"""
HOOKS = "agog_backends, agog_kernels, agog_ops, agog_conformance, agog_executors, agog_compilers, agog_collectives"
SQUARE = "import agog_core as ag; print(float(ag.square(3.0)))"
SHOW = """
from agog_core.dispatch.plugins.loader import loader
for p in loader().plugins:
    if p.name not in INSTALLED: print(p.name, "|", p.distribution, "|", p.failure, "|", p.skipped)
"""
# What is installed where the tests run, beside the plugins that they make.
VERSION = metadata.version("agog-cpu-numpy")
INSTALLED = sorted({e.name for e in metadata.entry_points(group="agog")})


class Result:
    """What a program printed, and the warnings that it gave."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code = done.returncode
        self.lines = done.stdout.splitlines()
        self.stderr = done.stderr
        marker = "PluginWarning: "
        self.warnings = [line.split(marker, 1)[1] for line in done.stderr.splitlines() if marker in line]

    @property
    def error(self) -> str:
        """The last line of the traceback."""
        return self.stderr.splitlines()[-1]


class Site:
    """A folder of distributions that a program finds beside what is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, source: str, distribution: str | None = None, module: str | None = None) -> None:
        """Install a distribution of one module that announces one plugin."""
        distribution = distribution or f"dist-{name}"
        module = module or distribution.replace("-", "_")
        (self.folder / f"{module}.py").write_text(dedent(source))
        info = self.folder / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[agog]\n{name} = {module}\n")

    def run(self, program: str, **environment: str) -> Result:
        """Run a program; of the installed plugins it sees cpu-numpy only, unless AGOG_PLUGINS says something else."""
        allowed = ",".join(["cpu-numpy", *sorted(self.names())])
        env = {k: v for k, v in os.environ.items() if not k.startswith(("AGOG_", "COV_"))}
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        env |= {"PYTHONPATH": os.pathsep.join(paths), "AGOG_PLUGINS": allowed} | environment
        text = f"INSTALLED = {INSTALLED!r}\n{dedent(program)}"
        command = [sys.executable, "-W", "always", "-c", text]
        return Result(subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, cwd=self.folder))

    def names(self) -> list[str]:
        """The plugins that were added."""
        found = [file.read_text().splitlines()[1].split(" = ")[0] for file in self.folder.glob("*/entry_points.txt")]
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def left_out(name: str, why: str, distribution: str | None = None) -> str:
    return f"agog plugin {name!r} ({distribution or f'dist-{name} 1.2'}) is left out: {why}"


# --- one failing plugin -------------------------------------------------------------------------------------------

FAILURES = {
    "import": (
        "import no_such_module",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "syntax": ("def", "SyntaxError: invalid syntax (dist_broken.py, line 1)"),
    "error at import": ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "exit at import": ("raise SystemExit(3)", "SystemExit: 3"),
    "misspelled hook": (
        """
        from agog_core.plugin import hookimpl

        @hookimpl
        def agog_kernel():
            yield
        """,
        "unknown hook 'agog_kernel' in plugin <module 'dist_broken' from '{folder}/dist_broken.py'> The hooks are "
        f"{HOOKS}.",
    ),
    "no hook": (
        "def agog_kernels(): yield",
        "module 'dist_broken' implements no hook; mark its functions with agog_core.plugin.hookimpl.",
    ),
    "newer API": (
        "AGOG_API_VERSION = 99\n" + KERNEL.format(module="dist_broken", answer=1),
        "it is written for plugin API 99, and this agog-core has API 3; upgrade the older one.",
    ),
    "wrong object": (
        """
        from agog_core.plugin import hookimpl

        @hookimpl
        def agog_kernels():
            yield ("square", "cpu")
        """,
        "agog_kernels must yield Kernel objects; it yielded ('square', 'cpu').",
    ),
    "nothing": (
        """
        from agog_core.plugin import hookimpl

        @hookimpl
        def agog_backends():
            pass
        """,
        "agog_backends must yield Backend objects; it returned None.",
    ),
    "wrong conformance": (
        """
        from agog_core.plugin import hookimpl

        @hookimpl
        def agog_conformance():
            return {"tolerances": {}}
        """,
        "agog_conformance must return a Conformance; it returned {{'tolerances': {{}}}}.",
    ),
    "error in a hook": (
        """
        from agog_core.plugin import hookimpl

        @hookimpl
        def agog_kernels():
            raise OSError("no driver")
            yield
        """,
        "agog_kernels: OSError: no driver",
    ),
    "wrong kernel": (
        """
        from agog_core.plugin import Kernel, hookimpl

        @hookimpl
        def agog_kernels():
            yield Kernel(op="square", device="cpu", fn="fast_square")
        """,
        "agog_kernels: TypeError: Kernel(op='square'): fn must be a function or a 'module:attribute' string; got "
        "'fast_square'.",
    ),
    "wrong dtype": (
        """
        from agog_core.plugin import Kernel, hookimpl

        @hookimpl
        def agog_kernels():
            yield Kernel(op="square", device="cpu", fn=abs, dtypes=["float33", "int32"])
        """,
        "agog_kernels: ValueError: Kernel(op='square'): unknown dtypes 'float33'; the dtypes are bfloat16, bool, "
        "complex128, "
        "complex64, float16, float32, float64, int16, int32, int64, int8, string, uint16, uint32, uint64, uint8.",
    ),
    "wrong device": (
        """
        from agog_core.plugin import Kernel, hookimpl

        @hookimpl
        def agog_kernels():
            yield Kernel(op="square", device="CPU:0", fn=abs)
        """,
        "agog_kernels: ValueError: Kernel(op='square', device='CPU:0'): a device type is one lower-case word, such as "
        "'gpu'.",
    ),
    "device type that is taken": (
        """
        from agog_core.plugin import Backend, hookimpl

        @hookimpl
        def agog_backends():
            none = lambda *arguments: None
            yield Backend(device="cpu", array_type="numpy:ndarray", device_count=none, from_host=none, to_host=none,
                          allocate=none, copy=none, synchronize=none, memory_in_use=none)
        """,
        f"it brings the device type 'cpu', which plugin 'cpu-numpy' (agog-cpu-numpy {VERSION}) brings too; choose one "
        "with AGOG_PLUGINS or uninstall one.",
    ),
    "op that is there": (
        """
        from agog_core.plugin import Op, hookimpl

        @hookimpl
        def agog_ops():
            yield Op("square", abs, inputs=["x"], shape=lambda x: x)
        """,
        "agog_ops: ValueError: Op 'square' is defined already; choose another name.",
    ),
    "an op at import": (
        "import agog_core as ag\nag.constant(1.0)",
        "it runs an op or asks for a device while plugins are being loaded; hooks only return data.",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_plugin_is_reported_and_harms_no_other(site: Site, failure: str) -> None:
    source, why = FAILURES[failure]
    why = why.format(folder=site.folder)
    site.add("xx-broken", source, "dist-broken")
    site.add("zz-good", KERNEL.format(module="dist_zz_good", answer=7))
    name, distribution = "xx-broken", "dist-broken 1.2"
    done = site.run(f"{SQUARE}\nprint(float(ag.exp(0.0)))\n{SHOW}")
    assert done.lines == [
        "7.0",
        "1.0",
        *[f"{name} | {distribution} | {why} | False", "zz-good | dist-zz-good 1.2 | None | False"],
    ]
    assert done.warnings == [left_out(name, why, distribution)]
    if failure in ("import", "misspelled hook", "newer API"):  # errors of three kinds of places
        strict = site.run(SQUARE, AGOG_STRICT_PLUGINS="1")
        assert strict.code == 1
        assert strict.error == f"agog_core.errors.PluginError: {left_out(name, why, distribution)}"


def test_strictness_can_be_turned_off(site: Site) -> None:
    site.add("broken", "import no_such_module")
    for value in ("", "0"):
        assert site.run(SQUARE, AGOG_STRICT_PLUGINS=value).lines == ["9.0"]


def test_strictness_fails_each_time(site: Site) -> None:
    site.add("broken", "raise OSError('no driver')")
    done = site.run(
        """
        import agog_core as ag
        for turn in range(2):
            try:
                ag.constant(1.0)
            except ag.errors.PluginError as error:
                print(error, "|", type(error.__cause__).__name__)
        """,
        AGOG_STRICT_PLUGINS="1",
    )
    assert done.lines == [f"{left_out('broken', 'OSError: no driver')} | OSError"] * 2


def test_a_failing_plugin_is_named_where_a_kernel_is_missing(site: Site) -> None:
    site.add("broken", "import no_such_module")
    done = site.run(
        """
        import agog_core as ag
        from agog_core.plugin import Op
        Op("nowhere", abs, inputs=["x"], shape=lambda x: x)
        print(ag.explain("nowhere", "cpu", "float32"))
        try:
            ag.constant(1.0).gpu()
        except RuntimeError as error:
            print(error)
        """
    )
    why = "ModuleNotFoundError: No module named 'no_such_module'"
    skipped = [
        f"  left out by AGOG_PLUGINS: plugin {e.name!r} ({e.dist.name} {e.dist.version})"
        for e in sorted(metadata.entry_points(group="agog"), key=lambda e: e.name)
        if e.name != "cpu-numpy" and e.dist
    ]
    assert done.lines == [
        "No kernel is registered for op 'nowhere' on device 'cpu' with dtype float32.",
        "  registered: nowhere, by no plugin",
        f"  failed to load: plugin 'broken' (dist-broken 1.2): {why}",
        *skipped,
        "Install a plugin that brings the kernel. `agog explain nowhere --device cpu --dtype float32` prints this "
        "again.",
        "Error copying tensor to device: GPU:0. /job:localhost/replica:0/task:0/device:GPU:0 unknown device.",
        "  why: no installed plugin brings the device type 'gpu'.",
        "  devices: cpu:0",
        f"  failed to load: plugin 'broken' (dist-broken 1.2): {why}",
        "`agog plugins` lists the plugins and their devices.",
    ]


def test_two_distributions_with_one_plugin_name(site: Site) -> None:
    site.add("fast", KERNEL.format(module="dist_a", answer=1), "dist-a")
    site.add("fast", KERNEL.format(module="dist_b", answer=2), "dist-b")
    done = site.run(SQUARE)
    why = "the plugin name 'fast' is taken already (dist-a 1.2); uninstall one of the two."
    assert done.lines == ["1.0"]
    assert done.warnings == [left_out("fast", why, "dist-b 1.2")]


def test_ties_between_distributions(site: Site) -> None:
    site.add("one", KERNEL.format(module="dist_one", answer=1))
    site.add("two", KERNEL.format(module="dist_two", answer=2))
    done = site.run("import agog_core as ag\nprint(float(ag.exp(0.0)))\nag.square(1.0)")
    assert done.lines == ["1.0"]
    assert done.stderr.endswith(
        "agog_core.errors.AmbiguousKernelError: 2 kernels of equal rank are registered for op 'square' on device 'cpu' "
        "with dtype float32:\n"
        "  plugin 'one' (dist-one 1.2), priority 200, every dtype\n"
        "  plugin 'two' (dist-two 1.2), priority 200, every dtype\n"
        "Choose one: agog.prefer('one'), or AGOG_PREFER=one in the environment.\n"
    )


# --- the environment ----------------------------------------------------------------------------------------------


def test_preferences_from_the_environment(site: Site) -> None:
    site.add("one", KERNEL.format(module="dist_one", answer=1))
    site.add("two", KERNEL.format(module="dist_two", answer=2))
    assert site.run(SQUARE, AGOG_PREFER="one").lines == ["1.0"]
    assert site.run(SQUARE, AGOG_PREFER=" two , one ").lines == ["2.0"]
    assert site.run(SQUARE, AGOG_PREFER="cpu-numpy").lines == ["9.0"]
    unknown = site.run(SQUARE, AGOG_PREFER="nobody,one")
    assert unknown.lines == ["1.0"]
    assert unknown.warnings == ["AGOG_PREFER names plugin 'nobody', which is not installed."]
    over = site.run("import agog_core as ag\nprint(ag.prefer('one'))\n" + SQUARE, AGOG_PREFER="two")
    assert over.lines == ["('two',)", "1.0"]


def test_the_allow_list(site: Site) -> None:
    site.add("one", KERNEL.format(module="dist_one", answer=1))
    site.add("two", "raise SystemError")
    done = site.run(f"{SQUARE}\n{SHOW}", AGOG_PLUGINS=" cpu-numpy , one")
    assert done.lines == ["1.0", "one | dist-one 1.2 | None | False", "two | dist-two 1.2 | None | True"]
    assert done.warnings == []
    assert site.run(SQUARE, AGOG_PLUGINS="cpu-numpy").lines == ["9.0"]


def test_an_allowed_plugin_that_is_not_installed(site: Site) -> None:
    why = "AGOG_PLUGINS names it, but no installed distribution announces it."
    done = site.run(f"{SQUARE}\n{SHOW}", AGOG_PLUGINS="cpu-numpy,nobody")
    assert done.lines == ["9.0", f"nobody | not installed | {why} | False"]
    assert done.warnings == [left_out("nobody", why, "not installed")]
    strict = site.run(SQUARE, AGOG_PLUGINS="cpu-numpy,nobody", AGOG_STRICT_PLUGINS="1")
    assert strict.error == f"agog_core.errors.PluginError: {left_out('nobody', why, 'not installed')}"


def test_no_backend_at_all(site: Site) -> None:
    others = ", ".join(repr(name) for name in sorted(INSTALLED))
    program = """
    import agog_core as ag
    try:
        ag.constant(1.0)
    except ag.errors.InvalidArgumentError as error:
        print(error)
    """
    for allowed in ("", "nobody"):
        failed = (
            [
                "  failed to load: plugin 'nobody' (not installed): AGOG_PLUGINS names it, but no installed "
                "distribution announces it."
            ]
            if allowed
            else []
        )
        assert site.run(program, AGOG_PLUGINS=allowed).lines == [
            "No plugin that brings a device is loaded.",
            *failed,
            f"  left out by AGOG_PLUGINS={allowed!r}: {others}",
            "Name one of these in AGOG_PLUGINS, or unset it.",
        ]


# --- loading ------------------------------------------------------------------------------------------------------


def test_importing_the_core_loads_no_plugin(site: Site) -> None:
    site.add("loud", "print('loaded')\n" + KERNEL.format(module="dist_loud", answer=1))
    done = site.run(
        """
        import sys
        import agog_core as ag
        tape, shape = ag.GradientTape(), ag.TensorShape([2])
        print([name for name in ("pluggy", "dist_loud", "agog_cpu_numpy", "agog_kernels_xp") if name in sys.modules])
        ag.constant(1.0)
        print(sorted(name for name in ("pluggy", "dist_loud", "agog_cpu_numpy") if name in sys.modules))
        """
    )
    assert done.lines == ["[]", "loaded", "['agog_cpu_numpy', 'dist_loud', 'pluggy']"]


def test_a_kernel_string_is_imported_when_it_is_chosen(site: Site) -> None:
    (site.folder / "heavy.py").write_text("print('heavy')\ndef fast(x): return x * 0 + 5\n")
    site.add("lazy", KERNEL.format(module="heavy", answer=0))
    done = site.run("import agog_core as ag\nag.exp(1.0)\nprint('before')\n" + SQUARE)
    assert done.lines == ["before", "heavy", "5.0"]


def test_threads_that_use_a_device_first_load_the_plugins_once(site: Site) -> None:
    site.add("slow", "import time\nprint('loading')\ntime.sleep(0.2)\n" + KERNEL.format(module="dist_slow", answer=5))
    done = site.run(
        """
        import sys, threading
        import agog_core as ag
        sys.setswitchinterval(1e-6)
        barrier, devices, answers = threading.Barrier(8), set(), []
        def work():
            barrier.wait()
            x = ag.constant([1.0])
            devices.add(id(x._table))
            answers.append(float(ag.square(x)[0]))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(devices), answers)
        """
    )
    assert done.lines == ["loading", f"1 {[5.0] * 8}"]
    assert done.stderr == ""


def test_a_plugin_that_adds_an_op(site: Site) -> None:
    site.add(
        "cubes",
        """
        from agog_core.plugin import Kernel, Op, hookimpl

        def cube(x):
            from agog_core.calls.call import call
            from agog_core import convert_to_tensor
            return call(op, convert_to_tensor(x))

        op = Op("cube", cube, inputs=["x"], shape=lambda x: x, vjp={"x": lambda g, x: g * 3.0 * x * x})

        @hookimpl
        def agog_ops():
            yield op

        @hookimpl
        def agog_kernels():
            yield Kernel(op="cube", device="cpu", fn=lambda x: x * x * x)
        """,
    )
    done = site.run(
        """
        import agog_core as ag
        print(ag.explain("cube", "cpu"))
        from dist_cubes import cube
        print(float(cube(2.0)))
        first = ag.gradients_function(cube)
        second = ag.gradients_function(lambda x: first(x)[0])
        print(float(first(2.0)[0]), float(second(2.0)[0]))
        """
    )
    assert done.lines == [
        *[
            "cube on device 'cpu' with dtype float32:",
            "  chosen: plugin 'cubes' (dist-cubes 1.2), priority 100, every dtype",
        ],
        *["8.0", "12.0 12.0"],
    ]
    assert done.stderr == ""
