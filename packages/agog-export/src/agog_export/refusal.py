"""Refusal: why something cannot be exported."""

from __future__ import annotations


class Refusal(Exception):
    """A rule's reason; who asks adds the op and the line."""
