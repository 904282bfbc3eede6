"""Test cases: what users derive from `tf.test.TestCase`."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_compat.testing.test_case import TestCase


class ExampleTest(TestCase):
    """Its methods are the tests."""

    def test_numbers_are_seeded(self) -> None:
        first = ag.random_uniform([3]).numpy()
        self.setUp()
        self.assertAllEqual(first, ag.random_uniform([3]))

    def test_comparisons(self) -> None:
        self.assertAllEqual(ag.constant([1, 2]), [1, 2])
        self.assertAllClose([ag.constant(1.0), ag.constant([2.0])], [np.float32(1), np.float32([2])])
        self.assertNotAllClose(ag.constant(1.0), 2.0)
        self.assertNear(ag.constant(1.0), 1.01, 0.1)
        assert self.evaluate({"a": ag.constant(3)}) == {"a": 3}

    def test_failures(self) -> None:
        for compare in (self.assertAllEqual, self.assertAllClose):
            with pytest.raises(AssertionError):
                compare([1.0, 2.0], [1.0, 3.0])
            with pytest.raises(AssertionError, match=r"^The shapes \(1,\) and \(2,\) differ\.$"):
                compare([1.0], [1.0, 1.0])
        with pytest.raises(AssertionError, match=r"^The two values are close:\n1\.0\n1\.0$"):
            self.assertNotAllClose(1.0, 1.0)
        with pytest.raises(AssertionError, match=r"^1\.0 and 2\.0 differ by more than 0\.5\.$"):
            self.assertNear(1.0, 2.0, 0.5)
