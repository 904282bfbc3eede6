"""What programs ask TensorFlow's own modules for: the context, the class of tensors, numbers of errors, and scopes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog.commands.tensorflow1.internals import eager_context, tensor_shape
from agog.commands.tensorflow1.internals.eager_status import status_to_exception
from agog.commands.tensorflow1.internals.eager_tensor import EagerTensor
from agog.commands.tensorflow1.internals.tensor_util import convert_n_to_tensor
from agog_compat import error_codes, graph_scopes
from agog_compat.execution import ASYNC, SYNC
from agog_core import errors
from agog_core.random import DEFAULT_GRAPH_SEED
from agog_testing import says


def test_the_context_knows_scopes() -> None:
    context = eager_context.context()
    assert (context.device_name, context.scope_name, context.device_spec.to_string()) == ("", "", "")
    with context.device("gpu:1"), ag.name_scope("a"):  # there need be no such device
        assert context.device_name == "/job:localhost/replica:0/task:0/device:GPU:1"
        assert context.device_name == context.device_spec.to_string()
        assert context.scope_name == "a/"
        with context.device(None):
            assert context.device_name == ""


def test_the_context_has_a_mode() -> None:
    context = eager_context.Context()
    with context.execution_mode(ASYNC):
        assert context.get_execution_mode() == ASYNC
    context.set_execution_mode(ASYNC)
    other = eager_context.Context(execution_mode=ASYNC)
    context.set_execution_mode(SYNC)
    assert (other.get_execution_mode(), eager_context.Context().get_execution_mode()) == (ASYNC, SYNC)
    other.set_execution_mode(None)
    with other.execution_mode(ASYNC):
        assert (other.get_execution_mode(), context.get_execution_mode()) == (ASYNC, SYNC)
    assert other.get_execution_mode() == SYNC
    with pytest.raises(ValueError, match=r"^Context: "):
        eager_context.Context(execution_mode="later")  # type: ignore[arg-type]


def test_what_a_thread_puts_into_the_context_is_its_own() -> None:
    context = eager_context.Context()
    context.scope_name, context.summary_writer_resource = "mine", 7
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.extend([context.scope_name, context.summary_writer_resource]))
    thread.start()
    thread.join()
    assert (seen, context.scope_name, context.summary_writer_resource) == (["", None], "mine", 7)


def test_tensors_are_eager_tensors() -> None:
    tensor = EagerTensor([1.0, 2.0], context=eager_context.context(), device="/cpu:0", dtype=2)
    assert (tensor.dtype, tensor.numpy().tolist()) == (ag.float64, [1.0, 2.0])
    assert EagerTensor(3, context=None, device="").dtype == ag.int32
    assert isinstance(tensor, EagerTensor)
    assert issubclass(ag.Tensor, EagerTensor)
    assert not isinstance(np.ones(2), EagerTensor)
    assert dir(EagerTensor) == dir(ag.Tensor)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"device": ""}, "EagerTensor: Required argument 'context' (pos 2) not found"),
        ({"context": None}, "EagerTensor: Required argument 'device' (pos 3) not found"),
        (
            {"context": None, "device": "", "dtype": "1"},
            "EagerTensor: Expecting a DataType value for dtype. Got str.",
        ),
        (
            {"context": None, "device": "", "dtype": 12345},
            "EagerTensor: Invalid dtype argument value 12345; it is the number of no dtype of agog.",
        ),
    ],
)
def test_calls_of_the_class_that_it_refuses(arguments: dict[str, Any], text: str) -> None:
    with says(TypeError, text):
        EagerTensor(1, **arguments)


def test_numbers_of_errors() -> None:
    kinds = [error_codes.exception_type_from_error_code(code) for code in range(1, 17)]
    assert [error_codes.error_code_from_exception_type(kind) for kind in kinds] == list(range(1, 17))
    assert kinds[error_codes.OUT_OF_RANGE - 1] is errors.OutOfRangeError
    with pytest.raises(KeyError):
        error_codes.exception_type_from_error_code(99)
    assert [repr(status_to_exception(code, "text")) for code in (3, 99)] == [
        "InvalidArgumentError('text')",
        "UnknownError('text')",
    ]


def test_containers_separate_nothing() -> None:
    with graph_scopes.container("here") as name:
        first, second = ag.Variable(1, name="v"), ag.Variable(2, name="v")
    assert (name, int(first), int(second)) == ("here", 1, 2)
    assert graph_scopes.guarantee_const(3).numpy() == 3


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "seeds"),
    [
        (None, None, (None, None)),
        (None, 1, (DEFAULT_GRAPH_SEED, 1)),
        (1, 1, (1, 1)),
        (0, 0, (0, 2**31 - 1)),
        (2**31 - 1, 0, (0, 2**31 - 1)),
    ],
)
def test_seeds(graph_seed: int | None, op_seed: int | None, seeds: Any) -> None:
    ag.set_random_seed(graph_seed)
    assert graph_scopes.get_seed(op_seed) == seeds
    ag.set_random_seed(None)


def test_seeds_of_ops_that_have_none_differ() -> None:
    ag.set_random_seed(1)
    first, second = graph_scopes.get_seed(None), graph_scopes.get_seed(None)
    assert first[0] == second[0] == 1
    assert first[1] != second[1]
    ag.set_random_seed(1)
    assert graph_scopes.get_seed(None) == first


def test_shapes_by_functions() -> None:
    shapes = [
        tensor_shape.scalar(),
        tensor_shape.vector(3),
        tensor_shape.matrix(None, 2),
        tensor_shape.unknown_shape(1),
    ]
    assert [shape.as_list() for shape in shapes] == [[], [3], [None, 2], [None]]
    assert tensor_shape.unknown_shape().ndims is None
    assert tensor_shape.as_shape(shapes[1]) is shapes[1]


def test_lists_become_tensors() -> None:
    assert [each.dtype for each in convert_n_to_tensor([1, [2]], ag.int64)] == [ag.int64, ag.int64]
    assert graph_scopes.with_dependencies([1], 2) == 2
