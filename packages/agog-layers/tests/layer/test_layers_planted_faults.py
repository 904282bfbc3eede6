"""The checks that hold for every class of layers find faults that are planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import agog_core as ag
from agog_layers import Dense, custom_object_scope
from agog_testing.layers import check_description, check_model, check_shapes


class Forgetful(Dense):
    """Its description lacks the activation."""

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "activation": "linear"}


class Wide(Dense):
    """It says that its output has one element more than it has."""

    def compute_output_shape(self, input_shape: Any) -> ag.TensorShape:
        return ag.TensorShape([None, self.units + 1])


X = ag.constant([[1.0, -2.0, 3.0]])


@pytest.mark.parametrize(
    "check",
    [
        lambda: check_description(Forgetful(2, "tanh"), X),
        lambda: check_model(Forgetful(2, "tanh"), X),
        lambda: check_shapes(lambda: Wide(2), X, (2,)),
        lambda: check_shapes(lambda: Dense(2), X, (3,)),
    ],
)
def test_faults_are_found(check: Callable[[], None]) -> None:
    with custom_object_scope({"Forgetful": Forgetful}), pytest.raises(AssertionError):
        check()


def test_a_layer_without_a_fault_passes() -> None:
    check_description(Dense(2, "tanh"), X)
    check_model(Dense(2, "tanh"), X)
    check_shapes(lambda: Dense(2, "tanh"), X, (2,))
