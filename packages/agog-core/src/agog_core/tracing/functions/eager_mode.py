"""Eager mode: whether traced functions run eagerly."""

from __future__ import annotations

import os

__all__ = ["functions_run_eagerly", "run_functions_eagerly"]

# Whether traced functions are called as they are: an entry for each reason.
eagerly: list[str] = ["AGOG_EAGER"] if os.environ.get("AGOG_EAGER", "") not in ("", "0") else []
_CALLED = "run_functions_eagerly"


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Choose whether functions that `function` has wrapped are called as they are, op by op, as for debugging.

    Args:
        run_eagerly: whether they are.

    >>> run_functions_eagerly(True)
    >>> functions_run_eagerly()
    True
    >>> run_functions_eagerly(False)
    """
    if _CALLED in eagerly:
        eagerly.remove(_CALLED)
    if run_eagerly:
        eagerly.append(_CALLED)


def functions_run_eagerly() -> bool:
    """Whether functions that `function` has wrapped are called as they are: see `run_functions_eagerly`.

    Returns:
        True where `run_functions_eagerly` or the environment variable ``AGOG_EAGER`` says so.

    >>> functions_run_eagerly()
    False
    """
    return bool(eagerly)
