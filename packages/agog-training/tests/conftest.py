"""Conftest: what each test of this member begins with."""

from collections.abc import Iterator

import pytest

from agog_training.saving import weights


@pytest.fixture(autouse=True)
def _nothing_is_told_yet() -> Iterator[None]:
    """Let each test get the warnings that a program gets once."""
    weights._warned.clear()
    yield
    weights._warned.clear()
