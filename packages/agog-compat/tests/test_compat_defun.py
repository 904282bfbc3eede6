"""defun traces functions, and checks the arguments as TensorFlow does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
from agog_compat.defun import DefinedFunction, defun
from agog_core.tensors.tensor_spec import TensorSpec
from agog_testing import says


def fails(error: type[Exception], text: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with says(error, text) as caught:
        function(*args, **kwargs)
    assert type(caught.value) is error


@defun
def square(x: ag.Tensor, scale: float = 1.0) -> ag.Tensor:
    """The square."""
    return x * x * scale


def test_functions_run_once_for_each_kind_of_arguments() -> None:
    calls = []
    function = defun(lambda x: calls.append(1) or x + 1)
    assert [int(function(1)), int(function(1)), int(function(2))] == [2, 2, 3]
    assert calls == [1, 1]
    assert float(square(ag.constant(3.0), scale=2.0)) == 18.0


def test_misspelled_options() -> None:
    assert isinstance(defun(lambda: None, autograph=False, experimental_autograph_options=None), DefinedFunction)
    with pytest.raises(TypeError, match="unexpected keyword argument 'input_signatur'"):
        defun(lambda: None, input_signatur=[])  # type: ignore[call-arg]


def test_python_works_on_values() -> None:
    assert float(defun(lambda x: x if x > 0 else -x)(ag.constant(-2.0))) == 2.0


def test_functions_keep_what_they_are() -> None:
    assert isinstance(square, DefinedFunction)
    assert (square.__name__, square.__doc__, repr(square)) == ("square", "The square.", "<DefinedFunction square>")
    assert list(inspect.signature(square).parameters) == ["x", "scale"]
    assert square.python_function is square.__wrapped__
    assert square.input_signature is None


def test_methods() -> None:
    class Model:
        def __init__(self) -> None:
            self.v = ag.Variable(2.0)

        @defun
        def call(self, x: Any) -> ag.Tensor:
            return self.v * x

    model, other = Model(), Model()
    other.v.assign(5.0)
    assert (float(model.call(3.0)), float(other.call(3.0))) == (6.0, 15.0)
    assert isinstance(Model.call, DefinedFunction)
    model.call = defun(model.call)
    assert float(model.call(3.0)) == 6.0


def test_gradients_flow() -> None:
    assert float(ag.gradients_function(square, [0])(3.0)[0]) == 6.0
    v = ag.Variable(2.0)
    ((gradient, variable),) = ag.implicit_gradients(defun(lambda: v * v))()
    assert (float(gradient), variable is v) == (4.0, True)


def test_arrays_become_tensors_and_other_arguments_must_be_hashable() -> None:
    kinds: list[type] = []
    defun(lambda *args, **kwargs: kinds.extend(map(type, [*args, *kwargs.values()])))(np.ones(2), 3, k=np.ones(2))
    assert kinds == [ag.Tensor, int, ag.Tensor]
    assert defun(lambda pair: pair[0])([np.ones(2), "a"]).shape == (2,)
    fails(
        TypeError,
        "defun: the arguments of square must be tensors, or hashable; got a set. Pass it as a tuple, or as a tensor.",
        square,
        {1, 2},
    )


def test_results_become_tensors() -> None:
    class Pair(NamedTuple):
        a: Any
        b: Any

    result = defun(lambda: Pair(1.5, [ag.Variable(2), None, np.ones(2)]))()
    assert isinstance(result, Pair)
    assert [type(result.a), type(result.b[0]), result.b[1]] == [ag.Tensor, ag.Tensor, None]
    assert result.b[2].shape == (2,)
    assert defun(lambda: None)() is None
    fails(
        TypeError,
        "defun: <lambda> must return tensors, structures of them, or None; it returned a object.",
        defun(lambda: object()),
    )


def test_input_signatures() -> None:
    calls = []

    @defun(input_signature=[TensorSpec([None, 2], ag.float32), {"n": (TensorSpec([], ag.int32),)}])
    def function(x: ag.Tensor, options: dict[str, Any]) -> ag.Tensor:
        calls.append(type(options["n"][0]))
        return x * ag.cast(options["n"][0], ag.float32)

    assert function([[1.0, 2.0]], {"n": (3,)}).numpy().tolist() == [[3.0, 6.0]]
    assert calls == [ag.Tensor]
    assert function.input_signature[0] == TensorSpec([None, 2], ag.float32)
    n = {"n": (3,)}
    text = (
        "defun: argument 0 of function must be a tensor of shape (?, 2) and dtype float32, by its input signature; got "
    )
    fails(ValueError, text + "shape (2,) and dtype float32.", function, [1.0, 2.0], n)
    fails(ValueError, text + "shape (1, 2) and dtype int32.", function, [[1, 2]], n)
    fails(
        ValueError,
        "defun: argument 1['n'][0] of function must be a tensor of shape () and dtype int32, by its input signature; "
        "got shape () and dtype float32.",
        function,
        [[1.0, 2.0]],
        {"n": (3.5,)},
    )
    fails(
        ValueError,
        "defun: argument 1['n'] of function must have the structure (TensorSpec(shape=(), dtype=tf.int32, "
        "name=None),), by its input signature; got a int.",
        function,
        [[1.0, 2.0]],
        {"n": 3},
    )
    fails(
        ValueError,
        "defun: the input signature of function has 2 arguments; got 1.",
        function,
        [[1.0, 2.0]],
    )
    fails(
        ValueError,
        "defun: function has an input signature, so it takes no keyword arguments; got options.",
        function,
        [[1.0, 2.0]],
        options=n,
    )
    for wrong in (TensorSpec([]), [3]):
        fails(
            TypeError,
            f"defun: input_signature must be a list or tuple of TensorSpec, or of structures of them; got {wrong!r}.",
            defun,
            len,
            wrong,
        )


def test_specs() -> None:
    spec = TensorSpec([None, 2], ag.int64, name="x")
    assert (spec.shape, spec.dtype, spec.name) == (ag.TensorShape([None, 2]), ag.int64, "x")
    assert repr(spec) == "TensorSpec(shape=(?, 2), dtype=tf.int64, name='x')"
    assert TensorSpec.from_tensor(ag.ones([2]), "y") == TensorSpec([2], ag.float32)
    assert TensorSpec.from_spec(spec).name == "x"
    assert TensorSpec.from_spec(spec, "y").name == "y"
    assert len({spec, TensorSpec([None, 2], ag.int64)}) == 1
    assert spec != TensorSpec([1, 2], ag.int64)
    assert spec.is_compatible_with(TensorSpec([1, None], ag.int64))
    assert not spec.is_compatible_with(ag.ones([1, 2]))


def test_a_function_for_arguments_of_one_kind() -> None:
    @defun
    def double(x: ag.Tensor) -> ag.Tensor:
        return x * 2

    one = double.get_concrete_function(ag.constant(1.0))
    assert float(one(ag.constant(3.0))) == 6.0
    assert len(one.graph().nodes) == 1
    of_rows = double.get_concrete_function(ag.TensorSpec([None, 2]))
    assert of_rows(ag.ones([3, 2])).shape.as_list() == [3, 2]
    with pytest.raises(ValueError, match="must be a tensor of shape"):
        of_rows(ag.ones([3]))
    with says(
        ValueError,
        "defun: argument 'x' of double is bound to 2; got 3. Leave it out, or make another concrete function.",
    ):
        double.get_concrete_function(2)(3)
