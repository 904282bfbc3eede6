"""Boston housing: prices of houses around Boston in the 1970s, by 13 numbers.

The database: D. Harrison, D. L. Rubinfeld, "Hedonic prices and the demand for clean air", 1978. One of its numbers, B,
supposes that people prefer neighbours of their own skin colour: use it to show what data can carry, not to predict.
"""

from __future__ import annotations

from typing import Any

from agog_data.arguments import positive
from agog_data.datasets.housing import Split, check_split, divided, read_prices
from agog_data.datasets.keras_files import MOST_BYTES, keras_file
from agog_data.files import PathLike

__all__ = ["load_data"]

CHECKSUM = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"


def load_data(
    path: PathLike = "boston_housing.npz", test_split: float = 0.2, seed: Any = 113, *, max_bytes: int | None = None
) -> tuple[Split, Split]:
    """Read the Boston housing prices, and download them if they are not there yet.

    Args:
        path: the ``.npz`` file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``.
        test_split: which part of the examples is for the test.
        seed: determines their order, as in Keras; None for another one each time.
        max_bytes: how many bytes an array of the file may have; None for 2**26.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: float64 arrays of shape (404, 13) and (102, 13), and prices in
        thousands of dollars, float64 of shape (404,) and (102,).

    Raises:
        ValueError: ``test_split`` is not at least 0 and less than 1.
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: an array of the file has more than ``max_bytes``.
        DataLossError: the file is not what its name says, or is damaged.

    >>> import tempfile
    >>> import numpy as np
    >>> file = f"{tempfile.mkdtemp()}/own.npz"
    >>> np.savez(file, x=np.arange(20.0).reshape(10, 2), y=np.arange(10.0))
    >>> (x_train, y_train), (x_test, y_test) = load_data(file, test_split=0.3)
    >>> x_train.shape, y_test.shape
    ((7, 2), (3,))
    """
    check_split("boston_housing.load_data", test_split)
    most = MOST_BYTES if max_bytes is None else positive("boston_housing.load_data", "max_bytes", max_bytes)
    file = keras_file(path, "boston_housing.npz", [CHECKSUM])
    return divided(*read_prices("boston_housing.load_data", file, most), test_split, seed)
