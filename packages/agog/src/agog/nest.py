"""``tf.nest``: nested tuples, lists and dicts of values."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.structures import assert_same_structure, map_structure, pack_sequence_as
from agog_core.nest import flatten, is_nested

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]

__getattr__ = _taught(__name__)
