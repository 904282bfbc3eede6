"""Expected failures: tests of the conformance kit that fail, each with the reason."""

from __future__ import annotations

EXPECTED_FAILURES: dict[str, str] = {}
