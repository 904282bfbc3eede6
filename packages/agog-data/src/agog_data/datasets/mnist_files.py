"""The MNIST database of handwritten digits, from its four files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core import errors
from agog_data.datasets import idx
from agog_data.files import PathLike

if TYPE_CHECKING:
    from pathlib import Path

Images = np.ndarray[Any, np.dtype[np.uint8]]
Labels = np.ndarray[Any, np.dtype[np.uint8]]
Split = tuple[Images, Labels]

_IMAGES_MAGIC = 0x00000803  # uint8, three axes
_LABELS_MAGIC = 0x00000801  # uint8, one axis
_CLASSES = 10


def mnist(directory: PathLike, *, max_bytes: int | None = None) -> tuple[Split, Split]:
    """Read MNIST, or a database in its format, such as Fashion-MNIST.

    The database: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
    1998.

    Args:
        directory: the folder of ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte``
            and ``t10k-labels-idx1-ubyte``, each as it is or compressed, then named ``....gz``.
        max_bytes: how many bytes a compressed file may have, decompressed; None for 2**32, four GiB.

    Returns:
        ``(train_images, train_labels), (test_images, test_labels)``: uint8 images of shape (n, rows, columns), 60000
        and 10000 of 28 by 28 in MNIST itself, and uint8 labels of shape (n,), from 0 to 9.

    Raises:
        NotFoundError: a file is missing.
        ResourceExhaustedError: one is compressed, and has more than ``max_bytes``.
        DataLossError: a file is not what its name says, is incomplete, or does not fit the others.
    """
    from pathlib import Path  # here, because its import takes milliseconds

    return _split(Path(directory), "train", max_bytes), _split(Path(directory), "t10k", max_bytes)


def _split(directory: Path, name: str, max_bytes: int | None) -> Split:
    images_file = _find(directory, f"{name}-images-idx3-ubyte")
    labels_file = _find(directory, f"{name}-labels-idx1-ubyte")
    images = idx.read(images_file, _IMAGES_MAGIC, max_bytes=max_bytes)
    labels = idx.read(labels_file, _LABELS_MAGIC, max_bytes=max_bytes)
    if len(images) != len(labels):
        raise errors.DataLossError(
            f"{labels_file}: at byte 4: {len(labels)} labels, but {images_file} has {len(images)} images."
        )
    wrong = np.flatnonzero(labels >= _CLASSES)
    if wrong.size:
        first = int(wrong[0])
        raise errors.DataLossError(
            f"{labels_file}: at byte {8 + first}: a label from 0 to 9 is expected; it is {labels[first]}."
        )
    return images, labels


def _find(directory: Path, name: str) -> Path:
    for file in (directory / name, directory / f"{name}.gz"):
        if file.exists():
            return file
    raise errors.NotFoundError(
        f"{directory / name}: there is no such file, nor {name}.gz beside it. "
        "agog_data.datasets.download_mnist() fetches the four files of MNIST."
    )
