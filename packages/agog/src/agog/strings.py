"""``tf.strings``: joining, splitting, matching and hashing of strings."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.texts import lower, upper
from agog_core.ops.control.printing import format
from agog_core.ops.strings.encoding import as_string
from agog_core.ops.strings.encoding import string_to_number as to_number
from agog_core.ops.strings.hashing import string_to_hash_bucket as to_hash_bucket
from agog_core.ops.strings.hashing import string_to_hash_bucket_fast as to_hash_bucket_fast
from agog_core.ops.strings.hashing import string_to_hash_bucket_strong as to_hash_bucket_strong
from agog_core.ops.strings.strings import reduce_join, regex_full_match, regex_replace, substr
from agog_core.ops.strings.strings import string_join as join
from agog_core.ops.strings.strings import string_length as length
from agog_core.ops.strings.strings import string_split_v2 as split
from agog_core.ops.strings.strings import string_strip as strip

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "upper",
]

__getattr__ = _taught(__name__)
