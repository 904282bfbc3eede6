"""``tf.contrib.lookup``: tables that give each of many keys its value."""

from agog_compat.lookup import *
from agog_compat.lookup import index_table_from_file as string_to_index_table_from_file
from agog_compat.lookup import index_table_from_tensor as string_to_index_table_from_tensor
from agog_core.exports import export as _export

_export(globals())
