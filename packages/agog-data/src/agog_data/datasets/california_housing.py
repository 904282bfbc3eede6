"""California housing: prices of houses in districts of California in 1990, by 8 numbers.

The database: R. K. Pace, R. Barry, "Sparse spatial autoregressions", Statistics and Probability Letters, 1997.
"""

from __future__ import annotations

from typing import Any

from agog_data.arguments import positive
from agog_data.datasets.housing import Split, check_split, divided, read_prices
from agog_data.datasets.keras_files import MOST_BYTES, keras_file
from agog_data.files import PathLike

__all__ = ["load_data"]

CHECKSUM = "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f"
_SMALL = 600


def load_data(
    version: str = "large",
    path: PathLike = "california_housing.npz",
    test_split: float = 0.2,
    seed: Any = 113,
    *,
    max_bytes: int | None = None,
) -> tuple[Split, Split]:
    """Read the California housing prices, and download them if they are not there yet.

    Args:
        version: ``"large"`` for all 20640 districts, ``"small"`` for the first 600.
        path: the ``.npz`` file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``.
        test_split: which part of the examples is for the test.
        seed: determines their order, as in Keras; None for another one each time.
        max_bytes: how many bytes an array of the file may have; None for 2**26.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: arrays of floats of shape (16512, 8) and (4128, 8), and prices in
        dollars, floats of shape (16512,) and (4128,).

    Raises:
        ValueError: there is no such version, or ``test_split`` is not at least 0 and less than 1.
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: an array of the file has more than ``max_bytes``.
        DataLossError: the file is not what its name says, or is damaged.

    >>> import tempfile
    >>> import numpy as np
    >>> file = f"{tempfile.mkdtemp()}/own.npz"
    >>> np.savez(file, x=np.arange(20.0).reshape(10, 2), y=np.arange(10.0))
    >>> (x_train, y_train), (x_test, y_test) = load_data(path=file)
    >>> x_train.shape, y_test.shape
    ((8, 2), (2,))
    """
    check_split("california_housing.load_data", test_split)
    if version not in ("large", "small"):
        raise ValueError(f"california_housing.load_data: version must be 'large' or 'small'; got {version!r}.")
    most = MOST_BYTES if max_bytes is None else positive("california_housing.load_data", "max_bytes", max_bytes)
    file = keras_file(path, "california_housing.npz", [CHECKSUM])
    x, y = read_prices("california_housing.load_data", file, most)
    count = _SMALL if version == "small" else len(x)
    return divided(x[:count], y[:count], test_split, seed)
