"""Published weights: the files of weights that Keras offers for its networks."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Published"]

_STORAGE = "https://storage.googleapis.com"
# What the names of Keras's files have in common: the order of axes is TensorFlow's.
KERNELS = "weights_tf_dim_ordering_tf_kernels"


class Published(NamedTuple):
    """Where the weights of a network are, with the top and without, and the MD5 checksums of these files, if known."""

    folder: str
    files: tuple[str, str]
    checksums: tuple[str | None, str | None]

    def fetch(self, include_top: bool) -> str:
        """The path of the file, which is downloaded unless Keras or agog has it already."""
        from agog_data.datasets.fetching import get_file  # here, because networks with other weights do not need it

        which = 0 if include_top else 1
        file = self.files[which]
        origin = f"{_STORAGE}/{self.folder}/{file}"
        return get_file(file, origin, cache_subdir="models", file_hash=self.checksums[which])


def published(folder: str, network: str, *checksums: str) -> Published:
    """The files of a network, in a folder of Keras's, under the names that most have."""
    with_top, without_top = checksums
    files = (f"{network}_{KERNELS}.h5", f"{network}_{KERNELS}_notop.h5")
    return Published(f"tensorflow/keras-applications/{folder}", files, (with_top, without_top))
