"""Test case: a base class for the tests of programs that use tensors."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from agog_compat.testing.arrays import ArrayAssertions
from agog_compat.testing.streams import CapturedWrites, captured
from agog_compat.testing.threads import CheckedThread
from agog_core import DeviceSpec, nest, set_random_seed
from agog_core.errors import OpError
from agog_core.variables.global_step import forget_global_step
from agog_core.variables.name_scope import reset_names

__all__ = ["TestCase"]

_SEED = 87654321


class TestCase(ArrayAssertions):
    """A `unittest.TestCase` that seeds the random numbers, lets names begin anew and compares tensors.

    >>> class Doubling(TestCase):
    ...     def test_doubles(self):
    ...         self.assertAllEqual([2, 4], np.array([1, 2]) * 2)
    >>> Doubling("test_doubles").run().wasSuccessful()
    True
    """

    _temp_dir: str | None = None

    def setUp(self) -> None:
        """Seed Python's, NumPy's and agog's random numbers, let the numbers behind names begin anew, and the global
        step be made again."""
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        set_random_seed(_SEED)
        reset_names()
        forget_global_step()

    def evaluate(self, tensors: Any) -> Any:
        """Turn tensors into NumPy arrays.

        Args:
            tensors: a structure of tensors, or a function that returns one.

        Returns:
            The same structure, of NumPy arrays and scalars.
        """
        value = tensors() if callable(tensors) else tensors
        return nest.map_structure(_evaluated, value)

    @contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[None]:
        """Do nothing: what runs in a session in graphs, runs as it is called.

        Returns:
            A context manager that gives None.
        """
        yield None

    cached_session = session

    @property
    def test_session(self) -> Callable[..., AbstractContextManager[None]]:
        """The method `session`; a property, because unittest would take a method of this name for a test."""
        return self.session

    def get_temp_dir(self) -> str:
        """A folder for this test alone, which is deleted after it.

        Returns:
            The folder's path, the same for the whole test.
        """
        if self._temp_dir is None:
            self._temp_dir = tempfile.mkdtemp(prefix=f"{type(self).__name__}_")
            self.addCleanup(shutil.rmtree, self._temp_dir, ignore_errors=True)
        return self._temp_dir

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: str | None = None) -> None:
        """Fail unless a text begins with another.

        Args:
            actual: the text.
            expected_start: its beginning.
            msg: what to say on failure.
        """
        if not actual.startswith(expected_start):
            text = f"{actual!r} does not start with {expected_start!r}."
            raise self.failureException(f"{text} {msg}" if msg else text)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Fail unless two names mean the same device.

        Args:
            device1: a name, in any of its spellings, or a `DeviceSpec`.
            device2: a name or a `DeviceSpec`.
            msg: what to say on failure.
        """
        one, other = _canonical(device1), _canonical(device2)
        text = f"Devices {one} and {other} are not equal."
        self.assertEqual(one, other, f"{text} {msg}" if msg else text)

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:
        """Fail unless two protocol buffer messages are equal.

        Args:
            expected_message_maybe_ascii: a message of the same type, or the message in the text format.
            message: the message.
            msg: what to say on failure.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from google.protobuf import text_format  # here, because only tests of messages need it

            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(str(expected), str(message), msg)
        self.assertEqual(expected, message, msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[Exception] | tuple[type[Exception], ...], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Fail unless a block raises an error of a type whose text matches.

        Args:
            exception_type: the error's type.
            expected_err_re_or_predicate: a regular expression for the error's text, or a predicate of the error.

        Returns:
            A context manager.
        """
        try:
            yield
        except Exception as error:
            is_right = isinstance(error, exception_type) and (
                expected_err_re_or_predicate(error)
                if callable(expected_err_re_or_predicate)
                else re.search(expected_err_re_or_predicate, str(error))
            )
            if not is_right:
                raise self.failureException(f"Exception of type {type(error)}: {error}") from error
        else:
            raise self.failureException(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Fail unless a block raises an `OpError` whose text matches.

        Args:
            expected_err_re_or_predicate: as for `assertRaisesWithPredicateMatch`.

        Returns:
            A context manager.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Fail unless two sequences have the same items, in any order.

        Args:
            first: a sequence.
            second: a sequence.
            msg: what to say on failure.
        """
        self.assertCountEqual(first, second, msg)

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """Keep what is written into a stream of the process, such as `sys.stderr`, also by code that is not Python.

        Args:
            stream: a stream with a file descriptor.

        Returns:
            A context manager that gives an object whose ``contents()`` are the text.
        """
        with captured(stream) as writes:
            yield writes

    def checkedThread(
        self, target: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> CheckedThread:
        """A thread whose errors fail the test when it is joined.

        Args:
            target: the function that it calls.
            args: the function's arguments.
            kwargs: the function's keyword arguments.

        Returns:
            The thread, to be started and joined.
        """
        return CheckedThread(self, target, args, kwargs or {})


def _canonical(device: Any) -> str:
    return (device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device or "")).to_string()


def _evaluated(leaf: Any) -> Any:
    """The value of a tensor, which a test may write to."""
    if not hasattr(leaf, "numpy"):
        return leaf
    value = leaf.numpy()
    return value.copy() if isinstance(value, np.ndarray) else value
