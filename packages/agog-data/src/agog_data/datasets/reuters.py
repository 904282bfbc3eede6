"""Reuters: 11228 newswires as lists of words' numbers, on 46 topics.

The database: D. D. Lewis, "Reuters-21578 text categorization test collection", 1997, as Keras has prepared it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_data.arguments import positive
from agog_data.datasets import word_lists
from agog_data.datasets.keras_files import MOST_BYTES, keras_file
from agog_data.datasets.npz import Array, read_npz
from agog_data.files import PathLike

__all__ = ["get_label_names", "get_word_index", "load_data"]

# Of what is published now, and of what was when TensorFlow 1.12 was.
CHECKSUMS = (
    "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    "87aedbeb0cb229e378797a632c1997b6",
)
# The topics, by their labels.
TOPICS = (
    "cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton carcass "
    "crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi "
    "iron-steel rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog lead"
)
WORD_INDEX_CHECKSUM = "4d44cc38712099c9e383dc6e5f11a921"


def load_data(
    path: PathLike = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: Any = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    *,
    max_bytes: int | None = None,
    **ignored: Any,
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Read the newswires of Reuters, and download them if they are not there yet.

    Words are numbered by how often they occur.

    Args:
        path: the ``.npz`` file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``. Its
            lists are pickled: they are read without Python's reader of pickles, and nothing that they name is called.
        num_words: words of this number and higher ones become ``oov_char``; None for that of the last word.
        skip_top: so do words below this number.
        maxlen: texts of this length, with their mark, and longer ones are left out; None for none.
        test_split: which part of the texts is for the test.
        seed: determines their order, as in Keras; None for another one each time.
        start_char: what each text begins with; None for nothing.
        oov_char: what stands for words that are left out; None to leave them out altogether.
        index_from: what is added to the numbers of words.
        max_bytes: how many bytes an array of the file may have; None for 2**26.
        **ignored: ``nb_words``, the older name of ``num_words``.

    Returns:
        ``(x_train, y_train), (x_test, y_test)``: arrays of 8982 and 2246 lists of ints, and int64 labels of shape
        (8982,) and (2246,), from 0 to 45.

    Raises:
        ValueError: no text is shorter than ``maxlen``, or ``test_split`` is not from 0 to 1.
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        ResourceExhaustedError: an array of the file has more than ``max_bytes``.
        DataLossError: the file is not what its name says, is damaged, or holds something else than lists of integers.

    >>> import tempfile
    >>> texts = np.empty(2, object)
    >>> texts[:] = [[1, 2, 3], [4, 1]]
    >>> file = f"{tempfile.mkdtemp()}/own.npz"
    >>> np.savez(file, x=texts, y=[45, 3])
    >>> (x_train, y_train), (x_test, y_test) = load_data(file, num_words=6, test_split=0.5)
    >>> x_train.tolist(), y_train.tolist(), x_test.tolist()
    ([[1, 4, 5, 2]], [45], [[1, 2, 4]])
    """
    name = "reuters.load_data"
    num_words = word_lists.older_name(name, num_words, ignored)
    most = MOST_BYTES if max_bytes is None else positive(name, "max_bytes", max_bytes)
    if not 0 <= test_split <= 1:
        raise ValueError(f"{name}: test_split must be from 0 to 1; got {test_split!r}.")
    file = keras_file(path, "reuters.npz", CHECKSUMS)
    texts, labels = read_npz(file, ("x", "y"), most)
    word_lists.check_texts(name, file, texts, labels)
    texts, labels = word_lists.shuffled(np.random.RandomState(seed), texts, labels)
    lists, labels = word_lists.shorter(name, maxlen, word_lists.marked(name, texts, start_char, index_from), labels)
    x = word_lists.as_array(word_lists.limited(name, lists, num_words, skip_top, oov_char))
    count = int(len(x) * (1 - test_split))
    return (x[:count], labels[:count]), (x[count:], labels[count:])


def get_word_index(path: PathLike = "reuters_word_index.json") -> dict[str, int]:
    """Read the numbers of words, and download them if they are missing; `load_data` adds ``index_from`` to them.

    Args:
        path: the JSON file; a relative path begins in ``datasets`` of ``$KERAS_HOME``, or of ``~/.keras``.

    Returns:
        A dict of 30979 words.

    Raises:
        PermissionDeniedError: the file is missing, and its folder cannot be made.
        UnavailableError: the file is missing and cannot be downloaded.
        DataLossError: the file is not what its name says, or is damaged.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "own.json"
    >>> _ = file.write_text('{"the": 1, "cocoa": 19}')
    >>> get_word_index(file)
    {'the': 1, 'cocoa': 19}
    """
    return word_lists.read_word_index(
        "reuters.get_word_index", keras_file(path, "reuters_word_index.json", [WORD_INDEX_CHECKSUM])
    )


def get_label_names() -> tuple[str, ...]:
    """Give the names of the topics.

    Returns:
        The 46 names, in the order of their labels.

    >>> get_label_names()[3]
    'earn'
    """
    return tuple(TOPICS.split())
