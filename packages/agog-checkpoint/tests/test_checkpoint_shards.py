"""Checkpoints in several files with an index: what other tools see, and what is noticed when a part is not right."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import agog_core as ag
from agog_checkpoint import Checkpoint, CheckpointManager, CheckpointWarning, latest_checkpoint, load_checkpoint, shards
from agog_checkpoint.tensors import load_tensors
from agog_core.errors import DataLossError, InvalidArgumentError, PermissionDeniedError
from agog_testing import says

SIZES = (300, 300, 300, 2000, 10)


def objects(value: float) -> Checkpoint:
    return Checkpoint(v=[ag.Variable(np.full(size, value + i, np.float32)) for i, size in enumerate(SIZES)])


def values(checkpoint: Checkpoint) -> list[float]:
    for variable in checkpoint.v:
        assert len(set(variable.numpy().tolist())) == 1
    return [float(variable.numpy()[0]) for variable in checkpoint.v]


def expected(value: float) -> list[float]:
    return [value + i for i in range(len(SIZES))]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


SHARDS = [f"ckpt-1-0000{number}-of-00004.safetensors" for number in (1, 2, 3, 4)]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A folder with a checkpoint in four shards of at most 2500 bytes, but for one large tensor."""
    assert objects(1.0).save(tmp_path / "ckpt", max_shard_bytes=2500) == f"{tmp_path}/ckpt-1"
    return tmp_path


def test_the_layout_is_that_of_the_hub(saved: Path) -> None:
    assert names(saved) == ["checkpoint", *SHARDS, "ckpt-1.safetensors.index.json"]
    index = json.loads((saved / "ckpt-1.safetensors.index.json").read_text())
    assert index.keys() == {"metadata", "weight_map"}
    assert index["metadata"].keys() == {"total_size", "agog_format", "agog_save", "agog_checksum", "agog_graph"}
    assert index["metadata"]["total_size"] == 4 * sum(SIZES) + 8
    assert index["weight_map"] == {
        "save_counter": SHARDS[0],
        "v/0": SHARDS[0],
        "v/1": SHARDS[0],
        "v/2": SHARDS[1],
        "v/3": SHARDS[2],
        "v/4": SHARDS[3],
    }
    found: dict[str, Any] = {}
    for shard in SHARDS:
        found |= load_file(saved / shard)
        with safe_open(str(saved / shard), "numpy") as opened:
            assert opened.metadata() == {"agog_format": "2", "agog_save": index["metadata"]["agog_save"]}
    assert {key: float(value.reshape(-1)[0]) for key, value in found.items()} == {
        "save_counter": 1.0,
        **{f"v/{i}": 1.0 + i for i in range(5)},
    }
    assert found.keys() == load_tensors(saved / "ckpt-1.safetensors.index.json").keys()


def test_it_is_restored(saved: Path) -> None:
    path = latest_checkpoint(saved)
    checkpoint = objects(0.0)
    checkpoint.restore(path).assert_consumed()
    assert values(checkpoint) == expected(1.0)
    np.testing.assert_array_equal(load_checkpoint(saved).get_tensor("v/1"), np.full(300, 2.0, np.float32))
    checkpoint.restore(f"{path}.safetensors").assert_consumed()


def test_what_fits_into_one_file_is_one(tmp_path: Path) -> None:
    objects(1.0).save(tmp_path / "ckpt", max_shard_bytes=4 * sum(SIZES) + 8)
    assert names(tmp_path) == ["checkpoint", "ckpt-1.safetensors"]


@pytest.mark.parametrize("size", [0, -1])
def test_no_room_at_all(tmp_path: Path, size: int) -> None:
    checkpoint = objects(1.0)
    with says(
        ValueError,
        "Checkpoint: max_shard_bytes must be a positive number of bytes, or None for one file of any size; got "
        f"{size}.",
    ):
        checkpoint.save(tmp_path / "ckpt", max_shard_bytes=size)
    assert int(checkpoint.save_counter) == 0


@pytest.mark.parametrize("sizes", [(2500, 2500), (2500, 900), (2500, None), (None, 2500), (900, None)])
def test_writing_over_a_checkpoint_leaves_nothing_of_the_old_one(tmp_path: Path, sizes: tuple[Any, Any]) -> None:
    for value, size in zip((1.0, 2.0), sizes, strict=True):
        objects(value).write(tmp_path / "a", max_shard_bytes=size)
        checkpoint = objects(0.0)
        checkpoint.restore(tmp_path / "a").assert_consumed()
        assert values(checkpoint) == expected(value)
    if sizes[1] is None:
        assert names(tmp_path) == ["a.safetensors"]
    else:
        index = json.loads((tmp_path / "a.safetensors.index.json").read_text())
        assert names(tmp_path) == sorted({*index["weight_map"].values(), "a.safetensors.index.json"})


def test_a_manager_deletes_all_files(tmp_path: Path) -> None:
    manager = CheckpointManager(objects(1.0), tmp_path, 1, max_shard_bytes=2500)
    for _ in range(3):
        manager.save()
    shards = [name.replace("ckpt-1", "ckpt-3") for name in SHARDS]
    assert names(tmp_path) == ["checkpoint", *shards, "ckpt-3.safetensors.index.json"]
    assert manager.checkpoints == [f"{tmp_path}/ckpt-3"]
    manager = CheckpointManager(objects(1.0), tmp_path, 1)
    assert manager.checkpoints == [f"{tmp_path}/ckpt-3"]
    manager.save(checkpoint_number=8)
    assert names(tmp_path) == ["checkpoint", "ckpt-8.safetensors"]


def test_folders_know_them(saved: Path) -> None:
    from agog_checkpoint.folders import get_checkpoint_mtimes, remove_checkpoint

    assert get_checkpoint_mtimes([saved / "ckpt-1"]) == [os.path.getmtime(saved / "ckpt-1.safetensors.index.json")]
    remove_checkpoint(saved / "ckpt-1")
    assert names(saved) == ["checkpoint"]


def damage(saved: Path, change: Callable[[Path], None]) -> str:
    """The reason in the error for a damaged checkpoint, from which nothing is restored."""
    change(saved)
    checkpoint = objects(7.0)
    with pytest.raises(DataLossError) as raised:
        checkpoint.restore(saved / "ckpt-1")
    assert values(checkpoint) == expected(7.0)
    begin = f"Checkpoint: the file '{saved}/ckpt-1.safetensors.index.json' is not a whole checkpoint: "
    end = ". Nothing was changed; restore another checkpoint."
    text = str(raised.value)
    assert text.startswith(begin)
    assert text.endswith(end)
    return text.removeprefix(begin).removesuffix(end).replace(str(saved), "")


def edit_index(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def edit(saved: Path) -> None:
        index = saved / "ckpt-1.safetensors.index.json"
        index.write_text(json.dumps(change(json.loads(index.read_text()))))

    return edit


def test_a_missing_shard(saved: Path) -> None:
    assert damage(saved, lambda folder: (folder / SHARDS[2]).unlink()) == f"its shard '/{SHARDS[2]}' does not exist"


def test_a_shard_of_another_save(saved: Path) -> None:
    objects(2.0).write(saved / "b", max_shard_bytes=2500)
    ids = [
        json.loads((saved / f"{name}.safetensors.index.json").read_text())["metadata"]["agog_save"]
        for name in ("b", "ckpt-1")
    ]
    assert damage(saved, lambda folder: os.replace(folder / f"b{SHARDS[1][6:]}", folder / SHARDS[1])) == (
        f"in its shard '/{SHARDS[1]}', the id of the save is '{ids[0]}', but in the index it is '{ids[1]}': they do "
        "not belong together"
    )


def test_a_shard_in_the_place_of_another(saved: Path) -> None:
    text = damage(saved, lambda folder: (folder / SHARDS[1]).write_bytes((folder / SHARDS[2]).read_bytes()))
    assert text == (
        f"in its shard '/{SHARDS[1]}', its header and its object graph do not name the same tensors; they differ in "
        "['v/2', 'v/3']"
    )


def test_a_damaged_shard(saved: Path) -> None:
    def flip(folder: Path) -> None:
        content = bytearray((folder / SHARDS[3]).read_bytes())
        content[-1] ^= 1
        (folder / SHARDS[3]).write_bytes(content)

    assert damage(saved, flip).startswith(f"in its shard '/{SHARDS[3]}', the bytes of 'v/4' have the checksum ")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda index: [], "it has not the two parts metadata and weight_map"),
        (
            lambda index: index | {"metadata": {}},
            "its metadata have no 'agog_format': it is of another program, so read it with load_tensors",
        ),
        (
            lambda index: index | {"weight_map": {}},
            "its weight_map and its object graph do not name the same tensors",
        ),
        *(
            (
                lambda index, name=name: index | {"weight_map": index["weight_map"] | {"v/0": name}},
                f"its weight_map has {name!r} for 'v/0', which is not the name of a shard",
            )
            for name in (7, "../ckpt-1-00001-of-00004.safetensors", "checkpoint", "/dev/zero", f"\0{SHARDS[0]}")
        ),
    ],
)
def test_a_damaged_index(saved: Path, change: Callable[[Any], Any], fault: str) -> None:
    assert damage(saved, edit_index(change)) == fault


def test_an_index_that_is_no_json(saved: Path) -> None:
    index = saved / "ckpt-1.safetensors.index.json"
    assert damage(saved, lambda folder: index.write_text("{")).startswith("it is not JSON (")


def test_shards_that_a_crash_left_are_removed_and_others_are_not(saved: Path) -> None:
    (saved / "ckpt-1.safetensors.index.json").unlink()
    objects(3.0).write(saved / "whole", max_shard_bytes=2500)
    kept = names(saved)
    kept = [name for name in kept if not name.startswith("ckpt-1")]
    other = saved / "model-00001-of-00002.safetensors"
    other.write_bytes(b"of another program")
    from safetensors.numpy import save_file

    save_file({"v": np.zeros(3)}, saved / "model-00002-of-00002.safetensors", {"format": "pt"})
    objects(2.0).save(saved / "other")
    assert names(saved) == sorted(
        [*kept, "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "other-1.safetensors"]
    )


def test_shards_of_a_save_that_goes_on_stay(saved: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    index = saved / "ckpt-1.safetensors.index.json"
    save_id = json.loads(index.read_text())["metadata"]["agog_save"]
    temporary = saved / f".{index.name}.{save_id}.agog-tmp"
    index.rename(temporary)
    with open(temporary, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # as another process holds it, just before it puts the index in its place
        objects(2.0).save(saved / "other")
        assert set(names(saved)) >= {*SHARDS, temporary.name}
    objects(2.0).save(saved / "other")
    assert names(saved) == ["checkpoint", "other-1.safetensors"]


def test_an_old_file_that_cannot_be_removed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects(1.0).write(tmp_path / "a")
    unlink = os.unlink

    def refuse(path: Any) -> None:
        if str(path).endswith("a.safetensors"):
            raise PermissionError(13, "Permission denied")
        unlink(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        with pytest.raises(PermissionDeniedError):
            objects(2.0).write(tmp_path / "a", max_shard_bytes=2500)
    checkpoint = objects(0.0)
    checkpoint.restore(tmp_path / "a").assert_consumed()
    assert values(checkpoint) == expected(1.0)


def test_an_index_is_deleted_before_its_shards(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agog_checkpoint import file

    gone: list[str] = []
    unlink = os.unlink

    def note(path: str) -> None:
        gone.append(os.path.basename(path))
        unlink(path)

    monkeypatch.setattr(os, "unlink", note)
    assert file.remove(f"{saved}/ckpt-1")
    assert gone[:2] == ["ckpt-1.safetensors", "ckpt-1.safetensors.index.json"]
    assert sorted(gone[2:]) == SHARDS
    assert names(saved) == ["checkpoint"]


def test_what_cannot_be_deleted_is_told(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agog_checkpoint import file

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        with pytest.warns(CheckpointWarning, match="cannot delete"):
            assert not file.remove(f"{saved}/ckpt-1")
    assert file.remove(f"{saved}/ckpt-1")


def test_an_index_that_is_too_long(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = saved / "ckpt-1.safetensors.index.json"
    length = index.stat().st_size
    monkeypatch.setattr(shards, "LONGEST_HEADER", length // 2)
    with pytest.raises(InvalidArgumentError) as refused:
        objects(1.0).write(saved / "new", max_shard_bytes=2500)
    text = (
        r"Checkpoint: the names, the shapes and the state outside of variables take \d+ bytes, but an index holds at "
        rf"most {length // 2} of them; keep large state in variables\."
    )
    assert re.fullmatch(text, refused.value.message)
    assert names(saved) == ["checkpoint", *SHARDS, index.name]
    monkeypatch.setattr(shards, "LONGEST_HEADER", length - 1)
    with says(
        DataLossError,
        f"Checkpoint: the file '{index}' is not a whole checkpoint: it has {length} bytes, but an index has at most "
        f"{length - 1}. Nothing was changed; restore another checkpoint.",
    ):
        objects(0.0).restore(saved / "ckpt-1")
