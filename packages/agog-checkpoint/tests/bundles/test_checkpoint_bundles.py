"""Checkpoints of TensorFlow: files that TensorFlow 2.21 wrote (`write_files.py`), against the values it was given."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bundles.tensors import FIRST, PARTS, SECOND, same

from agog_checkpoint.tensorflow import is_tensorflow_checkpoint, open_checkpoint
from agog_checkpoint.tensorflow.bundle import Bundle
from agog_core.errors import DataLossError, NotFoundError
from agog_testing import says

FILES = Path(__file__).parent / "files"
CHECKPOINTS = {
    "v1.ckpt": FIRST | PARTS,
    "v1_sharded.ckpt-?????-of-00003": FIRST | PARTS,
    "v2.ckpt": SECOND | PARTS,
    "v2_sharded.ckpt": SECOND | PARTS,
}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_values_are_those_that_tensorflow_was_given(name: str) -> None:
    expected = CHECKPOINTS[name]
    with open_checkpoint(FILES / name) as checkpoint:
        assert checkpoint.names() == sorted(expected)
        wrong = [key for key, value in expected.items() if not same(checkpoint.read(key), value)]
        assert not wrong
        assert {key: checkpoint.shape(key) for key in expected} == {key: x.shape for key, x in expected.items()}
        dtypes = {key: "string" if x.dtype == object else x.dtype.name for key, x in expected.items()}
        assert {key: checkpoint.dtype(key).name for key in expected} == dtypes
        assert checkpoint.object_graph() is None


def test_arrays_are_aligned_and_may_be_written(tmp_path: Path) -> None:
    with open_checkpoint(FILES / "v2.ckpt") as checkpoint:
        for name in checkpoint.names():
            array = checkpoint.read(name)
            assert array.flags.aligned
            assert array.flags.writeable


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_is_told_from_other_files(name: str, tmp_path: Path) -> None:
    assert is_tensorflow_checkpoint(FILES / name)
    assert not is_tensorflow_checkpoint(FILES / f"{name}.other")
    assert not is_tensorflow_checkpoint(FILES)
    assert not is_tensorflow_checkpoint(__file__)
    (tmp_path / "short").write_bytes(b"")
    assert not is_tensorflow_checkpoint(tmp_path / "short")


def test_a_folder_of_a_saved_model_stands_for_its_variables(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    text = f"TensorFlow checkpoint: there is no checkpoint {str(tmp_path)!r}: the SavedModel has no variables."
    with says(NotFoundError, text):
        open_checkpoint(tmp_path)
    (tmp_path / "variables").mkdir()
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(FILES / f"v2.ckpt.{suffix}", tmp_path / f"variables/variables.{suffix}")
    with open_checkpoint(tmp_path) as checkpoint:
        assert same(checkpoint.read("scalar"), SECOND["scalar"])


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "no")
    with says(
        NotFoundError, f"TensorFlow checkpoint: there is no checkpoint {path!r}: {path + '.index'!r} does not exist."
    ):
        open_checkpoint(path)
    with open_checkpoint(FILES / "v2.ckpt") as checkpoint:
        names = ", ".join(sorted(SECOND | PARTS)[:20])
        with says(
            NotFoundError,
            f"TensorFlow checkpoint: tensor 'w' is not in {str(FILES / 'v2.ckpt')!r}; its names are {names}, "
            "and 1 more.",
        ):
            checkpoint.read("w")


def _copied(tmp_path: Path) -> tuple[str, Path, Path]:
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(FILES / f"v2.ckpt.{suffix}", tmp_path / f"m.{suffix}")
    return str(tmp_path / "m"), tmp_path / "m.index", tmp_path / "m.data-00000-of-00001"


def test_damage_names_the_file_and_the_tensor(tmp_path: Path) -> None:
    prefix, index, data = _copied(tmp_path)
    (place,) = [place for info, place in [Bundle(prefix)._entry(b"kind/float32")]]
    raw = bytearray(data.read_bytes())
    raw[place.offset] ^= 1
    data.write_bytes(raw)
    with open_checkpoint(prefix) as checkpoint:
        with says(
            DataLossError,
            f"TensorFlow checkpoint: the file {str(data)!r} is damaged in tensor 'kind/float32': its bytes have "
            "another checksum than was written.",
        ):
            checkpoint.read("kind/float32")
        assert same(checkpoint.read("kind/float64"), SECOND["kind/float64"])
    data.unlink()
    with (
        open_checkpoint(prefix) as checkpoint,
        says(
            DataLossError,
            f"TensorFlow checkpoint: the file {str(data)!r} is damaged in tensor 'rows': the file does not exist.",
        ),
    ):
        checkpoint.read("rows")
    index.write_bytes(index.read_bytes()[:-1])
    with says(
        DataLossError,
        f"TensorFlow checkpoint: the file {str(index)!r} is damaged: it does not end with the magic number of a table: "
        "it is cut off, or no such file.",
    ):
        open_checkpoint(prefix)
