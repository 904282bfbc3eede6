"""``tf.lookup``: values by keys."""

from agog.lookup import experimental as experimental
from agog_compat.advice import taught as _taught
from agog_compat.tf2.tables import KeyValueTensorInitializer as KeyValueTensorInitializer
from agog_compat.tf2.tables import StaticHashTable as StaticHashTable
from agog_compat.tf2.tables import StaticVocabularyTable as StaticVocabularyTable
from agog_compat.tf2.tables import TextFileIndex as TextFileIndex
from agog_compat.tf2.tables import TextFileInitializer as TextFileInitializer
from agog_core.exports import export as _export

_export(globals(), "experimental")

__getattr__ = _taught(__name__)
