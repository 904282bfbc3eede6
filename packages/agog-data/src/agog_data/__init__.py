"""agog-data: datasets, iterators and file readers.

>>> from agog_data import Dataset
>>> for batch in Dataset.range(5).batch(2):
...     print(batch.numpy())
[0 1]
[2 3]
[4]
"""

from agog_data import datasets
from agog_data.dataset import Dataset
from agog_data.iterator import Iterator

__version__ = "0.1.0"

__all__ = ["Dataset", "Iterator", "datasets"]
