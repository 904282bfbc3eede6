"""Conftest: what each test of this member begins with."""

from collections.abc import Iterator

import pytest

from agog_training.saving import told


@pytest.fixture(autouse=True)
def _nothing_is_told_yet() -> Iterator[None]:
    """Let each test get the warnings that a program gets once."""
    told.functions.clear()
    yield
    told.functions.clear()
