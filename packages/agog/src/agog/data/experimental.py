"""``tf.data.experimental``: transformations for ``dataset.apply(...)``, and other datasets."""

from agog_data.transformations.flattening import enumerate_dataset

__all__ = ["enumerate_dataset"]
