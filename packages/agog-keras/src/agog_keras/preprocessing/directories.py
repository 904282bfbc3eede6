"""Directories: folders with a folder for each class, as datasets, and as batches by number."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, cast, expand_dims, one_hot
from agog_core.ops.image.geometry import crop_to_bounding_box, resize_image_with_pad
from agog_core.ops.strings import substr
from agog_core.ops.strings.files import read_file
from agog_data import Dataset
from agog_data.images import decode_image
from agog_keras.layers.resizing import resize
from agog_keras.preprocessing.folders import LabeledFiles, labeled_files, parts
from agog_keras.preprocessing.images import CHANNELS, SUFFIXES
from agog_layers.arguments.checks import choice

__all__ = ["image_dataset_from_directory", "text_dataset_from_directory"]

_MODES = ("int", "categorical", "binary")


class Files(Dataset):
    """A dataset of files, which knows their paths and the names of their classes."""

    def __init__(self, dataset: Dataset, files: LabeledFiles) -> None:
        super().__init__(dataset._stage)
        self.class_names, self.file_paths = files.class_names, files.paths


def image_dataset_from_directory(
    directory: str | os.PathLike[str],
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: tuple[int, int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    verbose: bool = True,
) -> Any:
    """A dataset of the images in a folder with a folder for each class, such as ``cats/1.jpg``, ``dogs/1.jpg``.

    Args:
        directory: the folder.
        labels: ``"inferred"`` for the number of the class, a list of labels in the order of the sorted paths, or None.
        label_mode: ``"int"``, ``"categorical"`` for one-hot vectors, ``"binary"`` for 0.0 or 1.0 of shape (1,), or None
            for images without labels.
        class_names: the classes, in the order of their numbers; None for all, sorted.
        color_mode: ``"rgb"``, ``"rgba"`` or ``"grayscale"``.
        batch_size: the number of images in a batch; None for images one by one.
        image_size: the height and width of all images.
        shuffle: whether each epoch has its own order.
        seed: determines the order, and which files are validated on.
        validation_split: the share of files to validate on.
        subset: ``"training"``, ``"validation"``, or ``"both"`` for a pair of datasets.
        interpolation: how another size is made; see `tf.image.resize`.
        follow_links: whether links to folders are followed.
        crop_to_aspect_ratio: whether the edges are cut off that the new shape has no place for.
        pad_to_aspect_ratio: whether zeros are added, so that nothing is cut off and nothing is distorted.
        verbose: whether the number of files is printed.

    Returns:
        A `tf.data.Dataset` of images of float32, from 0 to 255, and their labels, with the attributes ``class_names``
        and ``file_paths``; or a pair of such.

    Raises:
        NotFoundError: there is no such folder.
        ValueError: there is no image in it, or the arguments do not go together.

    >>> import tempfile
    >>> import numpy as np
    >>> from agog_data.images import encode_png
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cats", "dogs"):
    ...     os.mkdir(f"{folder}/{name}")
    ...     with open(f"{folder}/{name}/1.png", "wb") as file:
    ...         _ = file.write(encode_png(np.zeros([2, 2, 3], np.uint8)).numpy())
    >>> dataset = image_dataset_from_directory(folder, image_size=(4, 4))
    Found 2 files belonging to 2 classes.
    >>> for images, labels in dataset:
    ...     print(images.shape, sorted(labels.numpy().tolist()), dataset.class_names)
    (2, 4, 4, 3) [0, 1] ['cats', 'dogs']
    """
    function = "image_dataset_from_directory"
    channels = CHANNELS[choice(function, "color_mode", color_mode, tuple(CHANNELS))]

    def read(path: Tensor) -> Tensor:
        image = decode_image(read_file(path), channels)
        image = image[0] if len(image._shape) == 4 else image  # the first frame
        if pad_to_aspect_ratio:
            return cast(resize_image_with_pad(image, *image_size), "float32")
        part = _cropped(image, *image_size) if crop_to_aspect_ratio else image
        return cast(resize(part, image_size, interpolation), "float32")

    found = _found(function, directory, labels, label_mode, class_names, SUFFIXES, follow_links, verbose)
    chosen = parts(function, found, validation_split, subset, shuffle, seed)
    return _datasets(chosen, read, label_mode, batch_size, shuffle, seed)


def text_dataset_from_directory(
    directory: str | os.PathLike[str],
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> Any:
    """A dataset of the texts in a folder with a folder for each class, such as ``pos/1.txt``, ``neg/1.txt``.

    Args:
        directory: the folder.
        max_length: the number of bytes after which texts are cut off; None for whole texts.
        Other arguments: see `image_dataset_from_directory`.

    Returns:
        A `tf.data.Dataset` of strings and their labels, with the attributes ``class_names`` and ``file_paths``; or a
        pair of such.

    Raises:
        NotFoundError: there is no such folder.
        ValueError: there is no text in it, or the arguments do not go together.
    """
    function = "text_dataset_from_directory"

    def read(path: Tensor) -> Tensor:
        text = read_file(path)
        return text if max_length is None else substr(text, 0, max_length)

    found = _found(function, directory, labels, label_mode, class_names, (".txt",), follow_links, verbose)
    chosen = parts(function, found, validation_split, subset, shuffle, seed)
    return _datasets(chosen, read, label_mode, batch_size, shuffle, seed)


def _found(
    function: str,
    directory: str | os.PathLike[str],
    labels: Any,
    label_mode: str | None,
    class_names: Sequence[str] | None,
    suffixes: tuple[str, ...],
    follow_links: bool,
    verbose: bool,
) -> LabeledFiles:
    """The files and their labels, checked and told."""
    if label_mode is not None:
        choice(function, "label_mode", label_mode, _MODES)
    found = labeled_files(
        function, directory, None if label_mode is None else labels, class_names, suffixes, follow_links
    )
    classes = found.class_names or sorted(set([] if found.labels is None else found.labels.tolist()))
    if label_mode == "binary" and found.labels is not None and len(classes) != 2:
        raise ValueError(f"{function}: label_mode='binary' goes with 2 classes; there are {len(classes)}: {classes}.")
    if verbose:
        told = "." if found.labels is None else f" belonging to {len(classes)} classes."
        print(f"Found {len(found.paths)} files{told}")
    return found


def _datasets(
    chosen: list[LabeledFiles],
    read: Callable[[Tensor], Tensor],
    label_mode: str | None,
    batch_size: int | None,
    shuffle: bool,
    seed: int | None,
) -> Any:
    """A dataset of what is read of each file, with its label; several for several parts."""

    def one(files: LabeledFiles) -> Files:
        labels = files.labels
        classes = len(files.class_names or ()) or (0 if labels is None else int(labels.max()) + 1)
        rows = Dataset.from_tensor_slices(files.paths if labels is None else (files.paths, labels))
        if shuffle:
            rows = rows.shuffle(len(files.paths), seed=seed)

        def element(path: Tensor, label: Tensor | None = None) -> Any:
            return read(path) if label is None else (read(path), _label(label, label_mode, classes))

        dataset = rows.map(element, num_parallel_calls=-1)
        return Files((dataset if batch_size is None else dataset.batch(batch_size)).prefetch(2), files)

    made = [one(files) for files in chosen]
    return made[0] if len(made) == 1 else tuple(made)


def _label(label: Tensor, mode: str | None, classes: int) -> Tensor:
    if mode == "categorical":
        return one_hot(label, classes)
    return expand_dims(cast(label, "float32"), 0) if mode == "binary" else label


def _cropped(image: Tensor, height: int, width: int) -> Tensor:
    """The largest part in the middle that has the proportions of another size."""
    old_height, old_width = image._shape[:2]
    rows = min(old_height, max(1, old_width * height // width))
    columns = min(old_width, max(1, old_height * width // height))
    return crop_to_bounding_box(image, (old_height - rows) // 2, (old_width - columns) // 2, rows, columns)
