"""Paths that are none of this machine, at every function that takes one: an error, and nothing on the disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agog_checkpoint as checkpoints
import agog_core as ag
from agog_checkpoint.folders import checkpoints_in, files_of
from agog_checkpoint.metadata import dot_graph_from_checkpoint, object_metadata
from agog_checkpoint.session_saver import SessionSaver
from agog_core.errors import InvalidArgumentError, UnimplementedError
from agog_testing import says


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


def checkpoint() -> checkpoints.Checkpoint:
    return checkpoints.Checkpoint(v=ag.Variable(1.0))


def saver() -> checkpoints.Saver:
    return checkpoints.Saver([ag.Variable(1.0)])


USES: list[tuple[str, Callable[[Any], Any]]] = [
    ("Checkpoint.save", lambda path: checkpoint().save(path)),
    ("Checkpoint.save", lambda path: checkpoint().save(path, asynchronous=True)),
    ("Checkpoint.write", lambda path: checkpoint().write(path)),
    ("Checkpoint.restore", lambda path: checkpoint().restore(path)),
    ("Checkpoint.restore", lambda path: checkpoint().read(path)),
    ("CheckpointManager", lambda path: checkpoints.CheckpointManager(checkpoint(), path, max_to_keep=1)),
    ("CheckpointableSaver.save", lambda path: checkpoints.CheckpointableSaver(checkpoint()).save(path)),
    ("CheckpointableSaver.restore", lambda path: checkpoints.CheckpointableSaver(checkpoint()).restore(path)),
    ("Saver.save", lambda path: saver().save(path)),
    ("Saver.save", lambda path: SessionSaver([ag.Variable(1.0)]).save(None, path)),
    ("Saver.restore", lambda path: saver().restore(path)),
    ("restore_variables_on_create", lambda path: checkpoints.restore_variables_on_create(path).__enter__()),
    ("latest_checkpoint", checkpoints.latest_checkpoint),
    ("get_checkpoint_state", checkpoints.get_checkpoint_state),
    ("update_checkpoint_state", lambda path: checkpoints.update_checkpoint_state(path, "ckpt-1")),
    ("update_checkpoint_state", lambda path: checkpoints.update_checkpoint_state("folder", path)),
    ("update_checkpoint_state", lambda path: checkpoints.update_checkpoint_state("", "a", [path])),
    ("get_checkpoint_mtimes", lambda path: checkpoints.get_checkpoint_mtimes([path])),
    ("remove_checkpoint", checkpoints.remove_checkpoint),
    ("checkpoint_exists", checkpoints.checkpoint_exists),
    ("checkpoints_in", checkpoints_in),
    ("files_of", files_of),
    ("latest_checkpoint", lambda path: next(checkpoints.checkpoints_iterator(path, timeout=0))),
    ("load_checkpoint", checkpoints.load_checkpoint),
    ("load_checkpoint", lambda path: checkpoints.load_variable(path, "v")),
    ("load_checkpoint", checkpoints.list_variables),
    ("load_checkpoint", checkpoints.CheckpointReader),
    ("load_tensors", checkpoints.load_tensors),
    ("object_metadata", object_metadata),
    ("dot_graph_from_checkpoint", dot_graph_from_checkpoint),
]


@pytest.mark.parametrize(("function", "use"), USES)
def test_a_url_without_the_package(function: str, use: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with says(
        UnimplementedError,
        f"{function}: 's3://bucket/run/ckpt' is a URL, which the package fsspec opens; install it by pip install "
        '"agog[remote]".',
    ):
        use("s3://bucket/run/ckpt")


@pytest.mark.parametrize(("function", "use"), USES)
def test_a_nul_in_a_name(function: str, use: Callable[[Any], Any]) -> None:
    for path in ("a\0b", b"a\0b"):
        with says(InvalidArgumentError, f"{function}: a file name must not hold a NUL character."):
            use(path)


@pytest.mark.parametrize("path", ["file:///runs/ckpt", "FILE:///runs/ckpt"])
def test_a_url_of_a_file_of_this_machine(path: str, tmp_path: Path) -> None:
    path = path.replace("/runs", str(tmp_path))
    assert checkpoint().save(path) == f"{tmp_path}/ckpt-1"
    checkpoint().restore(path + "-1").assert_consumed()
    for file in tmp_path.iterdir():
        file.unlink()


def test_a_failed_save_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    failing = checkpoint()
    for path in ("gs://bucket/ckpt", "\0"):
        with pytest.raises((UnimplementedError, InvalidArgumentError)):
            failing.save(path)
    assert int(failing.save_counter) == 0


@pytest.mark.parametrize("find", [checkpoints.latest_checkpoint, checkpoints.get_checkpoint_state])
def test_a_nul_in_the_name_of_the_list(find: Callable[..., Any]) -> None:
    with says(InvalidArgumentError, f"{find.__name__}: a file name must not hold a NUL character."):
        find("folder", "check\0point")


def test_folders_whose_names_have_colons_are_folders(tmp_path: Path) -> None:
    for prefix in ("a:b/ckpt", "./s3:/bucket/ckpt", "x/y://ckpt"):
        path = checkpoint().save(prefix)
        checkpoint().restore(path).assert_consumed()
    for file in sorted(tmp_path.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
