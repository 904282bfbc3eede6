"""Digits: the handwritten digits in scikit-learn, without files or network."""

from __future__ import annotations

import numpy as np

from agog_core import errors
from agog_data.datasets.mnist_files import Split
from agog_data.random_stream import permutation

_TEST_EVERY = 5
_LARGEST_PIXEL = 16


def digits() -> tuple[Split, Split]:
    """The handwritten digits of scikit-learn, 8 by 8 pixels, in the form of `agog_data.datasets.mnist`.

    The database: E. Alpaydin, C. Kaynak, "Optical recognition of handwritten digits", UCI Machine Learning Repository,
    1998.

    Returns:
        ``(train_images, train_labels), (test_images, test_labels)``: uint8 images of shapes (1437, 8, 8) and (360, 8,
        8), from 0 to 255, and uint8 labels from 0 to 9. The split is random, and always the same.

    Raises:
        NotFoundError: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise errors.NotFoundError(
            "digits: scikit-learn, which carries these images, is not installed. Install it: pip install scikit-learn"
        ) from error
    pixels, labels = load_digits(return_X_y=True)
    images = np.rint(pixels * (255 / _LARGEST_PIXEL)).astype(np.uint8).reshape(-1, 8, 8)
    labels = labels.astype(np.uint8)
    order = permutation(len(images), np.random.Philox(key=0))
    by_label = order[np.argsort(labels[order], kind="stable")]
    is_test = np.zeros(len(images), bool)
    is_test[by_label[::_TEST_EVERY]] = True
    train, test = order[~is_test[order]], order[is_test[order]]
    return (images[train], labels[train]), (images[test], labels[test])
