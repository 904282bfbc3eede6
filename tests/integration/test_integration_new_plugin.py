"""The command `agog new-plugin`: what it writes is found, chosen and proved as it stands, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import agog

KINDS = {"kernel": [], "op": ["--op"], "device": ["--device"], "compiler": ["--compiler"]}


def run(folder: Path, *arguments: str, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "AGOG_PLUGINS": "cpu-numpy,cpu-executor"}
    if site is not None:
        env |= {"AGOG_PLUGINS": "cpu-numpy,cpu-executor,agog-stranger", "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=env, check=False, cwd=folder
    )


def written(folder: Path, kind: str) -> Path:
    """A distribution of a kind, with the metadata that an installer would make of its pyproject.toml."""
    done = run(folder, "-m", "agog", "new-plugin", "agog-stranger", *KINDS[kind])
    assert done.returncode == 0, done.stderr
    project = tomllib.loads((folder / "agog-stranger" / "pyproject.toml").read_text())["project"]
    site = folder / "agog-stranger" / "src"
    info = site / f"agog_stranger-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    ((name, module),) = project["entry-points"]["agog"].items()
    (info / "entry_points.txt").write_text(f"[agog]\n{name} = {module}\n")
    return site


@pytest.mark.parametrize("kind", KINDS)
def test_it_lists_what_it_wrote_and_what_comes_next(tmp_path: Path, kind: str) -> None:
    done = run(tmp_path, "-m", "agog", "new-plugin", "agog-stranger", *KINDS[kind])
    *wrote, last = done.stdout.splitlines()
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert sorted(line.removeprefix("wrote ") for line in wrote) == files
    assert {f"agog-stranger/{name}" for name in ("README.md", "pyproject.toml", ".github/workflows/test.yml")} < {
        *files
    }
    assert last == 'Next: cd agog-stranger; pip install ".[test]"; agog-conformance agog-stranger'
    assert not [path for path in files if "$" in path or "_module_" in path]
    unfilled = [path for path in files if "$" in (tmp_path / path).read_text().replace("${{ matrix.python }}", "")]
    assert unfilled == []


def test_the_kernel_is_chosen_and_conforms(tmp_path: Path) -> None:
    site = written(tmp_path, "kernel")
    explained = run(tmp_path, "-m", "agog", "explain", "square", "--device", "cpu", site=site)
    assert "plugin 'agog-stranger' (agog-stranger 0.1), priority 200" in explained.stdout.splitlines()[1]
    proved = run(tmp_path, "-m", "agog_testing.conformance", "agog-stranger", site=site)
    assert proved.returncode == 0, proved.stdout + proved.stderr


def test_the_op_computes_and_conforms(tmp_path: Path) -> None:
    site = written(tmp_path, "op")
    program = "import agog as tf; from agog_stranger import stranger; print(stranger(tf.constant(2.0)).numpy())"
    assert run(tmp_path, "-c", program, site=site).stdout == "8.0\n"
    proved = run(tmp_path, "-m", "agog_testing.conformance", "agog-stranger", site=site)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    assert "stranger" in proved.stdout


def test_the_device_computes_and_conforms(tmp_path: Path) -> None:
    site = written(tmp_path, "device")
    chosen = [part for op in ("add", "matmul", "reduce_sum", "reshape", "random_normal") for part in ("--op", op)]
    proved = run(tmp_path, "-m", "agog_testing.conformance", "agog-stranger", *chosen, site=site)
    assert proved.returncode == 0, proved.stdout + proved.stderr


def test_the_compiler_compiles_and_conforms(tmp_path: Path) -> None:
    site = written(tmp_path, "compiler")
    explained = run(tmp_path, "-m", "agog", "explain", "--compilers", "--device", "cpu", site=site)
    name = "compiler 'agog-stranger' of plugin 'agog-stranger' (agog-stranger 0.1), priority 200"
    assert explained.stdout.splitlines() == [
        "executors of traced functions on device 'cpu':",
        f"  first: executor 'numpy' of plugin 'cpu-executor' (agog-cpu-executor {agog.__version__}), priority 0",
        "compilers of traced functions on device 'cpu':",
        f"  first: {name}",
    ]
    chosen = [part for op in ("softplus", "add", "apply_adam", "random_programs") for part in ("--op", op)]
    proved = run(tmp_path, "-m", "agog_testing.conformance", "agog-stranger", "--quick", *chosen, site=site)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    assert "random_programs" in proved.stdout


def test_its_own_tests_pass(tmp_path: Path) -> None:
    site = written(tmp_path, "kernel")
    done = run(site.parent, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", site=site)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["numpy"], "the module 'numpy' exists already, or is a word of Python; choose another name."),
        (["cpu-numpy"], "a plugin 'cpu-numpy' is installed already; choose another name."),
        (["agog-matmul", "--op"], "the op 'matmul' exists already; choose another name."),
        (["agog-cpu", "--device"], "the device type 'cpu' exists already; choose another name."),
        (["agog-class"], "the module 'agog_class' exists already, or is a word of Python; choose another name."),
        (
            ["a b"],
            "'a b' is no name of a distribution: use letters, digits and single dashes, such as 'fast-matmul'.",
        ),
        (
            ["a--b"],
            "'a--b' is no name of a distribution: use letters, digits and single dashes, such as 'fast-matmul'.",
        ),
        (["there"], "'there' exists here already; nothing was written."),
    ],
)
def test_names_that_are_taken_or_wrong(tmp_path: Path, arguments: list[str], error: str) -> None:
    (tmp_path / "there").mkdir()
    done = run(tmp_path, "-m", "agog", "new-plugin", *arguments)
    assert (done.returncode, done.stderr) == (1, f"Error: {error}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
