"""CIFAR-100: small pictures of things and animals in a hundred classes of twenty groups.

The database: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
"""

from __future__ import annotations

from functools import partial

from agog_data.arguments import positive
from agog_data.datasets.cifar import MOST_BYTES, Format, Split, decoded_batch, is_whole, read_cifar
from agog_data.datasets.keras_files import kept, keras_file
from agog_data.files import PathLike

__all__ = ["load_data"]

MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
ARCHIVE = "cifar-100-python.tar.gz"
# As Keras has it, and as published on the database's page.
CHECKSUMS = (
    "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    "eb9058c3a382ffc7106e4002c42a8d85",
)
# Where TensorFlow 1.12 and Keras 3 put it.
_OF_KERAS = ("cifar-100-python", ARCHIVE, "cifar-100-python-target/cifar-100-python", "cifar-100-python-target_archive")
_CLASSES = {"fine": 100, "coarse": 20}


def load_data(
    label_mode: str = "fine", path: PathLike | None = None, *, max_bytes: int | None = None
) -> tuple[Split, Split]:
    """Read CIFAR-100, and download it if it is not there yet.

    Args:
        label_mode: ``"fine"`` for the hundred classes, ``"coarse"`` for the twenty groups.
        path: a folder that has the files ``train`` and ``test``, or ``cifar-100-python.tar.gz``, which is not unpacked;
            a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``. None for where Keras keeps
            it. The files are pickled: they are read without Python's reader of pickles, and nothing that they name is
            called.
        max_bytes: how many bytes the files may have, decompressed; None for 2**28, a quarter of a GiB.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: uint8 images of shape (50000, 32, 32, 3) and (10000, 32, 32, 3), and
        int64 labels of shape (50000, 1) and (10000, 1).

    Raises:
        ValueError: there is no such ``label_mode``.
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: there are more than ``max_bytes``.
        DataLossError: a file is not what its name says, or is incomplete.
    """
    if label_mode not in _CLASSES:
        raise ValueError(f"cifar100.load_data: label_mode must be 'fine' or 'coarse'; got {label_mode!r}.")
    most = MOST_BYTES if max_bytes is None else positive("cifar100.load_data", "max_bytes", max_bytes)
    decoded = partial(decoded_batch, key=f"{label_mode}_labels", classes=_CLASSES[label_mode])
    formats = [Format(["train"], "test", decoded)]
    places = map(kept, _OF_KERAS if path is None else [path])
    place = next((place for place in places if is_whole(place, formats)), None)
    if place is None:
        place = keras_file(ARCHIVE if path is None else path, ARCHIVE, CHECKSUMS, MOST_BYTES, MIRRORS)
    return read_cifar(place, formats, most)
