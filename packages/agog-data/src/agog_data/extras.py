"""Third-party packages that only some readers need."""

from __future__ import annotations

from typing import NoReturn


def missing(user: str, package: str, extra: str, error: ImportError) -> NoReturn:
    """Say how to install a package that could not be imported.

    Args:
        user: what needs it.
        package: its name on the package index.
        extra: agog-data's extra that brings it.
        error: what the import raised.

    Raises:
        ImportError: always.
    """
    raise ImportError(f"{user} needs the package {package}: pip install agog-data[{extra}]") from error
