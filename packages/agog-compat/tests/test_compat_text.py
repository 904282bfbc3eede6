"""Text: bytes and strings, under the names that programs for Python 2 and 3 use."""

from __future__ import annotations

from agog_compat.text import as_bytes, as_str_any, as_text
from agog_testing import says


def test_text_and_bytes() -> None:
    assert as_bytes("grün") == "grün".encode() == as_bytes("grün".encode())
    assert as_text("grün".encode()) == "grün" == as_text("grün")
    assert (as_str_any(b"a"), as_str_any(None)) == ("a", "None")
    for function in (as_bytes, as_text):
        with says(TypeError, f"{function.__name__}: expected str or bytes; got 3 of type int."):
            function(3)  # type: ignore[arg-type]  # what is tested
