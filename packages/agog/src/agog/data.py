"""``tf.data``: datasets and iterators; ``datasets`` reads well-known ones."""

from agog_data import Dataset, Iterator, datasets

__all__ = ["Dataset", "Iterator", "datasets"]
