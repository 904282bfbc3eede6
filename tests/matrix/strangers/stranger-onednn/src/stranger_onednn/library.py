"""Library: the file of oneDNN that its wheel brings, and why it cannot be used here."""

from __future__ import annotations

import importlib.metadata
from functools import cache

WHEEL = "onednn-cpu-gomp"


@cache
def path() -> str:
    """The library's file; the wheel lays it into the environment's folder ``lib``, beside no package."""
    for file in importlib.metadata.distribution(WHEEL).files or ():
        if file.name == "libdnnl.so.3":
            return str(file.locate())
    raise FileNotFoundError(f"{WHEEL} has no libdnnl.so.3")


@cache
def unavailable() -> str | None:
    """Why oneDNN cannot be loaded here, such as for lack of the system's libgomp.so.1; or None."""
    try:
        import stranger_onednn.api  # noqa: F401  # which loads it
    except Exception as error:
        return f"oneDNN cannot be loaded: {type(error).__name__}: {error}"
    return None
