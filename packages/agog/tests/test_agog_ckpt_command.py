"""The commands `agog ckpt ls|show|verify|diff|gc`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import agog as tf
from agog.__main__ import main
from agog.commands import ckpt as checkpoint_command
from agog_checkpoint import folders


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["ckpt", *map(str, arguments)])


class Position(tf.contrib.checkpoint.Checkpointable):
    def __init__(self, row: int) -> None:
        self.row = row

    def checkpoint_state(self) -> dict[str, Any]:
        return {"row": self.row}

    def restore_checkpoint_state(self, state: Any) -> None:
        self.row = state["row"]


def values(number: float = 0.0) -> dict[str, Any]:
    return {
        "model": {
            "kernel": tf.Variable(np.float32([[1, 2, 3], [4, 5, 6 + number]])),
            "bias": tf.Variable(np.ones(500)),
        },
        "step": tf.Variable(np.int64(3)),
        "position": Position(int(number)),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three checkpoints of a manager, of which the first is the best, and one of somebody else."""
    checkpoint = tf.train.Checkpoint(**values())
    manager = tf.train.CheckpointManager(checkpoint, tmp_path / "run", 2, best=("accuracy", "max"))
    for number, accuracy in enumerate((0.9, 0.5, 0.25), start=1):
        path = manager.save(checkpoint_number=10 * number, metrics={"accuracy": accuracy})
        os.utime(f"{path}.safetensors", (1e9 + number, 1e9 + number))
    other = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tmp_path / "run" / "other")
    os.utime(f"{other}.safetensors", (0, 0))
    return tmp_path / "run"


def test_ls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    result = run("ls", folder)
    assert result.exit_code == 0, result.output
    head, other, *lines = result.output.splitlines()
    assert head.split() == ["checkpoint", "number", "size", "saved"]
    assert other.startswith("other ")
    assert other.endswith("not in the list")
    assert [line.split()[:2] for line in lines] == [["ckpt-10", "10"], ["ckpt-20", "20"], ["ckpt-30", "30"]]
    marks = [line.split("  ")[-1].strip() for line in lines]
    assert marks == ["best, accuracy=0.9", "accuracy=0.5", "newest, accuracy=0.25"]
    assert "2001-09-09" in lines[0]
    assert " kB " in lines[0]


def test_show(folder: Path) -> None:
    for path in (folder, folder / "ckpt-30", folder / "ckpt-30.safetensors"):
        result = run("show", path)
        assert result.exit_code == 0, result.output
        assert result.output == (
            f"{folder}/ckpt-30: 4 variables, 4.04 kB\n"
            "  model\n"
            "    bias  float64 [500] 4 kB\n"
            "    kernel  float32 [2, 3] 24 B\n"
            "  position\n"
            '    .state  {"row":0}\n'
            "  save_counter  int64 [] 8 B\n"
            "  step  int64 [] 8 B\n"
        )


def test_show_of_several_files_and_long_state(tmp_path: Path) -> None:
    long = Position(0)
    long.row = "x" * 200  # type: ignore[assignment]
    checkpoint = tf.train.Checkpoint(a=tf.Variable([1.0]), b=tf.Variable([2.0]), long=long)
    path = checkpoint.write(tmp_path / "s", max_shard_bytes=4)
    for name in (path, f"{path}.safetensors.index.json"):
        result = run("show", name)
        assert result.exit_code == 0, result.output
        assert result.output.splitlines() == [
            f"{path}: 2 variables, 8 B",
            "  a  float32 [1] 4 B",
            "  b  float32 [1] 4 B",
            "  long",
            f'    .state  {{"row":"{"x" * 92}... (210 characters)',
        ]


@pytest.mark.filterwarnings("ignore:Model.save")
@pytest.mark.parametrize("name", ["x.keras", "x.h5", "x"])
def test_a_model_that_was_saved_whole(tmp_path: Path, name: str) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, input_shape=[4], name="first")])
    path = tmp_path / name
    model.save(path)
    result = run("show", path)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"{path}: 2 variables, 160 B"
    assert "kernel  float32 [4, 8] 128 B" in map(str.strip, lines)
    assert run("verify", path).output == f"{path}: whole, 2 tensors\n"
    assert run("diff", path, path).output == "2 tensors and all other state are the same.\n"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert run("verify", path).exit_code == 1


def test_show_of_files_of_keras(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    whole = tmp_path / "x.h5"
    with h5py.File(whole, "w") as file:
        file["layers/dense/vars/0"] = np.zeros((4, 8), np.float32)
        file["layers/dense/vars/1"] = np.zeros(8, np.float16)
    archive = tmp_path / "x.keras"
    with zipfile.ZipFile(archive, "w") as made:
        made.write(whole, "model.weights.h5")
        made.writestr("config.json", "{}")
    for path in (whole, archive):
        result = run("show", path)
        assert result.exit_code == 0, result.output
        assert [line.strip() for line in result.output.splitlines()] == [
            f"{path}: 2 variables, 144 B",
            *("layers", "dense", "vars"),
            "0  float32 [4, 8] 128 B",
            "1  float16 [8] 16 B",
        ]
        for command in (("verify", path), ("diff", path, path)):
            assert run(*command).output == (
                f"Error: '{path}' is a file of Keras; of these `agog ckpt show` shows what they hold, and that is "
                "all.\n"
            )
    whole.write_bytes(whole.read_bytes()[:600])
    result = run("show", whole)
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: '{whole}' is not a whole file of Keras: ")


def test_verify(folder: Path) -> None:
    result = run("verify", folder)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[1:] == [f"{folder}/ckpt-{number}: whole, 4 tensors" for number in (10, 20, 30)]
    file = folder / "ckpt-20.safetensors"
    content = bytearray(file.read_bytes())
    at = bytes(content).rindex(np.float64(1).tobytes())
    content[at + 7] ^= 1
    file.write_bytes(content)
    os.utime(file, (1e9 + 2, 1e9 + 2))
    result = run("verify", folder)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[2] == f"{folder}/ckpt-20: DAMAGED"
    text = f"  Checkpoint: the file '{file}' is not a whole checkpoint: the bytes of 'model/bias' have the checksum"
    assert lines[3].startswith(text)
    assert lines[-1] == "Error: 1 of 4 checkpoints cannot be restored."
    assert run("verify", folder / "ckpt-20").exit_code == 1
    assert run("verify", folder / "ckpt-30").exit_code == 0
    file.write_bytes(content[:5])
    assert run("verify", folder).exit_code == 1


def test_diff(tmp_path: Path) -> None:
    one = tf.train.Checkpoint(**values(), gone=tf.Variable(1.0), same=tf.Variable([float("nan"), 1.0])).write(
        tmp_path / "1"
    )
    changed = {**values(0.5), "new": tf.Variable([1, 2]), "same": tf.Variable([float("nan"), 1.0])}
    changed["model"]["bias"] = tf.Variable(np.ones(7))
    changed["step"] = tf.Variable(np.int32(3))
    changed["position"] = Position(8)
    other = tf.train.Checkpoint(**changed).write(tmp_path / "2")
    result = run("diff", one, other)
    assert result.exit_code == 1
    assert result.output == (
        f"gone: only in {one}, float32 []\n"
        f"new: only in {other}, int32 [2]\n"
        "model/bias: shape [500] and [7]\n"
        "model/kernel: 1 of 6 values differ, by at most 0.5\n"
        "step: dtype int64 and int32\n"
        "position/.state row: 0 and 8\n"
    )
    result = run("diff", one, one)
    assert (result.exit_code, result.output) == (0, "5 tensors and all other state are the same.\n")


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ([True, False], [True, True], "1 of 2 values differ, by at most 1"),
        ([1 + 1j], [1 - 2j], "1 of 1 value differ, by at most 3"),
        ([0.0], [-0.0], "the same values in other bits (signed zeros or NaN)"),
        ([float("inf"), 1.0], [1.0, 1.0], "1 of 2 values differ, by at most inf"),
        ([float("nan"), 1.0], [2.0, 1.0], "1 of 2 values differ, by at most nan"),
    ],
)
def test_diff_of_values(tmp_path: Path, one: list[Any], other: list[Any], said: str) -> None:
    paths = [
        tf.train.Checkpoint(v=tf.Variable(value)).write(tmp_path / name) for name, value in (("1", one), ("2", other))
    ]
    assert run("diff", *paths).output == f"v: {said}\n"


def test_gc(folder: Path) -> None:
    assert run("gc", folder).output == "nothing to remove\n"
    sharded = tf.train.Checkpoint(a=tf.Variable([1.0]), b=tf.Variable([2.0])).write(folder / "s", max_shard_bytes=4)
    os.unlink(f"{sharded}.safetensors.index.json")
    (folder / ".ckpt-40.safetensors.0123456789abcdef.agog-tmp").write_bytes(b"x" * 2000)
    before = {path.name for path in folder.iterdir()}
    result = run("gc", folder)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "would remove .ckpt-40.safetensors.0123456789abcdef.agog-tmp, 2 kB"
    assert [line.split(",")[0] for line in lines[1:-1]] == [
        f"would remove s-0000{number}-of-00002.safetensors" for number in (1, 2)
    ]
    assert lines[-1] == "Nothing was removed; --delete removes it."
    assert {path.name for path in folder.iterdir()} == before
    result = run("gc", folder, "--delete")
    assert [line.split()[0] for line in result.output.splitlines()] == ["removed"] * 3
    left = {path.name for path in folder.iterdir()}
    assert left == {name for name in before if not name.startswith((".ckpt", "s-0"))}
    result = run("gc", folder, "--delete", "--unlisted")
    assert result.output.startswith("removed other, ")
    names = sorted(path.name.split(".")[0] for path in folder.iterdir())
    assert names == ["checkpoint", "ckpt-10", "ckpt-20", "ckpt-30"]


def test_gc_leaves_what_is_being_written_and_the_newest(folder: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    busy = folder / ".ckpt-40.safetensors.0123456789abcdef.agog-tmp"
    with open(busy, "wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert run("gc", folder, "--delete").output == "nothing to remove\n"
    assert busy.exists()
    busy.unlink()
    # The newest stays even where a list does not have it.
    tf.train.update_checkpoint_state(folder, folder / "ckpt-30", [str(folder / "ckpt-10"), str(folder / "ckpt-30")])
    pointer = folder / "checkpoint"
    lines = pointer.read_text().splitlines(keepends=True)
    lines.remove('all_model_checkpoint_paths: "ckpt-30"\n')
    del lines[next(index for index, line in enumerate(lines) if "timestamps" in line)]
    pointer.write_text("".join(lines))
    result = run("gc", folder, "--delete", "--unlisted")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.glob("ckpt*")) == ["ckpt-10.safetensors", "ckpt-30.safetensors"]


def test_errors_are_one_clear_text(tmp_path: Path) -> None:
    here = tmp_path
    tf.train.Checkpoint(v=tf.Variable(1.0)).save(here / "own" / "ckpt")
    no_checkpoint = (
        f"Checkpoint: there is no checkpoint '{here}/none': neither '{here}/none.safetensors' nor TensorFlow's "
        f"'{here}/none.index' exists."
    )
    cases: list[tuple[list[object], str]] = [
        (["ls", here / "none"], f"there is no folder '{here}/none'."),
        (["ls", here], f"the folder '{here}' has no checkpoints."),
        (["verify", here], f"the folder '{here}' has no checkpoints."),
        (["show", here], f"the folder '{here}' names no newest checkpoint; give the path of one."),
        (
            ["show", here / "none"],
            no_checkpoint,
        ),
        (
            ["diff", here / "own", here / "none"],
            no_checkpoint,
        ),
        (
            ["verify", here / "none"],
            no_checkpoint,
        ),
        (["gc", here / "none"], f"there is no folder '{here}/none'."),
        (
            ["gc", here / "own", "--unlisted"],
            f"the folder '{here}/own' has no list of a CheckpointManager, so nothing tells which of its checkpoints "
            "are still wanted.",
        ),
    ]
    for arguments, text in cases:
        result = run(*arguments)
        assert (result.exit_code, result.output) == (1, f"Error: {text}\n")


def test_ls_with_a_damaged_list(folder: Path) -> None:
    (folder / "checkpoint").write_text("damaged")
    result = run("ls", folder)
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.output.splitlines()[1:5]] == ["other", "ckpt-10", "ckpt-20", "ckpt-30"]
    assert result.output.splitlines()[5] == (
        f"Error: latest_checkpoint: the file '{folder}/checkpoint' is damaged: it should have a line "
        "'model_checkpoint_path: \"NAME\"', but begins with 'damaged'. Restore a checkpoint of that folder by its own "
        "path."
    )


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_what_is_no_file_is_no_checkpoint(folder: Path) -> None:
    os.mkfifo(folder / "pipe.safetensors")
    os.mkfifo(folder / "pipe-00001-of-00002.safetensors")
    os.mkfifo(folder / ".pipe.safetensors.0123456789abcdef.agog-tmp")
    (folder / "folder.safetensors").mkdir()
    (folder / "link.safetensors").symlink_to("nowhere")
    (folder / "link.safetensors.index.json").symlink_to("nowhere")
    for command in ("ls", "verify", "gc"):
        result = run(command, folder)
        assert result.exit_code == 0, result.output
        assert not any(name in result.output for name in ("pipe", "folder.", "link"))


def test_checkpoints_that_are_deleted_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = folders.checkpoints_in(folder)
    monkeypatch.setattr(checkpoint_command, "checkpoints_in", lambda folder: paths)
    (folder / "ckpt-20.safetensors").unlink()
    result = run("ls", folder)
    assert result.exit_code == 0, result.output
    assert [line.split()[0] for line in result.output.splitlines()[1:]] == ["other", "ckpt-10", "ckpt-30"]
    result = run("verify", folder)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[2] == f"{folder}/ckpt-20: deleted meanwhile"


@pytest.mark.skipif(os.name == "nt", reason="a shell with pipes")
def test_a_reader_that_ends_early(folder: Path) -> None:
    command = f"{sys.executable} -m agog ckpt verify {folder} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_the_other_commands_do_not_import_it() -> None:
    code = "import sys, agog.__main__; sys.exit('agog.commands.ckpt' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    done = subprocess.run([sys.executable, "-m", "agog", "ckpt", "--help"], capture_output=True, text=True, check=True)
    for name in ("diff", "gc", "ls", "show", "verify"):
        assert f"\n  {name} " in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="there are no such names")
def test_what_cannot_be_printed_is_escaped(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[2J\u202e"
    shown = f"{tmp_path}/a\\x1b[2J\\u202e"
    saver = tf.train.Saver({"net/\x07\x9bkernel\n": tf.Variable([1.0])})
    saver.save(folder / "s\r\n\udc80")
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])), folder, 2)
    manager.save(metrics={"loss\x1b": 0.5})
    (folder / ".x\x1b\n.0123456789abcdef.agog-tmp").write_bytes(b"")
    result = run("ls", folder)
    first, second = sorted(line.split("  ")[0] for line in result.output.splitlines()[1:])
    assert (first, second) == ("ckpt-1", "s\\r\\n\\udc80")
    assert result.output.count("newest, loss\\x1b=0.5\n") == 1
    lines = [f"{shown}/s\\r\\n\\udc80: 1 variable, 4 B", "  net", "    \\x07\\x9bkernel\\n  float32 [1] 4 B"]
    assert run("show", folder / "s\r\n\udc80").output.splitlines() == lines
    assert sorted(run("verify", folder).output.splitlines()) == [
        f"{shown}/ckpt-1: whole, 2 tensors",
        f"{shown}/s\\r\\n\\udc80: whole, 1 tensor",
    ]
    assert run("diff", folder / "s\r\n\udc80", folder).output.splitlines() == [
        f"net/\\x07\\x9bkernel\\n: only in {shown}/s\\r\\n\\udc80, float32 [1]",
        f"save_counter: only in {shown}/ckpt-1, int64 []",
        f"v: only in {shown}/ckpt-1, float32 [2]",
    ]
    assert run("gc", folder).output.splitlines()[0] == "would remove .x\\x1b\\n.0123456789abcdef.agog-tmp, 0 B"
    (folder / "ckpt-1.safetensors").write_bytes(b"")
    for result in (run("verify", folder), run("show", folder / "nothing\x1b"), run("gc", "nothing\x1b")):
        assert result.exit_code == 1
        assert all(line.isprintable() for line in result.output.split("\n"))


def read_json(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    return json.loads(result.stdout)


def test_ls_json(folder: Path) -> None:
    other, *kept = read_json("ls", folder)
    assert (other["checkpoint"], other["number"], other["listed"], other["newest"]) == ("other", None, False, False)
    assert [each["number"] for each in kept] == [10, 20, 30]
    assert [each["metrics"] for each in kept] == [{"accuracy": 0.9}, {"accuracy": 0.5}, {"accuracy": 0.25}]
    assert [(each["newest"], each["best"]) for each in kept] == [(False, True), (False, False), (True, False)]
    assert kept[0]["bytes"] == (folder / "ckpt-10.safetensors").stat().st_size


def test_show_json(folder: Path) -> None:
    shown = read_json("show", folder)
    assert shown["path"] == str(folder / "ckpt-30")
    assert shown["leaves"]["model/kernel"] == {"dtype": "float32", "shape": [2, 3], "bytes": 24, "state": None}
    assert shown["leaves"]["position/.state"] == {"dtype": None, "shape": [], "bytes": 0, "state": {"row": 0}}


def test_verify_json(folder: Path) -> None:
    path = folder / "ckpt-20.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    found = read_json("verify", folder)
    assert found[str(folder / "ckpt-10")] == {"state": "whole", "tensors": 4}
    assert found[str(folder / "ckpt-20")]["state"] == "damaged"
    assert run("verify", folder, "--json").exit_code == 1


def test_diff_json(folder: Path) -> None:
    same, other = folder / "ckpt-10", folder / "ckpt-20"
    assert read_json("diff", same, same) == {"tensors": 4, "differences": []}
    found = read_json("diff", same, other)["differences"]
    assert found == ["save_counter: 1 of 1 value differ, by at most 1"]
    assert run("diff", same, other, "--json").exit_code == 1


def test_gc_json(folder: Path) -> None:
    assert read_json("gc", folder) == {"removed": False, "bytes": {}}
    size = (folder / "other.safetensors").stat().st_size
    assert read_json("gc", folder, "--unlisted", "--delete") == {"removed": True, "bytes": {"other": size}}


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A safetensors file of another program, and an index of it."""
    from safetensors.numpy import save_file

    tensors = {"layers.0.weight": np.ones((2, 3), np.float32), "layers.0.bias": np.zeros(3, np.float16)}
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(tensors, "model.safetensors")}
    (tmp_path / "sharded.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path


@pytest.mark.parametrize("name", ["model", "sharded"])
def test_show_of_a_file_of_another_program(foreign: Path, name: str) -> None:
    result = run("show", foreign / name)
    assert result.exit_code == 0, result.output
    assert result.output == (
        f"{foreign}/{name}: 2 tensors, 30 B\n"
        "  layers\n"
        "    0\n"
        "      bias  float16 [3] 6 B\n"
        "      weight  float32 [2, 3] 24 B\n"
    )


def test_show_of_a_damaged_file_of_another_program(foreign: Path) -> None:
    path = foreign / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    result = run("show", path)
    assert result.exit_code == 1
    assert str(path) in result.output


def test_checkpoints_at_urls() -> None:
    pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")
    from agog_testing.stores import failing_store

    url = "failing://bucket/run"
    with failing_store() as store:
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(**values()), url, 2, max_shard_bytes=1000)
        first, second = manager.save(), manager.save()
        listed = json.loads(run("ls", url, "--json").output)
        assert [(each["checkpoint"], each["newest"]) for each in listed] == [("ckpt-1", False), ("ckpt-2", True)]
        assert [each["bytes"] for each in listed] == [
            sum(len(file.getvalue()) for name, file in store.store.items() if each["checkpoint"] in name)
            for each in listed
        ]
        assert "kernel  float32 [2, 3] 24 B" in run("show", url).output
        assert run("verify", url).output == f"{first}: whole, 4 tensors\n{second}: whole, 4 tensors\n"
        assert run("diff", first, second).output == "save_counter: 1 of 1 value differ, by at most 1\n"
        assert run("gc", url).output == "nothing to remove\n"
        shard = next(name for name in store.store if "00001-of" in name)
        content = store.store.pop(shard).getvalue()
        store().pipe_file(shard, content[:-1] + b"?")
        damaged = run("verify", url)
        assert damaged.exit_code == 1
        assert "DAMAGED" in damaged.output
        del store.store["/bucket/run/ckpt-1.safetensors.index.json"]
        for file in store.store.values():
            file.modified = file.modified.replace(year=2020)
        left = sorted(name for name in store.store if "ckpt-1" in name)
        assert left
        assert run("gc", url, "--delete").output.count("removed") == len(left)
        assert not set(left) & set(store.store)
        assert run("verify", second).output == f"{second}: whole, 4 tensors\n"
