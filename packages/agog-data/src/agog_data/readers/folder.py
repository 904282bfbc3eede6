"""Folders of images: one folder for each class."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from agog_core import TensorShape, dtypes, errors
from agog_core.files import file_path, is_folder, is_url, join, names_in
from agog_data.dataset import Dataset
from agog_data.elements import ComponentSpec
from agog_data.files import PathLike, opened
from agog_data.sources import Source
from agog_data.stages.slicing import Slices

Array = np.ndarray[Any, Any]

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")


class ImageFolder(Dataset):
    """The images of a folder that has a folder for each class, such as ``cats/1.jpg``, ``dogs/1.jpg``.

    An element is a pair of the file's bytes, a string, and its label, an int32. A file is read when its element is
    asked for: put stages that choose rows (`shuffle`, `repeat`, `take`) before the `map` that decodes, which may run on
    several threads.

    Args:
        directory: the folder. Files in it that are not in a class, and files that are neither ``.bmp``, ``.gif``,
            ``.jpeg``, ``.jpg`` nor ``.png``, are left out.

    Raises:
        NotFoundError: there is no such folder.
        InvalidArgumentError: there is no image in it.

    >>> import tempfile, agog_data.images as images
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("cats", "dogs"):
    ...     os.mkdir(f"{folder}/{name}")
    ...     with open(f"{folder}/{name}/1.png", "wb") as file:
    ...         _ = file.write(images.encode_png(np.zeros([2, 2, 3], np.uint8)).numpy())
    >>> dataset = ImageFolder(folder)
    >>> dataset.class_names
    ['cats', 'dogs']
    >>> for image, label in dataset.shuffle(2).map(lambda x, y: (images.decode_image(x, 3), y)).batch(2):
    ...     print(image.shape, sorted(label.numpy().tolist()))
    (2, 2, 2, 3) [0, 1]
    """

    def __init__(self, directory: PathLike) -> None:
        root = file_path(repr(os.fspath(directory)), directory)
        self._class_names = _listed(root, folders=True)
        files = [
            (join(root, name, file), label)
            for label, name in enumerate(self._class_names)
            for file in _listed(join(root, name), folders=False)
            if file.lower().endswith(_SUFFIXES)
        ]
        if not files:
            raise errors.InvalidArgumentError(
                f"ImageFolder: {root} is expected to have a folder for each class, with images "
                f"({', '.join(_SUFFIXES)}) in it; it has {len(self._class_names)} folders and no image."
            )
        self._files = [file for file, _ in files]
        super().__init__(Slices(FileSource(self._files, np.array([label for _, label in files], np.int32))))

    @property
    def class_names(self) -> list[str]:
        """The names of the classes, sorted; a label is a place in this list."""
        return list(self._class_names)

    @property
    def files(self) -> list[str]:
        """The paths of the images, class by class, sorted."""
        return list(self._files)


class FileSource(Source):
    """The bytes of files, and a number for each."""

    def __init__(self, files: list[str], numbers: Array) -> None:
        self._files = files
        self._numbers = numbers
        scalar = TensorShape([])
        spec = ComponentSpec(dtypes.string, scalar), ComponentSpec(dtypes.as_dtype(numbers.dtype), scalar)
        super().__init__(spec, len(files))

    def row(self, number: int) -> list[Array]:
        contents = np.empty((), object)
        contents[()] = self._read(number)
        return [contents, np.array(self._numbers[number])]

    def gather(self, numbers: Array) -> list[Array]:
        contents = np.empty(len(numbers), object)
        contents[:] = [self._read(number) for number in numbers.tolist()]
        return [contents, self._numbers.take(numbers)]

    def _read(self, number: int) -> bytes:
        with opened(self._files[number]) as file:
            return file.read()


def _listed(folder: str, folders: bool) -> list[str]:
    try:
        if is_url(folder):
            return sorted(name for name in names_in(folder) if is_folder(join(folder, name)) == folders)
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() == folders)
    except (FileNotFoundError, NotADirectoryError):
        raise errors.NotFoundError(f"{folder}: there is no such folder.") from None
