"""agog-data: datasets, iterators and file readers.

>>> from agog_data import Dataset
>>> for batch in Dataset.range(5).batch(2):
...     print(batch.numpy())
[0 1]
[2 3]
[4]
"""

from typing import TYPE_CHECKING, Any

from agog_data import factory as _making
from agog_data.dataset import Dataset
from agog_data.iterator import Iterator

if TYPE_CHECKING:
    from agog_data import datasets, readers

__version__ = "0.1.0"

__all__ = ["Dataset", "Iterator", "datasets", "readers"]


def _transformation(name: str) -> Any:
    from agog_data.transformations import counting, filtering, grouping, sampling, scanning  # most programs use none

    return next(
        getattr(each, name) for each in (counting, grouping, filtering, sampling, scanning) if hasattr(each, name)
    )


_making.register_transformations(_transformation)


def __getattr__(name: str) -> Any:
    if name == "datasets":  # most programs do not read these files, so the readers are imported on first use
        import agog_data.datasets

        return agog_data.datasets
    if name == "readers":
        import agog_data.readers

        return agog_data.readers
    raise AttributeError(f"module 'agog_data' has no attribute {name!r}")
