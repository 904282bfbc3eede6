"""Fake: a device to test devices. Code with wrong assumptions about devices fails on it, on any machine."""

from agog_fake.array import FakeArray
from agog_fake.backend import Copies, copies, reset_copies

__all__ = ["Copies", "FakeArray", "copies", "reset_copies"]
