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


def test_the_cpu_stays_that_of_cpu_numpy() -> None:
    done = run("-m", "agog", "explain", "add", "--device", "cpu")
    assert done.stdout.splitlines()[1] == "  chosen: plugin 'cpu-numpy' (agog-cpu-numpy 0.1.0), priority 0, every dtype"
