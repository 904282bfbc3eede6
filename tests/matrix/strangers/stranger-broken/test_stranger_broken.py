"""The broken plugins, as installed all at once: each is named with its cause, and the CPU works."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

OF = "(stranger-broken 1.0)"
CAUSES = {
    "absent-kernel": "absent-kernel: the kernels for square could not be loaded: ModuleNotFoundError: No module named "
    "'stranger_broken.nowhere'",
    "panic": f"panic {OF} failed: PanicException: called `Option::unwrap()` on a `None` value",
    "raising": "raising: the kernels for square could not be loaded: OSError: libfast.so: cannot open shared object "
    "file",
    "second-cpu": f"second-cpu {OF} failed: it brings the device type 'cpu', which plugin 'cpu-numpy' (agog-cpu-numpy "
    "0.1.0) brings too; choose one with AGOG_PLUGINS or uninstall one.",
    "skipped-test": f"skipped-test {OF} failed: Skipped: could not import 'tpu'",
    "array-type-none": f"array-type-none {OF} failed: agog_backends: TypeError: Backend(device='odd'): array_type "
    "must be "
    "a type or a 'module:attribute' string; got None.",
    "conformance-mapping": f"conformance-mapping {OF} failed: agog_conformance must return a Conformance; it returned "
    "{}.",
    "endless": f"endless {OF} failed: agog_kernels yields more than 100,000 Kernel objects; it must come to an end.",
    "executor-without-name": f"executor-without-name {OF} failed: agog_executors: TypeError: Executor(name=''): name "
    "must be a name, such as 'numpy'; got ''.",
    "function-number": f"function-number {OF} failed: agog_kernels: TypeError: Kernel(op='square'): fn must be a "
    "function or a 'module:attribute' string; got 5.",
    "newer": f"newer {OF} failed: it is written for plugin API 99, and this agog-core has API 3; upgrade the older "
    "one.",
    "no-hook": f"no-hook {OF} failed: module <an odd plugin> implements no hook; mark its functions with "
    "agog_core.plugin.hookimpl.",
    "op-number": f"op-number {OF} failed: agog_ops: TypeError: Op 5: name must be a name; got 5.",
    "op-taken": f"op-taken {OF} failed: agog_ops: ValueError: Op 'square' is defined already; choose another name.",
    "priority-text": f"priority-text {OF} failed: agog_kernels: TypeError: Kernel(op='square'): priority must be an "
    "int; got 'high'.",
    "returns-nothing": f"returns-nothing {OF} failed: agog_kernels must yield Kernel objects; it returned None.",
    "shape-none": f"shape-none {OF} failed: agog_ops: TypeError: Op 'stranger_shape': shape must be a function; got "
    "None.",
    "tolerance-text": f"tolerance-text {OF} failed: agog_compilers: TypeError: Compiler(name='odd'): tolerances must "
    "be "
    "a mapping of names to pairs of numbers, rtol and atol; got {'float32': 'tight'}.",
    "unknown-hook": f"unknown-hook {OF} failed: unknown hook 'agog_kernel' in plugin <an odd plugin> The hooks are "
    "agog_backends, agog_kernels, agog_ops, agog_conformance, agog_executors, agog_compilers, agog_collectives.",
    "unprintable": f"unprintable {OF} failed: agog_kernels: UnprintableError: its text cannot be read, for __str__ "
    "raises OSError",
    "yields-text": f"yields-text {OF} failed: agog_kernels must yield Kernel objects; it yielded 'square'.",
    "count-text": "count-text: the device type 'odd' cannot be used: its plugin failed: device_count must return a "
    "number of devices; it returned '1'",
    "named-nowhere": "named-nowhere: the device type 'nowhere' cannot be used: its plugin failed: from_host "
    "(stranger_broken.nowhere:from_host) could not be loaded: ModuleNotFoundError: No module named "
    "'stranger_broken.nowhere'",
    "unavailable-true": "unavailable-true: the kernels for square could not be loaded: TypeError: unavailable must "
    "return a sentence or None; it returned True",
    "unknown-device": "unknown-device brings kernels for the device type 'cpuu' (square), which no plugin brings; did "
    "you mean 'cpu'?",
}

STEP = """
import agog as tf

w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(w))
tf.train.GradientDescentOptimizer(0.25).apply_gradients([(tape.gradient(loss, w), w)])
print(w.numpy().tolist(), w.value().device)
"""


FUNCTION = """
import warnings

import agog as tf

f = tf.function(lambda x: tf.exp(x) * x - x)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f(tf.constant([2.0, 3.0]))  # a first call is recorded
    assert abs(f(tf.constant([0.0, 1.0])).numpy() - [0.0, 1.7182818]).max() < 1e-6
print(*sorted({str(each.message) for each in caught if "left out" not in str(each.message)}), sep="\\n")
"""
UNREADABLE = "UnprintableError: its text cannot be read, for __str__ raises OSError"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def listed() -> list[str]:
    """What `agog plugins` prints."""
    return run("-m", "agog", "plugins").stdout.splitlines()


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    """What `agog doctor` finds."""
    done = run("-m", "agog", "doctor", "--json")
    assert done.returncode == 1, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("plugin", CAUSES)
def test_plugins_names_each_with_its_cause(plugin: str, listed: list[str]) -> None:
    assert CAUSES[plugin] in listed


@pytest.mark.parametrize("plugin", CAUSES)
def test_doctor_names_each_with_its_cause(plugin: str, found: dict[str, object]) -> None:
    assert CAUSES[plugin] in found["broken"]


def test_nothing_else_is_broken(found: dict[str, object]) -> None:
    assert sorted(found["broken"]) == sorted(CAUSES.values())


def test_the_time_of_a_slow_import_is_shown(listed: list[str]) -> None:
    (line,) = (line for line in listed if line.startswith("slow "))
    state, _, time, unit = line.split()[-4:]
    assert (state, unit) == ("loaded", "ms")
    assert int(time) >= 1500


def test_the_cpu_works() -> None:
    done = run("-c", STEP)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0.5, 1.0] /job:localhost/replica:0/task:0/device:CPU:0\n"


def test_there_are_enough_of_them() -> None:
    assert len(CAUSES) >= 25


def test_a_function_is_compiled_without_those_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_COMPILE", "1")
    done = run("-c", FUNCTION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "The compiler 'failing' failed to say whether it takes 'exp', and a traced function runs without it: "
        f"{UNREADABLE}",
        f"The executor 'failing' failed, and a traced function runs without it: {UNREADABLE}",
    ]


def test_the_cpu_stays_that_of_cpu_numpy() -> None:
    done = run("-m", "agog", "explain", "add", "--device", "cpu")
    assert done.stdout.splitlines()[1] == "  chosen: plugin 'cpu-numpy' (agog-cpu-numpy 0.1.0), priority 0, every dtype"
