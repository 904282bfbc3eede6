"""IMDB: 50000 reviews of films as lists of words' numbers, half of them positive.

The database: A. L. Maas and others, "Learning word vectors for sentiment analysis", 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_data.arguments import positive
from agog_data.datasets import word_lists
from agog_data.datasets.keras_files import MOST_BYTES, keras_file
from agog_data.datasets.npz import Array, read_npz
from agog_data.files import PathLike

__all__ = ["get_word_index", "load_data"]

# Of what is published now, and of what was when TensorFlow 1.12 was.
CHECKSUMS = (
    "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    "599dadb1135973df5b59232a0e9a887c",
)
WORD_INDEX_CHECKSUM = "bfafd718b763782e994055a2d397834f"


def load_data(
    path: PathLike = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: Any = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    *,
    max_bytes: int | None = None,
    **ignored: Any,
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Read the reviews of IMDB, and download them if they are not there yet.

    Words are numbered by how often they occur. With ``maxlen``, reviews stay in the half that they are from; those of
    the test moved up into the training in TensorFlow 1.12.

    Args:
        path: the ``.npz`` file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``. Its
            lists are pickled: they are read without Python's reader of pickles, and nothing that they name is called.
        num_words: words of this number and higher ones become ``oov_char``; None for that of the last word.
        skip_top: so do words below this number.
        maxlen: reviews of this length, with their mark, and longer ones are left out; None for none.
        seed: determines their order, as in Keras; None for another one each time.
        start_char: what each review begins with; None for nothing.
        oov_char: what stands for words that are left out; None to leave them out altogether.
        index_from: what is added to the numbers of words.
        max_bytes: how many bytes an array of the file may have; None for 2**26.
        **ignored: ``nb_words``, the older name of ``num_words``.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: arrays of 25000 lists of ints each, and int64 labels of shape
        (25000,), 1 for a positive review and 0 for a negative one.

    Raises:
        ValueError: no review is shorter than ``maxlen``.
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: an array of the file has more than ``max_bytes``.
        DataLossError: the file is not what its name says, is damaged, or holds something else than lists of integers.

    >>> import tempfile
    >>> reviews = np.empty(2, object)
    >>> reviews[:] = [[1, 2, 3], [4, 1]]
    >>> file = f"{tempfile.mkdtemp()}/own.npz"
    >>> np.savez(file, x_train=reviews, y_train=[1, 0], x_test=reviews, y_test=[1, 0])
    >>> (x_train, y_train), (x_test, y_test) = load_data(file, num_words=6)
    >>> list(zip(x_train.tolist(), y_train.tolist()))
    [([1, 4, 5, 2], 1), ([1, 2, 4], 0)]
    """
    name = "imdb.load_data"
    num_words = word_lists.older_name(name, num_words, ignored)
    most = MOST_BYTES if max_bytes is None else positive(name, "max_bytes", max_bytes)
    file = keras_file(path, "imdb.npz", CHECKSUMS)
    arrays = read_npz(file, ("x_train", "y_train", "x_test", "y_test"), most)
    random = np.random.RandomState(seed)
    parts = []
    for texts, labels in (arrays[:2], arrays[2:]):
        word_lists.check_texts(name, file, texts, labels)
        texts, labels = word_lists.shuffled(random, texts, labels)
        parts.append(word_lists.shorter(name, maxlen, word_lists.marked(name, texts, start_char, index_from), labels))
    (x_train, y_train), (x_test, y_test) = parts
    x = word_lists.as_array(word_lists.limited(name, x_train + x_test, num_words, skip_top, oov_char))
    return (x[: len(x_train)], y_train), (x[len(x_train) :], y_test)


def get_word_index(path: PathLike = "imdb_word_index.json") -> dict[str, int]:
    """Read the numbers of words, and download them if they are missing; `load_data` adds ``index_from`` to them.

    Args:
        path: the JSON file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``.

    Returns:
        A dict of 88584 words.

    Raises:
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        DataLossError: the file is not what its name says, or is damaged.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "own.json"
    >>> _ = file.write_text('{"the": 1, "film": 19}')
    >>> get_word_index(file)
    {'the': 1, 'film': 19}
    """
    return word_lists.read_word_index(
        "imdb.get_word_index", keras_file(path, "imdb_word_index.json", [WORD_INDEX_CHECKSUM])
    )
