"""The command `agog`, as `python -m agog`, in processes of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agog
from agog.__main__ import COMMANDS
from agog.commands.tables import print_table
from agog_core.dispatch.op import all_ops


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "COLUMNS": "40", "AGOG_PLUGINS": "cpu-numpy", **environment}
    return subprocess.run(
        [sys.executable, "-m", "agog", *arguments], capture_output=True, text=True, env=env, check=False
    )


def broken_plugin(folder: Path) -> str:
    """A distribution whose plugin cannot be imported; the path to put before others."""
    metadata = folder / "broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agog]\nbroken = not_there.hooks\n")
    return str(folder)


def test_explain_says_which_kernel_runs() -> None:
    done = run("explain", "matmul", "--device", "cpu", "--dtype", "float64")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "matmul on device 'cpu' with dtype float64:\n"
        f"  chosen: plugin 'cpu-numpy' (agog-cpu-numpy {agog.__version__}), priority 0, every dtype\n"
    )


def test_explain_of_a_device_without_kernels_is_the_error_that_a_call_would_raise() -> None:
    done = run("explain", "matmul", "--device", "gpu", AGOG_PLUGINS="cpu-numpy")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[0] == "No kernel is registered for op 'matmul' on device 'gpu' with dtype float32."
    assert done.stdout.splitlines()[-1] == (
        "Run it elsewhere (with tf.device('cpu'):), or install a plugin that brings the kernel. "
        "`agog explain matmul --device gpu --dtype float32` prints this again."
    )


@pytest.mark.parametrize(
    ("arguments", "plugins", "status"),
    [
        (["matmul"], "cpu-numpy", 0),
        (["matmul", "--device", "cpu"], "cpu-numpy", 0),
        (["matmul", "--dtype", "string"], "cpu-numpy", 1),
        (["matmul"], "", 1),
    ],
)
def test_the_exit_status_of_explain_says_whether_the_op_runs(arguments: list[str], plugins: str, status: int) -> None:
    assert run("explain", *arguments, AGOG_PLUGINS=plugins).returncode == status


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["explain", "matmull"], "Error: explain: there is no op 'matmull'; did you mean matmul, matmul_bias?"),
        (["explain", "matmul", "--dtype", "float33"], "Error: Cannot convert 'float33' to a dtype; the dtypes are "),
    ],
)
def test_what_does_not_exist_is_named(arguments: list[str], error: str) -> None:
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(error)


def test_plugins_lists_devices_and_kernels() -> None:
    done = run("plugins")
    assert done.returncode == 0, done.stderr
    rows = [re.split(" {2,}", line) for line in done.stdout.splitlines()]
    (cells,) = [row for row in rows if row[0] == "cpu-numpy"]
    assert cells[:3] == ["cpu-numpy", f"agog-cpu-numpy {agog.__version__}", "cpu:0"]
    assert int(cells[3]) > 50
    assert cells[4:6] == ["loaded", "3"]
    assert cells[6].endswith(" ms")


def test_ops_lists_inputs_gradient_dtypes_and_kernels() -> None:
    done = run("ops", "hyperbolic cosine")
    assert done.returncode == 0, done.stderr
    rows = [re.split(" {2,}", line) for line in done.stdout.splitlines()]
    cells = next(row for row in rows if row[0] == "cosh")
    assert cells == ["cosh", "The hyperbolic cosine, elementwise.", "x", "x", "floats, complex", "cpu (cpu-numpy)"]


def test_an_op_that_is_named_is_shown_whole() -> None:
    done = run("ops", "gather")
    assert done.stdout.splitlines() == [
        "gather: Pick slices of a tensor along an axis.",
        "inputs:",
        "  params: differentiable; a tensor of rank at least 1.",
        "  indices: of its own dtype; positions on the axis, int32 or int64, of any shape.",
        "attributes:",
        "  axis: int; the axis.",
        "result: of the dtype of params",
        "effect: none",
        "elementwise: no",
        "fails: for some values",
        "dtypes: all",
        "kernels: cpu (cpu-numpy)",
    ]
    lines = run("ops", "random_normal").stdout.splitlines()
    assert lines[1].startswith("  They are drawn in float32 precision, also for float64, by the inverse of the ")
    assert lines[2:9] == [
        "  that every device rounds the same way.",
        "inputs: none",
        "attributes:",
        "  shape: tuple[int, ...]; the shape.",
        "  key: tuple[int, int, int]; another in each call; two words of a key and the first value of the counter, for "
        "Philox4x64-10",
        "  dtype: str; a float dtype.",
        "  index: int; the number of the device",
    ]
    assert "effect: random" in lines
    lines = run("ops", "apply_adam").stdout.splitlines()
    start = lines.index("inputs:")
    assert lines[start + 1 : start + 3] == ["  variable: updated in place", "  m: updated in place"]
    assert "  learning_rate: float; another in each call; how far a step goes" in lines
    assert "  use_nesterov: bool; whether the gradient is taken where the momentum leads to" in lines
    assert "result: none: it updates variables" in lines


def test_ops_that_do_not_exist_are_named() -> None:
    done = run("ops", "brew")
    assert done.returncode == 1
    assert done.stderr == "Error: no op has 'brew' in its name or in what it does; `agog ops` lists all.\n"


def test_plugins_names_a_plugin_that_failed(tmp_path: Path) -> None:
    done = run("plugins", AGOG_PLUGINS="cpu-numpy,broken", PYTHONPATH=broken_plugin(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "broken (broken 1.0) failed: ModuleNotFoundError: No module named 'not_there'" in done.stdout.splitlines()
    assert done.stderr == ""


SHAKY = """
from agog_core.plugin import Backend, Kernel, hookimpl

def fails(*arguments): raise OSError("no driver")

@hookimpl
def agog_backends():
    yield Backend(device="shaky", array_type=list, device_count=lambda: 1, from_host=fails, to_host=fails,
                  allocate=fails, copy=fails, synchronize=fails, memory_in_use=fails, unavailable=fails)

@hookimpl
def agog_kernels():
    for op in ("square", "exp"):
        yield Kernel(op=op, device="cpu", fn="no_such_module:fast", priority=200)
    yield Kernel(op="square", device="shaki", fn=abs)
    yield Kernel(op="sqare", device="cpu", fn=abs)
"""


def test_plugins_names_the_problems_of_one_that_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "shaky.py").write_text(SHAKY)
    (metadata := tmp_path / "shaky-1.0.dist-info").mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shaky\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agog]\nshaky = shaky\n")
    done = run("plugins", AGOG_PLUGINS="cpu-numpy,shaky", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = [re.split(" {2,}", line) for line in lines]
    (cells,) = [row for row in rows if row[0] == "shaky"]
    assert cells[1:6] == [
        "shaky 1.0",
        "no shaky: its plugin failed: OSError: no driver",
        "4",
        "loaded",
        "1 (it does not say)",
    ]
    assert lines[-3:] == [
        "shaky brings a kernel for 'sqare', but there is no such op; did you mean 'square'?",
        "shaky brings kernels for the device type 'shaki' (square), which no plugin brings; did you mean 'shaky'?",
        "shaky: the kernels for square, exp could not be loaded: ModuleNotFoundError: No module named 'no_such_module'",
    ]


def test_version() -> None:
    assert run("--version").stdout.strip().endswith(agog.__version__)


def test_what_is_piped_does_not_wrap() -> None:
    head, *lines = run("ops", "cosine").stdout.splitlines()
    assert head.split("  ")[0] == "op"
    assert all(line.startswith(("acos", "cos")) or "cosine" in line for line in lines)
    assert max(map(len, lines)) > 80


def test_a_table_is_drawn_in_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    print_table(["name", "what"], [["[bold]", "x" * 100]])
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, drawn)) <= 60
    assert any("│ [bold] │" in line for line in drawn)


def test_plugins_json() -> None:
    report = json.loads(run("plugins", "--json", AGOG_PLUGINS="cpu-executor,cpu-numpy,nobody").stdout)
    (cpu,) = [each for each in report["plugins"] if each["plugin"] == "cpu-numpy"]
    assert (cpu["devices"], cpu["executors"], cpu["compilers"]) == (["cpu:0"], [], [])
    (executor,) = [each for each in report["plugins"] if each["plugin"] == "cpu-executor"]
    assert (executor["devices"], executor["kernels"], executor["executors"]) == ([], 0, ["numpy for cpu"])
    assert (cpu["state"], cpu["failure"], cpu["api"], cpu["says_api"]) == ("loaded", None, 3, True)
    assert cpu["seconds"] > 0
    assert report["problems"] == [
        "nobody (not installed) failed: AGOG_PLUGINS names it, but no installed distribution announces it."
    ]


def test_ops_json() -> None:
    entries = json.loads(run("ops", "hyperbolic cosine", "--json").stdout)
    assert {"acosh", "cosh"} <= {entry["name"] for entry in entries}
    gather = json.loads(run("ops", "gather", "--json").stdout)
    assert gather["inputs"] == ["params", "indices"]
    assert gather["attributes"] == {"axis": "int"}
    assert (gather["effect"], gather["elementwise"], gather["host"]) == ("none", False, False)
    assert gather["dtypes"] == sorted(dtype.name for dtype in all_ops()["gather"].dtypes)


def test_explain_of_a_layer_names_the_ops_that_it_runs() -> None:
    for name in ("conv2d", "Conv2D"):
        done = run("explain", name, "--device", "cpu")
        assert done.returncode == 0, done.stderr
        first, *lines = done.stdout.splitlines()
        assert first == f"{name} is no op, but the layer tf.keras.layers.Conv2D; called, it runs convolution_bias."
        assert [line for line in lines if not line.startswith(" ")] == [
            "convolution_bias on device 'cpu' with dtype float32:",
        ]
    assert [report["op"] for report in json.loads(run("explain", "dense", "--device", "cpu", "--json").stdout)] == [
        "matmul_bias",
    ]
    assert "it runs add." in run("explain", "Add").stdout
    assert run("explain", "Input").stderr == "Error: explain: there is no op 'Input'.\n"


def test_explain_json() -> None:
    done = run("explain", "matmul", "--device", "cpu", "--json")
    (report,) = json.loads(done.stdout)
    (chosen,) = report["chain"]
    assert (report["op"], report["device"], report["dtype"], report["runs"]) == ("matmul", "cpu", "float32", True)
    assert (chosen["plugin"], chosen["priority"], chosen["dtypes"]) == ("cpu-numpy", 0, None)
    assert report["text"] == run("explain", "matmul", "--device", "cpu").stdout.rstrip("\n")
    absent = run("explain", "matmul", "--device", "gpu", "--json")
    assert absent.returncode == 1
    assert json.loads(absent.stdout)[0]["runs"] is False


def test_every_command_is_listed_and_has_help() -> None:
    listed = run("--help").stdout
    for name in COMMANDS:
        assert f"  {name} " in listed
        assert run(name, "--help").returncode == 0


def test_there_is_a_script_that_completes_commands_in_a_shell() -> None:
    env = {**os.environ, "_AGOG_COMPLETE": "zsh_source"}
    done = subprocess.run([sys.executable, "-m", "agog"], capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, "#compdef agog" in done.stdout) == (0, True)
