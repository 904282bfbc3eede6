"""Fashion-MNIST: pictures of clothes in ten classes, in the files of MNIST.

The database: H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine learning
algorithms", 2017.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from agog_core import errors
from agog_data.datasets.download import cache_directory, checksum_difference, download
from agog_data.datasets.keras_files import kept
from agog_data.datasets.mnist_files import Split, mnist
from agog_data.files import PathLike

if TYPE_CHECKING:
    from pathlib import Path

MIRRORS = (
    "https://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
)
# As published with the database.
FILES = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
CLASSES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
_MOST_BYTES = 1 << 26


def load_data(path: PathLike = "fashion-mnist") -> tuple[Split, Split]:
    """Read Fashion-MNIST, and download it if it is not there yet.

    Args:
        path: the folder of its four files, compressed or not; a relative path begins in ``datasets`` of ``$KERAS_HOME``
            (or of ``~/.keras``), or in agog's folder of the user's cache, which they are downloaded into.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: uint8 images of shape (60000, 28, 28) and (10000, 28, 28), and uint8
        labels of shape (60000,) and (10000,), which are places in `CLASSES`.

    Raises:
        UnavailableError: a file is missing and cannot be downloaded.
        DataLossError: a file is not what its name says, is incomplete, or does not fit the others.
    """
    target = cache_directory(os.environ, sys.platform) / path
    for place in (kept(path), target):
        try:
            return mnist(place)
        except errors.NotFoundError:
            pass
    return mnist(download_fashion_mnist(target))


def download_fashion_mnist(directory: PathLike | None = None, mirrors: Sequence[str] = MIRRORS) -> Path:
    """Download the four files of Fashion-MNIST, those that are not there yet, and check them.

    Args:
        directory: the folder; None for ``agog/fashion-mnist`` in the user's cache. It is created.
        mirrors: the URLs of folders that have the files, tried in order.

    Returns:
        The folder.

    Raises:
        UnavailableError: no mirror could be reached.
        DataLossError: a mirror gave something else. The folder then has no such file.
    """
    target = cache_directory(os.environ, sys.platform) / ("fashion-mnist" if directory is None else directory)
    target.mkdir(parents=True, exist_ok=True)
    for name, md5 in FILES.items():
        difference = partial(checksum_difference, checksums=[md5])
        if difference(target / name) is not None:
            download(target / name, mirrors, difference, _MOST_BYTES, list(FILES))
    return target
