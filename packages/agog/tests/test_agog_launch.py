"""The parts of `agog launch` that need no MPI; tests/integration has the command itself."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agog.commands import launch as launch_command
from agog.commands.launch import launch
from agog.commands.launcher import rank, runtime
from agog.commands.launcher.screen import Screen

CLEAR = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_of_ranks_are_whole_and_have_their_rank() -> None:
    output, errors = io.StringIO(), io.StringIO()
    screen = Screen(11, output, errors)
    for number, stream, text in [
        (0, "stdout", "one\ntw"),
        (10, "stdout", "ten\r\n"),
        (10, "stderr", "Traceback:\nValueError: no\n\n"),
        (0, "stdout", "o\n"),
        (3, "stdout", "without end"),
    ]:
        screen.write(number, stream, text)
    for number in range(11):
        screen.end(number)
    assert output.getvalue() == "[ 0] one\n[10] ten\n[ 0] two\n[ 3] without end\n"
    assert errors.getvalue() == "[10] Traceback:\n[10] ValueError: no\n[10] \n"
    assert screen.last_words == {10: "ValueError: no"}
    assert screen.verdict is None


def test_the_bar_of_rank_0_is_drawn_below_all_lines() -> None:
    terminal = Terminal()
    screen = Screen(2, terminal, terminal)
    screen.write(0, "stderr", "\r 10%|#")
    screen.write(1, "stderr", "\r 11%|#")
    screen.write(1, "stdout", "a line\n")
    screen.write(0, "stderr", "\r 90%|####")
    screen.write(0, "stderr", "\r100%|#####\n")
    assert terminal.getvalue() == (
        f"{CLEAR}[0]  10%|#{CLEAR}[1] a line\n[0]  10%|#{CLEAR}[0]  90%|####{CLEAR}[0] 100%|#####\n"
    )


def test_a_file_has_the_last_state_of_the_bar_alone() -> None:
    output, errors = io.StringIO(), io.StringIO()
    screen = Screen(2, output, errors)
    for number in range(2):
        screen.write(number, "stderr", "\r 10%|#\r 90%|####")
        screen.write(number, "stderr", "\r100%|#####\n")
    assert errors.getvalue() == "[0] 100%|#####\n"


def test_what_a_rank_says_before_it_ends_all_is_the_verdict() -> None:
    screen = Screen(2, io.StringIO(), io.StringIO())
    screen.write(1, "stderr", "Rank 1 ends all processes: it has raised ValueError: no\nAbort(1) on node 1\n")
    screen.write(0, "stderr", "Rank 0 ends all processes: it has raised AbortedError: no\n")
    assert screen.verdict == screen.last_words[1] == "Rank 1 ends all processes: it has raised ValueError: no"


def test_ranks_share_the_processors_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    for name in rank._THREADS:
        monkeypatch.delenv(name, raising=False)
    for local_size, threads in ((1, "8"), (3, "2"), (20, "1")):
        with monkeypatch.context() as patch:
            patch.setattr(os, "environ", dict(os.environ))
            rank.share_processors(local_size)
            assert {os.environ[name] for name in rank._THREADS} == {threads}
    monkeypatch.setenv("OMP_NUM_THREADS", "5")  # the user has said how many
    rank.share_processors(2)
    assert "AGOG_NUM_THREADS" not in os.environ


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script of a shell")
@pytest.mark.parametrize(
    ("said", "name", "options"),
    [
        ("HYDRA build details:", "MPICH", ()),
        ("Intel(R) MPI Library for Linux* OS", "Intel MPI", ()),
        ("mpiexec (Open MPI) 5.0.11", "Open MPI", ("--bind-to", "none", "--map-by", ":OVERSUBSCRIBE")),
        ("something else", "an MPI", ()),
    ],
)
def test_runtimes_are_known_by_what_they_say(
    said: str, name: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mpiexec").write_text(f"#!/bin/sh\necho '{said}'\n")
    (tmp_path / "mpiexec").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    found = runtime.find_runtime()
    assert found is not None
    assert found[:3] == (name, str(tmp_path / "mpiexec"), options)


@pytest.mark.parametrize(
    ("installed", "text"),
    [
        (
            False,
            "Error: agog launch: nothing connects processes here: `python -m pip install agog-distribute "
            "'agog-mpi[mpich]'` brings what does.\n",
        ),
        (
            True,
            "Error: agog launch: there is no mpiexec beside Python or on the path: `python -m pip install "
            "'agog-mpi[mpich]'` brings one.\n",
        ),
    ],
)
def test_one_sentence_where_there_is_no_mpi(
    installed: bool, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_spec(name: str) -> Any:
        return installed or None

    monkeypatch.setattr(launch_command, "find_spec", find_spec)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(launch, ["-n", "2", "train.py"])
    assert (done.exit_code, done.stderr) == (1, text)
