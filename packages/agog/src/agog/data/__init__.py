"""``tf.data``: datasets and iterators; ``datasets`` reads well-known ones, ``readers`` formats of files.

``experimental`` has transformations for ``dataset.apply(...)``.
"""

from typing import TYPE_CHECKING

from agog_compat.advice import taught as _taught
from agog_compat.habits import OF_DATASETS as _OF_DATASETS
from agog_compat.habits import teach as _teach
from agog_core.exports import Some as _Some
from agog_core.exports import later as _later
from agog_data import Dataset as Dataset
from agog_data import Iterator as Iterator
from agog_data.arguments import AUTOTUNE as AUTOTUNE
from agog_data.stage import INFINITE as INFINITE_CARDINALITY
from agog_data.stage import UNKNOWN as UNKNOWN_CARDINALITY

if TYPE_CHECKING:
    from agog.data import experimental as experimental
    from agog_data import datasets as datasets
    from agog_data import readers as readers
    from agog_data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
    from agog_data.readers import TextLineDataset as TextLineDataset
    from agog_data.readers import TFRecordDataset as TFRecordDataset

# What most programs do without is imported when one of its names is asked for.
__getattr__, __dir__ = _later(
    __name__,
    modules={
        "datasets": "agog_data.datasets",
        "experimental": "agog.data.experimental",
        "readers": "agog_data.readers",
    },
    rooms=[_Some("agog_data.readers", "FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")],
)
__getattr__ = _taught(__name__, __getattr__)

_teach(Dataset, _OF_DATASETS)
