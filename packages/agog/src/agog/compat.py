"""``tf.compat``: text and bytes."""

from agog_compat.advice import taught as _taught
from agog_compat.text import as_bytes, as_str_any, as_text
from agog_compat.text import as_text as as_str

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text"]

__getattr__ = _taught(__name__)
