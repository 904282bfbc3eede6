"""Strings: texts, their encodings, hashes and files."""

from agog_core.exports import export as _export
from agog_core.ops.strings.encoding import *
from agog_core.ops.strings.files import *
from agog_core.ops.strings.hashing import *
from agog_core.ops.strings.strings import *

# The functions of `case` are in tf.strings only, which imports them.
_export(globals())
