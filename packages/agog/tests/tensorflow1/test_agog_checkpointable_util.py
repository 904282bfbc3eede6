"""Variables that programs add to objects by a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog.commands.tensorflow1.internals.checkpointable_util import (
    CheckpointableBase,
    NotCheckpointable,
    add_variable,
    gather_initializers,
)
from agog.commands.tensorflow1.internals.tensor_util import constant_value, constant_value_as_shape, is_tensor
from agog_compat import habits  # noqa: F401  # what attaches names to classes
from agog_testing import says


def test_variables_are_parts() -> None:
    holder = ag.Checkpointable()
    value = add_variable(holder, "value", initializer=3, dtype="float64")
    made = add_variable(holder, "made", [2], initializer=lambda shape, dtype: ag.ones(shape, dtype))
    assert (value.dtype, float(value), value.name) == (ag.float64, 3.0, "value:0")
    np.testing.assert_array_equal(made, [1.0, 1.0])
    assert holder.checkpoint_dependencies() == {"value": value, "made": made}
    assert gather_initializers(holder) == []


def test_mistakes() -> None:
    holder = ag.Checkpointable()
    add_variable(holder, "v")
    with pytest.raises(ValueError, match=r"^add_variable: a part named 'v' of this object was already declared\.$"):
        add_variable(holder, "v")
    with pytest.raises(
        ValueError, match=r"^add_variable: the value of variable 'w' says its shape; do not specify shape="
    ):
        add_variable(holder, "w", [1], initializer=1.0)


def test_values_of_tensors() -> None:
    assert constant_value(ag.constant([1, 2])).tolist() == [1, 2]
    assert constant_value_as_shape(ag.constant([3, -1])) == ag.TensorShape([3, None])
    kinds = [ag.constant(1), ag.Variable(1.0), ag.SparseTensor([[0]], [1.0], [1]), np.zeros(1), 1, None]
    assert [is_tensor(kind) for kind in kinds] == [True, True, True, False, False, False]


def test_what_cannot_be_saved_says_so() -> None:
    class First(NotCheckpointable, ag.Checkpointable):
        pass

    class Last(ag.Checkpointable, NotCheckpointable):
        pass

    for kind in (First, Last):
        with says(
            NotImplementedError, f"{kind.__name__} is marked as NotCheckpointable, so its objects cannot be saved."
        ):
            kind().checkpoint_dependencies()


def test_parts_are_found_where_tensorflow_has_them() -> None:
    holder: Any = ag.Checkpointable()
    holder.step = ag.Variable(1)
    ((name, part),) = holder._checkpoint_dependencies
    assert (name, part, holder._lookup_dependency("step")) == ("step", holder.step, holder.step)


def test_parts_that_are_told_and_no_others() -> None:
    holder = CheckpointableBase()
    holder.loose, told = ag.Variable(1.0), ag.Variable(2.0)
    assert holder._track_checkpointable(told, "told") is told
    assert list(holder.checkpoint_dependencies()) == ["told"]
    assert (holder.checkpoint_dependency("told"), holder.checkpoint_dependency("loose")) == (told, None)
