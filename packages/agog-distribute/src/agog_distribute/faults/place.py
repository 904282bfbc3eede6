"""Place: the line of the program that led here."""

from __future__ import annotations

import sys
from types import FrameType

Place = tuple[str, int]
"""A file and a line of it."""


def line_of_program() -> Place:
    """The file and the line outside agog that led here."""
    return place_of(sys._getframe(1))


def place_of(frame: FrameType) -> Place:
    """The file and the line outside agog that led to a frame."""
    while frame.f_back is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(("agog.", "agog_")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
