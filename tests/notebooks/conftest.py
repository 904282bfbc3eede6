"""Without nbclient there is nothing to collect: `nox -s notebooks` has it."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("nbclient") is None or find_spec("ipykernel") is None:
    collect_ignore_glob = ["*"]
