"""``tf.strings``: joining, splitting, matching and hashing of strings."""

from agog_compat.advice import face as _face
from agog_core.ops.control.printing import format as format
from agog_core.ops.strings.case import *
from agog_core.ops.strings.encoding import as_string as as_string
from agog_core.ops.strings.encoding import string_to_number as to_number
from agog_core.ops.strings.hashing import string_to_hash_bucket as to_hash_bucket
from agog_core.ops.strings.hashing import string_to_hash_bucket_fast as to_hash_bucket_fast
from agog_core.ops.strings.hashing import string_to_hash_bucket_strong as to_hash_bucket_strong
from agog_core.ops.strings.strings import reduce_join as reduce_join
from agog_core.ops.strings.strings import regex_full_match as regex_full_match
from agog_core.ops.strings.strings import regex_replace as regex_replace
from agog_core.ops.strings.strings import string_join as join
from agog_core.ops.strings.strings import string_length as length
from agog_core.ops.strings.strings import string_split_v2 as split
from agog_core.ops.strings.strings import string_strip as strip
from agog_core.ops.strings.strings import substr as substr

_face(globals())
