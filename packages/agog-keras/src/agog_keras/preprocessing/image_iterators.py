"""Image iterators: batches of an `ImageDataGenerator`, from arrays and files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_keras.preprocessing.folders import labeled_files
from agog_keras.preprocessing.images import CHANNELS, SUFFIXES, img_to_array, load_img
from agog_keras.preprocessing.labels import to_categorical
from agog_layers.arguments.checks import choice
from agog_training.sequence import Sequence as BatchSequence

if TYPE_CHECKING:
    from agog_keras.preprocessing.image_generator import ImageDataGenerator

__all__ = ["DirectoryIterator", "NumpyArrayIterator"]

Array = np.ndarray[Any, Any]


class Batches(BatchSequence):
    """Base of the batches that an `ImageDataGenerator` changes: they go on forever, and are there by number too."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle = n, batch_size, shuffle
        self._random = np.random.Generator(np.random.Philox(seed))
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__}: there are {len(self)} batches; got the number {index}.")
        return self.batch(self._order[index * self.batch_size : (index + 1) * self.batch_size])

    def batch(self, rows: Array) -> Any:
        """The images of some numbers, and their labels; subclasses say which."""
        raise NotImplementedError(f"{type(self).__name__}.batch is not implemented; it returns images and labels.")

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from super().__iter__()

    def __next__(self) -> Any:
        self._batches = getattr(self, "_batches", None) or iter(self)
        return next(self._batches)

    def next(self) -> Any:
        """The next batch.

        Returns:
            The images, or a pair of images and labels.
        """
        return next(self)

    def reset(self) -> None:
        """Begin with the first batch again."""
        self._batches = iter(self)

    def on_epoch_end(self) -> None:
        """See `Sequence.on_epoch_end`; it shuffles."""
        self._order = self._random.permutation(self.n) if self.shuffle else np.arange(self.n)


class NumpyArrayIterator(Batches):
    """The batches of arrays that an `ImageDataGenerator` changes: it goes on forever, and has batches by number.

    Args:
        x: images of shape (n, height, width, channels).
        y: labels; None for none.
        generator: the `ImageDataGenerator`.
        batch_size: the number of images in a batch.
        shuffle: whether each epoch has its own order.
        seed: determines the order.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> None:
        self.x, self.y = np.asarray(x), None if y is None else np.asarray(y)
        if self.x.ndim != 4 or (self.y is not None and len(self.y) != len(self.x)):
            raise ValueError(
                "ImageDataGenerator.flow: x must be of shape (n, height, width, channels), and y of n labels; got "
                f"{self.x.shape} and {None if self.y is None else self.y.shape}."
            )
        self.generator = generator
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def batch(self, rows: Array) -> Any:
        images = self.generator.changed(self.x[rows])
        return images if self.y is None else (images, self.y[rows])


class DirectoryIterator(Batches):
    """The batches of images in a folder that an `ImageDataGenerator` changes: it goes on forever, and has batches by
    number.

    Args:
        directory: a folder that has a folder for each class.
        image_data_generator: the `ImageDataGenerator`.
        target_size: the height and width of all images.
        color_mode: ``"rgb"``, ``"rgba"`` or ``"grayscale"``.
        classes: the names of the classes, in the order of their numbers; None for all folders, sorted.
        class_mode: what labels are: ``"categorical"`` for one-hot vectors, ``"binary"`` and ``"sparse"`` for numbers of
            float32, ``"input"`` for the images themselves, None for no labels.
        batch_size: the number of images in a batch.
        shuffle: whether each epoch has its own order.
        seed: determines the order.
        follow_links: whether links to folders are followed.
        subset: ``"training"`` or ``"validation"``, as the generator's ``validation_split`` parts each class.
        interpolation: how another size is made; see `load_img`.

    Raises:
        NotFoundError: there is no such folder.
        ValueError: there is no image in it, or the arguments do not go together.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        image_data_generator: ImageDataGenerator,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Sequence[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> None:
        function, modes = "flow_from_directory", ("categorical", "binary", "sparse", "input")
        if class_mode is not None:
            choice(function, "class_mode", class_mode, modes)
        found = labeled_files(function, directory, "inferred", classes, SUFFIXES, follow_links)
        assert found.labels is not None
        assert found.class_names is not None
        if class_mode == "binary" and len(found.class_names) != 2:
            raise ValueError(
                f"{function}: class_mode='binary' goes with 2 classes; there are {len(found.class_names)}: "
                f"{found.class_names}."
            )
        each = [np.flatnonzero(found.labels == number) for number in range(len(found.class_names))]
        rows = np.concatenate([places[image_data_generator.part(len(places), subset)] for places in each])
        self.directory, self.image_data_generator = os.fspath(directory), image_data_generator
        self.filepaths = [found.paths[row] for row in rows]
        self.filenames = [os.path.relpath(path, self.directory) for path in self.filepaths]
        self.classes: Any = found.labels[rows]
        self.labels = self.classes
        self.class_indices = {name: number for number, name in enumerate(found.class_names)}
        self.num_classes, self.samples, self.class_mode = len(found.class_names), len(rows), class_mode
        self.target_size, self.color_mode, self.interpolation = target_size, color_mode, interpolation
        channels = CHANNELS[choice(function, "color_mode", color_mode, tuple(CHANNELS))]
        self.data_format = image_data_generator.data_format
        is_first = self.data_format == "channels_first"
        self.image_shape = (channels, *target_size) if is_first else (*target_size, channels)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def batch(self, rows: Any) -> Any:
        pictures = [
            img_to_array(
                load_img(self.filepaths[row], self.color_mode, self.target_size, self.interpolation), self.data_format
            )
            for row in rows
        ]
        images = self.image_data_generator.changed(np.stack(pictures))
        if self.class_mode is None:
            return images
        if self.class_mode == "input":
            return images, images.copy()
        classes = self.classes[rows]
        if self.class_mode == "categorical":
            return images, to_categorical(classes, self.num_classes)
        return images, classes.astype("float32")
