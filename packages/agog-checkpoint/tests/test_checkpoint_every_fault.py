"""A fault at every step of a save on the disk: the newest checkpoint is the previous or the new one, whole.

In the usual run the steps are functions of Python, which a test replaces. With AGOG_ENDURANCE=1 they are also the
system calls of a process, into which strace puts the faults.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from failing_disk import Crash, Disk

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, latest_checkpoint
from agog_core.errors import OpError

ENDURANCE = bool(os.environ.get("AGOG_ENDURANCE"))
STRIDE = 1 if ENDURANCE else 3
SIZES = (1, 3000, 3000)
SHARD = 12_000  # bytes; one of the large variables


class Scenario(NamedTuple):
    """How the checkpoint before and the one that is disturbed are saved."""

    first: Mapping[str, Any] = MappingProxyType({})
    second: Mapping[str, Any] = MappingProxyType({})
    manager: bool = False
    one_path: bool = False


SHARDED = {"max_shard_bytes": SHARD}
BEHIND = {"asynchronous": True}
SCENARIOS = {
    "plain": Scenario(),
    "sharded": Scenario(SHARDED, SHARDED),
    "asynchronous": Scenario({}, BEHIND),
    "sharded and asynchronous": Scenario(SHARDED, SHARDED | BEHIND),
    "manager": Scenario(manager=True),
    "manager of shards": Scenario(SHARDED, SHARDED, manager=True),
    "manager behind": Scenario(SHARDED, SHARDED | BEHIND, manager=True),
    "over a file": Scenario(one_path=True),
    "over shards": Scenario(SHARDED, SHARDED, one_path=True),
    "shards over a file": Scenario({}, SHARDED, one_path=True),
    "a file over shards": Scenario(SHARDED, {}, one_path=True),
}


class Program:
    """What a process does: it goes on from the newest checkpoint, if there is one, and saves."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.folder = folder
        self.scenario = scenario
        self.checkpoint = Checkpoint(v=[ag.Variable(np.zeros(size, np.float32)) for size in SIZES])
        self.manager = CheckpointManager(self.checkpoint, folder, 1) if scenario.manager else None
        path = f"{folder}/a" if scenario.one_path else latest_checkpoint(folder)
        if path is not None and os.listdir(folder):
            self.checkpoint.restore(path).assert_consumed()

    def value(self) -> float:
        """The one value that all variables have."""
        (value,) = {float(x) for variable in self.checkpoint.v for x in variable.numpy()}
        return value

    def save(self, value: float, options: Mapping[str, Any]) -> None:
        for variable in self.checkpoint.v:
            variable.assign(np.full(variable.shape, value, np.float32))
        if self.scenario.manager:
            assert self.manager is not None
            self.manager._max_shard_bytes = options.get("max_shard_bytes")
            self.manager._asynchronous = options.get("asynchronous", False)
            self.manager.save()
        elif self.scenario.one_path:
            self.checkpoint.write(self.folder / "a", **options)
        else:
            self.checkpoint.save(self.folder / "ckpt", **options)
        self.checkpoint.wait()


def expect_whole(folder: Path, scenario: Scenario, where: str) -> float:
    """The newest checkpoint is the previous or the new one; saving goes on, and leaves nothing behind."""
    newest = Program(folder, scenario)
    found = newest.value()
    assert found in (1.0, 2.0), where
    newest.save(3.0, scenario.second)
    assert Program(folder, scenario).value() == 3.0, where
    names = os.listdir(folder)
    assert [name for name in names if name.endswith(".agog-tmp")] == [], where
    shards = {name for name in names if re.search(r"-\d{5}-of-\d{5}\.safetensors", name)}
    named = [json.loads((folder / name).read_text()) for name in names if name.endswith(".index.json")]
    assert shards == {shard for index in named for shard in index["weight_map"].values()}, where
    if scenario.manager:
        assert len({*names} - shards) == 2, where  # the newest, and the list
    return found


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """No disk is waited for: what is durable does not matter where no power is cut."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.mark.usefixtures("fast")
@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "fault", [errno.EIO, errno.ENOSPC, errno.EACCES, "short", "before", "after"] if ENDURANCE else [errno.EIO, "before"]
)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: int | str) -> None:
    scenario = SCENARIOS[name]
    found: Counter[float] = Counter()
    template = tmp_path / "template"
    template.mkdir()
    Program(template, scenario).save(1.0, scenario.first)
    for step in range(0, 1000, STRIDE):
        folder = tmp_path / str(step)
        shutil.copytree(template, folder)
        program = Program(folder, scenario)
        disk = Disk(step, fault)
        failed = False
        with monkeypatch.context() as patch:
            disk.install(patch)
            try:
                program.save(2.0, scenario.second)
            except (OpError, Crash):
                failed = True
        where = f"{name}: {fault} at step {step} of {disk.steps}"
        del program
        done = expect_whole(folder, scenario, where)
        assert failed or done == 2.0, where
        found[done] += 1
        shutil.rmtree(folder)
        if len(disk.steps) <= step:
            break
    assert step > 5
    if fault == "short":
        assert found.keys() == {2.0}  # what is left of a short write is written
    else:
        assert found[1.0] > 0
        assert found[2.0] > 0


class Refused(PermissionError):
    """What Windows says of a file that another process has open."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "The process cannot access the file because it is being used by another process")


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("name", SCENARIOS)
def test_renames_that_are_refused_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    scenario = SCENARIOS[name]
    Program(tmp_path, scenario).save(1.0, scenario.first)
    program = Program(tmp_path, scenario)
    before = sorted(os.listdir(tmp_path))

    def refuse(source: str, target: str) -> None:
        raise Refused

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(OpError, match="being used by another process"):
            program.save(2.0, scenario.second)
    assert sorted(os.listdir(tmp_path)) == before
    assert expect_whole(tmp_path, scenario, name) == 1.0


# The system calls of files. Each is made to fail; the process is killed at these and at all others.
FILES = {
    *("open", "openat", "close", "read", "write", "lseek", "fsync", "rename", "unlink", "mkdir", "flock"),
    *("stat", "fstat", "newfstatat", "lstat", "getdents64", "fcntl", "ioctl", "ftruncate"),
}
FAULTS = {"EIO": "error=EIO", "ENOSPC": "error=ENOSPC", "nothing written": "retval=0", "killed": "signal=SIGKILL"}


def serve() -> None:
    """For each line, which names a folder and a scenario, fork; the child saves when the next line comes."""
    warnings.simplefilter("ignore", CheckpointWarning)
    ag.Variable(0.0).assign_add(1.0)  # loads the backend
    while line := sys.stdin.readline():
        if line == "go\n":  # a child was killed before it has read it
            continue
        folder, name = json.loads(line)
        child = os.fork()
        if child == 0:
            program = Program(Path(folder), SCENARIOS[name])
            os.write(1, b"%d\n" % os.getpid())
            status = 0
            try:
                os.read(0, 3)
                program.save(2.0, SCENARIOS[name].second)
            except OpError:
                status = 3
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
                status = 4
            os._exit(status)
        os.waitpid(child, 0)
        os.write(1, b"ended\n")


class Server:
    """A process that forks one that saves, as often as it is asked, each under strace."""

    def __init__(self) -> None:
        code = "import sys; sys.path.insert(0, sys.argv[1]); import test_checkpoint_every_fault as t; t.serve()"
        command = [sys.executable, "-u", "-c", code, os.path.dirname(__file__)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def save(self, folder: Path, name: str, *options: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(folder), name]).encode() + b"\n")
        child = self._line()
        command = ["strace", "-f", "-p", child, *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
            assert strace.stderr is not None
            attached = strace.stderr.readline()
            assert "attached" in attached, attached
            self.process.stdin.write(b"go\n")
            assert self._line() == "ended"
            strace.communicate(timeout=30)

    def _line(self) -> str:
        line = b""
        assert self.process.stdout is not None
        while not line.endswith(b"\n"):
            line += self.process.stdout.read(1) or b"(the server has ended)\n"
        return line.decode().strip()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if shutil.which("strace") is None:
        pytest.skip("there is no strace, which puts faults into system calls")
    server = Server()
    yield server
    server.process.communicate(timeout=30)
    assert server.process.returncode == 0


def calls_of(trace: str) -> Counter[str]:
    """How often a thread makes each system call, at most."""
    of_threads: Counter[tuple[str, str]] = Counter(re.findall(r"^(\d+) +(\w+)\(", trace, re.MULTILINE))
    calls: Counter[str] = Counter()
    for (_, name), count in of_threads.items():
        calls[name] = max(calls[name], count)
    return calls


@pytest.mark.skipif(not ENDURANCE, reason="takes minutes; AGOG_ENDURANCE=1 runs it")
@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_fault_at_every_system_call(tmp_path: Path, server: Server, name: str) -> None:
    scenario = SCENARIOS[name]
    template = tmp_path / "template"
    template.mkdir()
    Program(template, scenario).save(1.0, scenario.first)

    def attempt(number: int, *options: str) -> tuple[Path, str]:
        folder = tmp_path / str(number)
        shutil.copytree(template, folder)
        server.save(folder, name, *options)
        return folder, f"{name}: strace {options}"

    folder, where = attempt(0, "-o", str(tmp_path / "trace"))
    assert expect_whole(folder, scenario, where) == 2.0
    calls = calls_of((tmp_path / "trace").read_text())
    assert {"openat", "write", "fsync", "rename", "close"} <= calls.keys()
    found: Counter[tuple[str, float]] = Counter()
    number = 0
    for fault, injection in FAULTS.items():
        for call, count in calls.items():
            if (call not in FILES and fault != "killed") or (call != "write" and fault == "nothing written"):
                continue
            for which in range(1, count + 1):
                number += 1
                folder, where = attempt(number, "-o", "/dev/null", "-e", f"inject={call}:{injection}:when={which}")
                found[fault, expect_whole(folder, scenario, where)] += 1
                shutil.rmtree(folder)
    print(f"{name}: {sum(calls.values())} system calls, {number} faults, then {dict(found)}")
    for fault in ("EIO", "killed"):
        assert found[fault, 1.0] > 0
        assert found[fault, 2.0] > 0
