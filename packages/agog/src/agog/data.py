"""``tf.data``: datasets and iterators; ``datasets`` reads well-known ones, ``readers`` formats of files."""

from typing import TYPE_CHECKING, Any

from agog_data import Dataset, Iterator

if TYPE_CHECKING:
    from agog_data import datasets, readers

__all__ = ["Dataset", "Iterator", "datasets", "readers"]


def __getattr__(name: str) -> Any:
    if name == "datasets":  # most programs do not read these files, so the readers are imported on first use
        import agog_data.datasets

        return agog_data.datasets
    if name == "readers":
        import agog_data.readers

        return agog_data.readers
    raise AttributeError(f"module 'agog.data' has no attribute {name!r}")
