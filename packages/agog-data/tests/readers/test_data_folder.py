"""Folders of images, a folder for each class."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agog_core import errors
from agog_data import Iterator, images
from agog_data.readers import ImageFolder
from agog_testing import says


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for label, name in enumerate(["birds", "cats", "dogs"]):
        (tmp_path / name).mkdir()
        for number in range(4):
            Image.fromarray(np.full((2, 3, 3), 10 * label + number, np.uint8)).save(tmp_path / name / f"{number}.png")
    (tmp_path / "cats" / "notes.txt").write_text("no image")
    (tmp_path / "cats" / "more").mkdir()
    (tmp_path / "list.png").write_bytes(b"in no class")
    return tmp_path


def test_images_and_labels(folder: Path) -> None:
    dataset = ImageFolder(folder)
    assert dataset.class_names == ["birds", "cats", "dogs"]
    assert dataset.files[4] == str(folder / "cats" / "0.png")
    assert len(dataset.files) == 12
    found = [(int(images.decode_png(image)[0, 0, 0]), int(label)) for image, label in dataset]
    assert found == [(10 * label + number, label) for label in range(3) for number in range(4)]
    contents, labels = next(iter(dataset.batch(12)))
    assert contents.numpy().tolist() == [Path(file).read_bytes() for file in dataset.files]
    assert labels.numpy().tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert [dtype.name for dtype in dataset.output_types] == ["string", "int32"]


def test_shuffled_decoded_batches_and_their_state(folder: Path) -> None:
    dataset = (
        ImageFolder(str(folder))
        .shuffle(12, seed=2)
        .map(lambda image, label: (images.decode_image(image), label), num_parallel_calls=2)
        .batch(4)
    )
    iterator = Iterator(dataset)
    pixels, labels = next(iterator)
    assert pixels.shape == (4, 2, 3, 3)
    assert (pixels.numpy()[:, 0, 0, 0] // 10).tolist() == labels.numpy().tolist()
    other = Iterator(dataset)
    other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
    for (a, x), (b, y) in zip(iterator, other, strict=True):
        assert np.array_equal(a.numpy(), b.numpy())
        assert x.numpy().tolist() == y.numpy().tolist()


def test_errors(tmp_path: Path) -> None:
    with says(errors.NotFoundError, f"{tmp_path / 'none'}: there is no such folder."):
        ImageFolder(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with says(
        errors.InvalidArgumentError,
        f"ImageFolder: {tmp_path} is expected to have a folder for each class, with images (.bmp, .gif, .jpeg, .jpg, "
        ".png) in it; it has 1 folders and no image.",
    ):
        ImageFolder(tmp_path)


def test_a_file_that_has_gone(folder: Path) -> None:
    iterator = iter(ImageFolder(folder))
    (folder / "birds" / "0.png").unlink()
    with pytest.raises(errors.NotFoundError, match=r"0\.png: there is no such file\.$"):
        next(iterator)
