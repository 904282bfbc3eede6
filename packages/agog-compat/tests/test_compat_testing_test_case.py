"""Test cases: what users derive from `tf.test.TestCase`."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat.testing.test_case import TestCase
from agog_core.errors import InvalidArgumentError
from agog_core.variables.global_step import create_global_step, get_or_create_global_step
from agog_testing import says


class ExampleTest(TestCase):
    """Its methods are the tests."""

    def test_numbers_are_seeded(self) -> None:
        def numbers() -> list[Any]:
            return [ag.random_uniform([3]).numpy().tolist(), np.random.random(3).tolist(), random.random()]

        first = numbers()
        self.setUp()
        assert numbers() == first

    def test_the_global_step_is_made_again(self) -> None:
        step = get_or_create_global_step()
        self.setUp()
        assert int(create_global_step()) == 0
        assert get_or_create_global_step() is not step

    def test_values(self) -> None:
        assert self.evaluate({"a": ag.constant(3)}) == {"a": 3}
        assert self.evaluate(lambda: [ag.Variable(2.0), None]) == [2.0, None]

    def test_sessions_do_nothing(self) -> None:
        for session in (self.session, self.cached_session, self.test_session):
            with session(use_gpu=True) as value:
                assert value is None

    def test_the_folder_is_the_tests_own(self) -> None:
        folder = self.get_temp_dir()
        assert folder == self.get_temp_dir()
        assert os.listdir(folder) == []

    def test_texts(self) -> None:
        self.assertStartsWith("model/kernel", "model/")
        with says(AssertionError, "'kernel' does not start with 'model'. names"):
            self.assertStartsWith("kernel", "model", "names")
        self.assertItemsEqual([1, 2, 2], [2, 1, 2])
        with pytest.raises(AssertionError):
            self.assertItemsEqual([1, 2], [2, 2])

    def test_devices(self) -> None:
        self.assertDeviceEqual("/device:CPU:0", ag.DeviceSpec(device_type="CPU", device_index=0))
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
        with pytest.raises(AssertionError, match=r"Devices /device:CPU:0 and /device:CPU:1 are not equal\. where"):
            self.assertDeviceEqual("/device:CPU:0", "/device:CPU:1", "where")

    def test_errors(self) -> None:
        with self.assertRaisesOpError("out of"):
            raise InvalidArgumentError("out of range")
        with self.assertRaisesWithPredicateMatch(ValueError, lambda error: len(error.args) == 2):
            raise ValueError(1, 2)

        def raising(error: Exception | None) -> None:
            with self.assertRaisesOpError("x"):
                if error is not None:
                    raise error

        for raised, text in (
            (ValueError("x"), "Exception of type <class 'ValueError'>: x"),
            (InvalidArgumentError("y"), "Exception of type <class 'agog_core.errors.InvalidArgumentError'>: y"),
            (None, "OpError not raised"),
        ):
            with says(AssertionError, text):
                raising(raised)

    def test_threads_pass_their_errors_on(self) -> None:
        done: list[int] = []
        thread = self.checkedThread(done.append, args=(3,))
        thread.start()
        thread.join()
        assert (done, thread.is_alive()) == ([3], False)
        failing = self.checkedThread(self.fail, kwargs={"msg": "inside"})
        failing.start()
        with pytest.raises(AssertionError, match=r"^Error in checkedThread: inside$"):
            failing.join()

    def test_messages(self) -> None:
        from google.protobuf.duration_pb2 import Duration

        self.assertProtoEquals("seconds: 3", Duration(seconds=3))
        self.assertProtoEquals(Duration(seconds=3), Duration(seconds=3))
        with pytest.raises(AssertionError):
            self.assertProtoEquals("seconds: 3", Duration(seconds=4))


def test_folders_are_deleted_after_the_test() -> None:
    folders = []

    class Case(TestCase):
        def test_it(self) -> None:
            folders.append(self.get_temp_dir())

    for _ in range(2):
        assert Case("test_it").run().wasSuccessful()  # type: ignore[union-attr]
    assert folders[0] != folders[1]
    assert not any(map(os.path.exists, folders))


def test_test_session_is_no_test() -> None:
    import unittest

    assert "test_session" not in unittest.TestLoader().getTestCaseNames(TestCase)


def test_writes_are_captured(tmp_path: Path) -> None:
    with open(tmp_path / "file", "w+") as stream:
        with TestCase().captureWritesToStream(stream) as writes:
            print("to python", file=stream)
            inside = writes.contents()
            os.write(stream.fileno(), b"to the process\n")
        print("after", file=stream)
    assert inside == "to python\n"
    assert writes.contents() == "to python\nto the process\n"
    assert (tmp_path / "file").read_text() == "after\n"
