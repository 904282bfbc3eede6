"""Datasets of what files hold: each reads as it goes, and continues at the exact element."""

from agog_data.readers.arrays import NumpyDataset

__all__ = ["NumpyDataset"]
