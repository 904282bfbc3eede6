"""Buffering: methods of datasets that keep elements: for the next pass, or until they are asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agog_core.files import file_path
from agog_core.tensors.tensor import Tensor
from agog_data import arguments
from agog_data.methods.pipeline import Pipeline
from agog_data.stages.caching import Cache, MemoryStore
from agog_data.stages.prefetching import Prefetch

if TYPE_CHECKING:
    from agog_data.dataset import Dataset


class BufferingMethods(Pipeline):
    """Methods of datasets that keep elements: for the next pass, or until they are asked for."""

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, which are made in the first pass over all of them, and kept for the next ones.

        What is kept serves all iterators that begin a pass later, and stays as it is: random ops before the cache give
        the same in every epoch. A pass that ends early or raises keeps nothing: write ``take(5).cache()``, not
        ``cache().take(5)``. An iterator resumed without a complete cache computes the elements up to its position
        again; they are the same.

        Args:
            filename: a file for the elements, which other processes use too; it appears when the first pass is
                complete, and while it is written no other iterator may read the dataset. At a URL several may write
                one, and the first that is complete stays. The stages before it must be
                the same; remove the file after a change of a function, which is not noticed. Empty for the memory of
                this process.

        Returns:
            The dataset. Iterating raises `AlreadyExistsError` while another iterator writes the file,
            `ResourceExhaustedError` if the disk is full, `DataLossError` if the file is damaged, and
            `InvalidArgumentError` if it belongs to another dataset.

        Raises:
            TypeError: the name is neither a string nor a path.
            InvalidArgumentError: it holds a NUL character.

        >>> from agog_data import Dataset
        >>> made = []
        >>> dataset = Dataset.range(3).map(lambda x: made.append(int(x)) or x).cache()
        >>> [int(x) for x in dataset.repeat(2)], made
        ([0, 1, 2, 0, 1, 2], [0, 1, 2])
        """
        name = filename.numpy() if isinstance(filename, Tensor) else filename
        if not isinstance(name, (str, bytes, os.PathLike)):
            raise TypeError(f"cache: filename must be a string or a path; got {name!r} of type {type(name).__name__}.")
        path = file_path(repr(os.fsdecode(name)), name)
        if not path:
            return self._then(Cache(self._stage, MemoryStore()))
        from agog_data.stages.file_cache import FileStore  # most programs have no use for it

        return self._then(Cache(self._stage, FileStore(path)))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, computed ahead of the loop on a thread that ends with the iterator.

        Args:
            buffer_size: how many elements are kept ready; 0 for no thread, -1 or None for a number chosen here.

        Returns:
            The dataset.

        Raises:
            InvalidArgumentError: ``buffer_size`` is below -1.
        """
        size = -1 if buffer_size is None else arguments.count("prefetch", buffer_size, "buffer_size")
        return self._then(Prefetch(self._stage, 2 if size < 0 else size) if size else self._stage)
