"""Mutated checkpoints, AGOG_FUZZ of them: one clear error or the saved values; never a crash, a hang or a change."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointReader, latest_checkpoint
from agog_core.checkpointable import listeners
from agog_core.errors import DataLossError

EXAMPLES = int(os.environ.get("AGOG_FUZZ", "600"))
SIZES = (3, 700, 2500)
SECONDS = 5.0  # of this process, for one example, at most: the machine may be busy
MEMORY = 512 * 2**20
ODD = [
    *(None, True, False, -1, 0, 1, 7, 2**31, 2**63, 2**64, 2**80, 1e308, float("nan"), float("-inf"), 0.5),
    *("", "x", "\0", "..", "../v", "/dev/zero", "float64", "F32", "F64", "a" * 300, "\ud800"),
    *([], {}, [[]], [0, 0], {"x": 1}, [0, -4], [2**62, 2**63]),
]


class Position(ag.Checkpointable):
    def __init__(self, row: int) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Any) -> None:
        self.row = state.get("row")


def objects(value: float) -> Checkpoint:
    v = [ag.Variable(np.full(size, value, np.float32)) for size in SIZES]
    return Checkpoint(v=v, flag=ag.Variable(value > 0), position=Position(int(value)))


def state(checkpoint: Checkpoint) -> tuple[Any, ...]:
    return (*(v.numpy().tobytes() for v in (*checkpoint.v, checkpoint.flag)), checkpoint.position.row)


SAVED, UNTOUCHED = state(objects(7.0)), state(objects(-1.0))


class Mutator:
    """Changes files at random; each of the changes is one that disks, programs or enemies may make."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def bytes(self, content: bytes) -> bytes:
        rng, data = self.random, bytearray(content)
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 2, 8, 64, 512, 4096])
        kind = rng.randrange(8)
        if kind == 0:
            for _ in range(rng.choice([1, 1, 2, 5])):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = rng.randbytes(length)
        elif kind == 4:
            data[at : at + length] = bytes(length)
        elif kind == 5:
            data[at : at + length] = rng.randbytes(length)
        elif kind == 6:
            other = rng.randrange(len(data) + 1)
            data[at : at + length] = data[other : other + length]
        else:
            data[:8] = rng.choice([0, 1, 7, len(data), len(data) - 8, 2**31, 2**63, 2**64 - 1]).to_bytes(8, "little")
        return bytes(data)

    def json(self, value: Any) -> Any:
        """A copy with one part, anywhere in it, that is removed, doubled, exchanged or something else."""
        value = copy.deepcopy(value)
        places = [(container, key) for container in self._containers(value) for key in self._keys(container)]
        if not places:
            return self.random.choice(ODD)
        container, key = self.random.choice(places)
        kind = self.random.randrange(6)
        if kind == 0:
            del container[key]
        elif kind == 1:
            other, other_key = self.random.choice(places)
            container[key] = copy.deepcopy(other[other_key])
        elif kind == 2 and isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        elif kind == 2:
            container[self.random.choice(["", "x", "v/0", "__metadata__", "crc32"])] = copy.deepcopy(container[key])
        elif kind == 3 and type(container[key]) is int:
            container[key] += self.random.choice([-1, 1, -8, 8, 2**32, -(2**63)])
        else:
            container[key] = copy.deepcopy(self.random.choice(ODD))
        return value

    def _containers(self, value: Any) -> list[Any]:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return [] if parts is None else [value, *(found for part in parts for found in self._containers(part))]

    def _keys(self, container: Any) -> list[Any]:
        return list(container) if isinstance(container, dict) else list(range(len(container)))

    def header(self, content: bytes) -> bytes:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        raw = json.dumps(self._checked(header, header.get("__metadata__", {}))).encode()
        return len(raw).to_bytes(8, "little") + raw + content[8 + length :]

    def index(self, content: bytes) -> bytes:
        index = json.loads(content)
        return json.dumps(self._checked(index, index["metadata"])).encode()

    def _checked(self, whole: Any, metadata: Any) -> Any:
        """Change a header or an index, or the graph in it, with the checksum that belongs to the graph then."""
        if "agog_graph" not in metadata or self.random.random() < 0.5:
            return self.json(whole)
        text = json.dumps(self.json(json.loads(metadata["agog_graph"])))
        metadata |= {"agog_graph": text, "agog_checksum": f"{zlib.crc32(text.encode()):08x}"}
        return whole

    def folder(self, folder: Path) -> str:
        """Change one file of a checkpoint, or exchange its files."""
        files = sorted(path for path in folder.iterdir() if path.name != "checkpoint")
        file, other = self.random.choice(files), self.random.choice(files)
        kind = self.random.choice(["bytes", "bytes", "json", "json", "json", "pointer", "files"])
        if kind == "pointer":
            file = folder / "checkpoint"
        if kind in ("bytes", "pointer"):
            file.write_bytes(self.bytes(file.read_bytes()))
        elif kind == "json":
            change = self.index if file.name.endswith(".json") else self.header
            file.write_bytes(change(file.read_bytes()))
        elif self.random.random() < 0.5:
            content = other.read_bytes()
            other.write_bytes(file.read_bytes())
            file.write_bytes(content)
        else:
            file.unlink()
            if self.random.random() < 0.5:
                file.mkdir()
        return kind


def peak() -> int:
    resource = pytest.importorskip("resource")
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


@pytest.fixture(autouse=True)
def _nobody_else_waits() -> None:
    listeners.clear()  # what other tests have left waiting


@pytest.mark.filterwarnings("ignore::agog_checkpoint.CheckpointWarning")
@pytest.mark.parametrize("max_shard_bytes", [None, 5000])
def test_mutated_checkpoints(tmp_path: Path, max_shard_bytes: int | None) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # shown where the test fails
    mutator = Mutator(seed)
    good, folder = tmp_path / "good", tmp_path / "mutated"
    objects(7.0).save(good / "ckpt", max_shard_bytes=max_shard_bytes)
    contents = {path.name: path.read_bytes() for path in good.iterdir()}
    before, slowest = peak(), 0.0
    found: Counter[str] = Counter()
    for number in range(EXAMPLES // 2):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        kind = mutator.folder(folder)
        where = f"seed {seed}, example {number}, {kind}"
        checkpoint = objects(-1.0)
        begun = time.process_time()
        try:
            path = latest_checkpoint(folder)
            if path is None:
                outcome = "no checkpoint"
            else:
                status = checkpoint.restore(path)
                outcome = "restored"
                if kind != "json":  # with other bytes, but all checksums right, only the saved values are right
                    assert state(checkpoint) == SAVED, where
                del status
                CheckpointReader(path)
        except DataLossError:
            outcome = "damaged"
        except ag.errors.NotFoundError:
            assert kind == "pointer", where
            outcome = "no checkpoint"
        except ValueError as error:
            # A whole checkpoint, of other objects.
            assert kind == "json", where
            outcome = str(error)
            if "does not fit the program's objects; nothing was changed" in outcome:
                outcome = "of other objects"
        seconds = time.process_time() - begun
        slowest = max(slowest, seconds)
        assert seconds < SECONDS, where
        if outcome != "restored":
            assert state(checkpoint) == UNTOUCHED, where
            assert listeners == [], where
        checkpoint = objects(-1.0)
        listeners.clear()
        found[outcome] += 1
    assert found.keys() <= {"damaged", "restored", "no checkpoint", "of other objects"}, f"seed {seed}: {found}"
    grown = peak() - before
    assert grown < MEMORY
    assert found["damaged"] > EXAMPLES // 8
    print(f"{dict(found)}; the slowest took {slowest:.3f} s; memory grew by {grown / 2**20:.0f} MiB")
