"""The exceptions."""

from __future__ import annotations

import pickle

import pytest

from agog_core import errors

# The status codes of google/rpc/code.proto, as tf.errors numbers its classes.
CODES = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
    "UnauthenticatedError": 16,
}
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.OpError)]


def test_every_status_code_has_its_class() -> None:
    for name, code in CODES.items():
        kind = getattr(errors, name)
        assert kind.error_code == code
        assert kind.__base__ is errors.OpError


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_is_the_whole_text(kind: type[errors.OpError]) -> None:
    error = kind("add: something is wrong.")
    assert str(error) == error.message == "add: something is wrong."
    assert error.op is None
    assert error.node_def is None
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert back.message == error.message


def test_errors_of_plugins_have_a_status_code_too() -> None:
    assert issubclass(errors.MissingKernelError, errors.NotFoundError)
    assert issubclass(errors.AmbiguousKernelError, errors.FailedPreconditionError)
    assert issubclass(errors.PluginError, errors.FailedPreconditionError)
    assert issubclass(errors.PluginWarning, UserWarning)


def test_errors_are_made_as_tensorflow_makes_them() -> None:
    made = [
        errors.OutOfRangeError("the end"),
        errors.OutOfRangeError(None, None, "the end"),
        errors.OutOfRangeError(node_def=None, op=None, message="the end"),
        errors.OpError(None, None, "the end", 11),
    ]
    assert [(str(error), error.message, error.node_def, error.op) for error in made] == [
        ("the end",) * 2 + (None,) * 2
    ] * 4
    assert [error.error_code for error in made] == [11, 11, 11, 11]
    assert str(pickle.loads(pickle.dumps(made[1]))) == "the end"
