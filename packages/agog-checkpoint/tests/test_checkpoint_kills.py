"""Processes that are killed at random moments of their saves."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, latest_checkpoint

KILLS = int(os.environ.get("AGOG_KILLS", "5"))

# Forks once per line that it is sent. The child goes on from the last checkpoint and saves until it is killed; it
# prints the number of each save that is on the disk. Forking spares fifty imports of NumPy.
SAVER = textwrap.dedent(
    """
    import json, os, sys
    import numpy as np
    import agog_core as ag
    from agog_checkpoint import Checkpoint, CheckpointManager, latest_checkpoint

    class Position(ag.Checkpointable):
        row = 0

        def checkpoint_state(self):
            return {"row": self.row}

        def restore_checkpoint_state(self, state):
            self.row = state["row"]

    def train(folder, managed, **options):
        values = [ag.Variable(np.zeros(size, np.float32)) for size in (1, 50_000, 100_000)]
        position = Position()
        checkpoint = Checkpoint(values=values, position=position)
        manager = CheckpointManager(checkpoint, folder, 2, **options) if managed else None
        newest = latest_checkpoint(folder)
        if newest is not None:
            checkpoint.restore(newest).assert_consumed()
        while True:
            for value in values:
                value.assign_add(np.ones(value.shape, np.float32))
            position.row += 1
            if managed:
                manager.save()
            else:
                checkpoint.save(folder + "/ckpt", **options)
            # An asynchronous save has waited for the one before.
            os.write(1, b"%d\\n" % (position.row - options.get("asynchronous", False)))

    ag.Variable(0.0).assign_add(1.0)  # loads the backend
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            train(sys.argv[1], **json.loads(sys.argv[2]))
        os.write(1, b"child %d\\n" % child)
        os.waitpid(child, 0)
        os.write(1, b"dead\\n")
    """
)


class Position(ag.Checkpointable):
    row = 0

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Any) -> None:
        self.row = state["row"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("max_shard_bytes", [None, 250_000])
@pytest.mark.parametrize("managed", [False, True])
def test_a_save_that_is_killed_leaves_the_last_checkpoint(
    tmp_path: Path, managed: bool, max_shard_bytes: int | None, asynchronous: bool
) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # shown where the test fails
    instants = random.Random(seed)
    values = [ag.Variable(np.zeros(size, np.float32)) for size in (1, 50_000, 100_000)]
    position = Position()
    checkpoint = Checkpoint(values=values, position=position)
    options = {"managed": managed, "max_shard_bytes": max_shard_bytes, "asynchronous": asynchronous}
    command = [sys.executable, "-u", "-c", SAVER, str(tmp_path), json.dumps(options)]
    acknowledged = killed_in_a_save = kills = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as saver:
        assert saver.stdin is not None
        assert saver.stdout is not None
        while kills < KILLS or (killed_in_a_save == 0 and kills < 10 * KILLS):
            kills += 1
            saver.stdin.write(b"go\n")
            saver.stdin.flush()
            line = saver.stdout.readline()
            while not line.startswith(b"child"):
                acknowledged = max(acknowledged, int(line))
                line = saver.stdout.readline()
            child = int(line.split()[1])
            while acknowledged <= position.row:  # the child is past its restore, and has made progress
                acknowledged = max(acknowledged, int(saver.stdout.readline()))
            time.sleep(instants.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
            for line in iter(saver.stdout.readline, b"dead\n"):
                acknowledged = max(acknowledged, int(line))
            killed_in_a_save += any(name.endswith(".agog-tmp") for name in os.listdir(tmp_path))
            newest = latest_checkpoint(tmp_path)
            assert newest is not None
            checkpoint.restore(newest).assert_consumed()
            # The save that was killed may have come to its end, unacknowledged; and so may one that had just begun.
            assert acknowledged <= position.row <= acknowledged + 1 + asynchronous
            acknowledged = position.row
            assert int(checkpoint.save_counter) == position.row
            assert newest == f"{tmp_path}/ckpt-{position.row}"
            for value in values:
                np.testing.assert_array_equal(value.numpy(), np.float32(position.row))
            if not managed:  # they would fill the disk
                for name in os.listdir(tmp_path):
                    if name.startswith("ckpt-") and int(name[5:].partition("-")[0].partition(".")[0]) < position.row:
                        os.unlink(tmp_path / name)
        saver.stdin.close()
    assert saver.returncode == 0
    print(f"{options}: {kills} kills, {killed_in_a_save} of them while a file was being written")
    assert killed_in_a_save > 0, "no instant was within a save, so this has tested nothing"
    checkpoint.save(tmp_path / "ckpt")
    assert [name for name in os.listdir(tmp_path) if name.endswith(".agog-tmp")] == []
