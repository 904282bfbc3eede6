"""`agog launch`: ranks that mpiexec starts, what is heard of them, and what is started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from agog_distribute.faults.watch import state_of

pytest.importorskip("agog_mpi")
pytest.importorskip("mpi4py")

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system for states of processes")
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(size: int, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "agog", "launch", "-n", str(size), *arguments]


def launch(size: int, *arguments: str, seconds: float = 40) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT}
    for name in ("AGOG_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.pop(name, None)
    return subprocess.run(
        command(size, *arguments), capture_output=True, text=True, env=environment, timeout=seconds, check=False
    )


def program(folder: Path, text: str) -> str:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    return str(file)


def expect_ended(processes: list[int]) -> None:
    """Processes are gone within some seconds, or wait for nothing but to be asked how they have ended."""
    end = time.monotonic() + 10
    while any(state_of(each) != "is gone" for each in processes):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ranks_compute_together_and_their_lines_are_told_apart(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        """
        import os, sys
        import agog_distribute as distribute
        total = int(distribute.all_reduce(distribute.rank() + 1))
        print(total, sys.argv[1:], os.environ["OPENBLAS_NUM_THREADS"], "AGOG_LAUNCH" in os.environ)
        """,
    )
    done = launch(2, file, "--epochs", "3")
    assert done.returncode == 0, done.stderr
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    said = f"3 ['--epochs', '3'] {max(1, processors // 2)} False"
    assert sorted(done.stdout.splitlines()) == [f"[0] {said}", f"[1] {said}"]
    assert done.stderr == ""


def test_a_module_is_run_by_its_name() -> None:
    done = launch(2, "-m", "this", "ignored")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Beautiful is better than ugly.") == 2


@pytest.mark.parametrize(
    ("fault", "status", "end", "why"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "killed by SIGKILL", "killed by SIGKILL."),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 139, "killed by SIGSEGV", "killed by SIGSEGV."),
        ("os._exit(0)", None, "exit status 0", "exit status 0."),
        ("os._exit(3)", 3, "exit status 3", "exit status 3."),
        ("1 / 0", None, "ended the others", "it has raised ZeroDivisionError: division by zero"),
    ],
)
def test_the_rank_that_ends_all_is_named(tmp_path: Path, fault: str, status: int | None, end: str, why: str) -> None:
    file = program(
        tmp_path,
        f"""
        import os, signal
        import agog_distribute as distribute
        distribute.barrier()
        if distribute.rank() == 1:
            {fault}
        distribute.barrier()
        """,
    )
    done = launch(3, file)
    assert done.returncode == (status or done.returncode) != 0, done.stderr
    rows = [line.split() for line in done.stderr.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert " ".join(rows[1]).startswith(f"1 {end}")
    for row in (rows[0], rows[2]):
        assert row[1:5] == ["ended", "with", "the", "others"]
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Rank 1 ")
    assert last.endswith(why)


def test_all_ranks_start_again_as_often_as_is_asked(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        """
        import os, pathlib, signal, sys
        import agog_distribute as distribute
        turn = pathlib.Path(sys.argv[1], f"turns-{distribute.rank()}")
        turn.write_text(turn.read_text() + "x" if turn.exists() else "x")
        distribute.barrier()
        if distribute.rank() == 0 and len(turn.read_text()) < 3:
            os.kill(os.getpid(), signal.SIGKILL)
        distribute.barrier()
        """,
    )
    done = launch(2, "--restarts", "1", file, str(tmp_path))
    assert done.returncode == 137
    assert done.stderr.count("Restart 1 of 1.") == 1
    (tmp_path / "turns-0").unlink()
    done = launch(2, "--restarts", "5", file, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("Restart")] == [
        "Restart 1 of 5.",
        "Restart 2 of 5.",
    ]


@on_linux
@pytest.mark.parametrize("how", ["sleeps", "waits"])
def test_ctrl_c_ends_all(tmp_path: Path, how: str) -> None:
    file = program(
        tmp_path,
        f"""
        import os, sys, time
        import agog_distribute as distribute
        distribute.barrier()
        print("process", os.getpid())
        if "{how}" == "sleeps" or distribute.rank() == 1:
            time.sleep(60)
        distribute.barrier()
        """,
    )
    with subprocess.Popen(
        command(2, "--restarts", "3", file),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    ) as process:
        assert process.stdout is not None
        processes = [int(process.stdout.readline().split()[-1]) for _ in range(2)]
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "Ctrl-C has ended all ranks."
    expect_ended(processes)


@on_linux
def test_programs_end_with_a_launcher_that_is_killed(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        """
        import os, time
        import agog_distribute as distribute
        distribute.barrier()
        print("process", os.getpid())
        time.sleep(60)
        """,
    )
    with subprocess.Popen(
        command(2, file), stdout=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT}
    ) as run:
        assert run.stdout is not None
        processes = [int(run.stdout.readline().split()[-1]) for _ in range(2)]
        run.kill()
    expect_ended(processes)


@on_linux
def test_a_rank_that_is_stopped_ends_all_also_where_no_other_one_sees_it(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        """
        import os, signal, sys, time
        if os.environ["PMI_RANK" if "PMI_RANK" in os.environ else "OMPI_COMM_WORLD_RANK"] == "1":
            print("process", os.getpid())
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)
        """,
    )
    done = launch(2, file)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1] == "Rank 1 has been stopped for 6 s, which ends all processes."
    expect_ended([int(done.stdout.split()[-1])])


@on_linux
def test_a_rank_that_is_stopped_and_goes_on_ends_nothing(tmp_path: Path) -> None:
    file = program(
        tmp_path,
        """
        import os, signal, subprocess, sys, time
        go_on = f"import os, signal, time; time.sleep(2); os.kill({os.getpid()}, signal.SIGCONT)"
        subprocess.Popen([sys.executable, "-c", go_on])
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(6)
        """,
    )
    done = launch(1, file)
    assert done.returncode == 0, done.stderr
