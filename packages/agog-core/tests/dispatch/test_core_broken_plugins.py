"""Broken plugins, all installed at once: each is named with its cause, and the CPU works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

KERNEL = "from agog_core.plugin import *\n\n@hookimpl\ndef agog_kernels():\n    "
OPS = KERNEL.replace("agog_kernels", "agog_ops")
BACKENDS = KERNEL.replace("agog_kernels", "agog_backends")
DTYPES = (
    "bfloat16, bool, complex128, complex64, float16, float32, float64, int16, int32, int64, int8, string, uint16, "
    "uint32, uint64, uint8"
)
PANIC = "class PanicException(BaseException): pass\nraise PanicException('index out of bounds')"

# What a plugin's module says, and why it is left out.
LEFT_OUT = {
    "missing module": ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    "syntax": ("def", "SyntaxError: invalid syntax (syntax_plugin.py, line 1)"),
    "error at import": ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "exit at import": ("import sys; sys.exit('no licence')", "SystemExit: no licence"),
    "panic at import": (PANIC, "PanicException: index out of bounds"),
    "skip at import": ("import pytest\npytest.skip('not here', allow_module_level=True)", "Skipped: not here"),
    "generator exit": ("raise GeneratorExit", "GeneratorExit: "),
    "an op at import": (
        "import agog_core as ag\nag.constant(1.0)",
        "it runs an op or asks for a device while plugins are being loaded; hooks only return data.",
    ),
    "no hook": (
        "def agog_kernels(): yield",
        "module 'no_hook_plugin' implements no hook; mark its functions with agog_core.plugin.hookimpl.",
    ),
    "hook with an argument": (
        KERNEL.replace("agog_kernels()", "agog_kernels(device)") + "yield",
        "PluginValidationError: Plugin 'hook with an argument' for hook 'agog_kernels'\nhookimpl definition: "
        "agog_kernels(device)\nArgument(s) {'device'} are declared in the hookimpl but can not be found in the "
        "hookspec",
    ),
    "newer API": (
        "from agog_core.plugin import requires\nrequires(4)",
        "it is written for plugin API 4, and this agog-core has API 3; upgrade the older one.",
    ),
    "newer API by hand": (
        "AGOG_API_VERSION = 4\n" + KERNEL + "raise OSError('its kernels are not to be read')",
        "it is written for plugin API 4, and this agog-core has API 3; upgrade the older one.",
    ),
    "API in words": (
        "AGOG_API_VERSION = '2'\n" + KERNEL + "return []",
        "it is written for plugin API '2', and this agog-core has API 3; upgrade the older one.",
    ),
    "hook that returns nothing": (KERNEL + "pass", "agog_kernels must yield Kernel objects; it returned None."),
    "hook that returns a number": (KERNEL + "return 3", "agog_kernels must yield Kernel objects; it returned 3."),
    "hook that returns a string": (KERNEL + "return 'ab'", "agog_kernels must yield Kernel objects; it yielded 'a'."),
    "hook that raises": (KERNEL + "raise OSError('no driver')", "agog_kernels: OSError: no driver"),
    "hook that raises midway": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs)\n    raise OSError('no driver')",
        "agog_kernels: OSError: no driver",
    ),
    "hook that panics midway": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs)\n    raise BaseException('panic')",
        "agog_kernels: BaseException: panic",
    ),
    "class in place of an object": (
        KERNEL + "yield Kernel",
        "agog_kernels must yield Kernel objects; it yielded <class 'agog_core.dispatch.plugins.contract.Kernel'>.",
    ),
    "op that is no string": (
        KERNEL + "yield Kernel(op=3, device='cpu', fn=abs)",
        "agog_kernels: TypeError: Kernel(op=3): op must be the name of an op; got 3.",
    ),
    "device that is no string": (
        KERNEL + "yield Kernel(op='square', device=None, fn=abs)",
        "agog_kernels: ValueError: Kernel(op='square', device=None): a device type is one lower-case word, such as "
        "'gpu'.",
    ),
    "priority that is no number": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs, priority=None)",
        "agog_kernels: TypeError: Kernel(op='square'): priority must be an int; got None.",
    ),
    "kernel without a function": (
        KERNEL + "yield Kernel(op='square', device='cpu')",
        "agog_kernels: TypeError: Kernel(op='square'): it takes one of fn, make and on; got none.",
    ),
    "unknown dtype": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs, dtypes=['float33'])",
        f"agog_kernels: ValueError: Kernel(op='square'): unknown dtypes 'float33'; the dtypes are {DTYPES}.",
    ),
    "dtype that is no string": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs, dtypes=[32, 'float32'])",
        f"agog_kernels: ValueError: Kernel(op='square'): unknown dtypes 32; the dtypes are {DTYPES}.",
    ),
    "unavailable that is no function": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs, unavailable='too old')",
        "agog_kernels: TypeError: Kernel(op='square'): unavailable must be a function that returns a sentence or "
        "None; got "
        "'too old'.",
    ),
    "unknown argument": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn=abs, speed=9)",
        "agog_kernels: TypeError: Kernel.__init__() got an unexpected keyword argument 'speed'",
    ),
    "op that is there": (
        OPS + "yield Op('square', abs, inputs=['x'], shape=abs)",
        "agog_ops: ValueError: Op 'square' is defined already; choose another name.",
    ),
    "op that is left behind": (
        "from agog_core.plugin import *\nOp('left_behind', abs, inputs=['x'], shape=abs)\nraise OSError('too late')",
        "OSError: too late",
    ),
    "conformance that is a dict": (
        KERNEL.replace("agog_kernels", "agog_conformance") + "return {}",
        "agog_conformance must return a Conformance; it returned {}.",
    ),
    "device twice": (
        BACKENDS + "none = lambda *arguments: None\n    for _ in range(2):\n        yield Backend(device='toy', "
        "array_type=list, device_count=none, from_host=none, to_host=none, allocate=none, copy=none, "
        "synchronize=none, memory_in_use=none)",
        "it brings the device type 'toy' twice.",
    ),
}

# What is loaded, and shows its fault only when its kernels or devices are looked at.
LOADED = {
    "op that nobody has": (
        KERNEL + "yield Kernel(op='sqare', device='cpu', fn=abs)",
        "op that nobody has brings a kernel for 'sqare', but there is no such op; did you mean 'square'?",
    ),
    "device that nobody has": (
        KERNEL
        + "for op in ('square', 'exp', 'log', 'sin', 'cos'):\n        yield Kernel(op=op, device='cpuu', fn=abs)",
        "device that nobody has brings kernels for the device type 'cpuu' (square, exp, log and 2 more), which no "
        "plugin brings; did you mean 'cpu'?",
    ),
    "kernel in a missing module": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn='no_such_module:fast', priority=900)",
        "kernel in a missing module: the kernels for square could not be loaded: ModuleNotFoundError: No module named "
        "'no_such_module'",
    ),
    "kernel that is not there": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn='math:fast', priority=901)",
        "kernel that is not there: the kernels for square could not be loaded: AttributeError: module 'math' has no "
        "attribute 'fast'",
    ),
    "kernel that is a number": (
        KERNEL + "yield Kernel(op='square', device='cpu', make='math:pi', priority=902)",
        "kernel that is a number: the kernels for square could not be loaded: TypeError: math:pi must be a function; "
        "it is 3.141592653589793",
    ),
    "kernel in a panicking module": (
        KERNEL + "yield Kernel(op='square', device='cpu', fn='panicking:fast', priority=903)",
        "kernel in a panicking module: the kernels for square could not be loaded: PanicException: index out of bounds",
    ),
    "unavailable that raises": (
        "def fails(): raise OSError('no driver')\n"
        + KERNEL
        + "yield Kernel(op='square', device='cpu', fn=abs, unavailable=fails, priority=904)",
        "unavailable that raises: the kernels for square could not be loaded: OSError: no driver",
    ),
    "unavailable that exits": (
        "def fails(): raise SystemExit(3)\n"
        + KERNEL
        + "yield Kernel(op='square', device='cpu', fn=abs, unavailable=fails, priority=905)",
        "unavailable that exits: the kernels for square could not be loaded: SystemExit: 3",
    ),
}

PROGRAM = """
import json, warnings
warnings.simplefilter("ignore")
import agog_core as ag
values = [float(ag.square(3.0)), float(ag.exp(0.0)), float(ag.gradients_function(lambda x: ag.square(x))(3.0)[0])]
from agog_core.dispatch.reports.diagnosis import problems
from agog_core.dispatch.plugins.loader import loader
from agog_core.dispatch.op import all_ops
print(json.dumps({
    "values": values,
    "failures": {p.name: p.failure for p in loader().plugins},
    "seconds": {p.name: p.seconds for p in loader().plugins},
    "versions": {p.name: p.version for p in loader().plugins},
    "problems": problems(),
    "left behind": "left_behind" in all_ops(),
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a program sees that runs with all of them."""
    folder: Path = tmp_path_factory.mktemp("site")
    (folder / "panicking.py").write_text(PANIC)
    slow = "import time\ntime.sleep(0.2)\nfrom agog_core.plugin import requires\nrequires(2)\n" + KERNEL + "return []"
    sources = {name: source for name, (source, _) in (LEFT_OUT | LOADED).items()}
    for name, source in (sources | {"slow import": slow, "says nothing": KERNEL + "return []"}).items():
        module = name.replace(" ", "_") + "_plugin"
        (folder / f"{module}.py").write_text(dedent(source))
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agog]\n{name} = {module}\n")
    (remains := folder / "remains-1.0.dist-info").mkdir()
    (remains / "entry_points.txt").write_text("[agog]\nwithout metadata = without_metadata\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("AGOG_", "COV_"))}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, timeout=300, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_cpu_works(seen: Any) -> None:
    assert seen["values"] == [9.0, 1.0, 6.0]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_plugin_that_is_left_out(seen: Any, name: str) -> None:
    assert seen["failures"][name] == LEFT_OUT[name][1]
    module = name.replace(" ", "_") + "_plugin"
    assert f"{name} ({module} 1.0) failed: {LEFT_OUT[name][1]}" in seen["problems"]


def test_a_plugin_without_metadata(seen: Any) -> None:
    assert seen["failures"]["without metadata"] == "ModuleNotFoundError: No module named 'without_metadata'"


@pytest.mark.parametrize("name", LOADED)
def test_a_plugin_with_a_problem(seen: Any, name: str) -> None:
    assert seen["failures"][name] is None
    assert LOADED[name][1] in seen["problems"]


def test_nothing_else_is_a_problem(seen: Any) -> None:
    assert len(seen["problems"]) == len(LEFT_OUT) + len(LOADED) + 1
    assert seen["left behind"] is False
    assert seen["failures"]["cpu-numpy"] is None


def test_how_long_a_plugin_takes_to_load(seen: Any) -> None:
    assert seen["seconds"]["slow import"] >= 0.2
    assert seen["seconds"]["says nothing"] > 0.0


def test_the_version_that_a_plugin_says(seen: Any) -> None:
    versions = seen["versions"]
    assert (versions["slow import"], versions["says nothing"], versions["cpu-numpy"]) == (2, None, 3)
