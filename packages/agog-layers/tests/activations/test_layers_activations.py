"""Activations that only layers have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers import Dense, activations
from agog_layers.serialization.custom_objects import custom_object_scope
from agog_testing.gradcheck import gradcheck

X = np.array([-4.0, -1.0, -0.25, 0.5, 2.0, 3.0])


def test_elu() -> None:
    for alpha in (1.0, 2.0):
        expected = np.where(X < 0, alpha * (np.exp(X) - 1), X)
        np.testing.assert_allclose(activations.elu(X, alpha).numpy(), expected, rtol=1e-12)
        gradcheck(lambda x, alpha=alpha: activations.elu(x, alpha), [X])


def test_hard_sigmoid() -> None:
    np.testing.assert_allclose(activations.hard_sigmoid(X).numpy(), np.clip(0.2 * X + 0.5, 0, 1), rtol=1e-12)
    gradcheck(activations.hard_sigmoid, [X])


def test_names() -> None:
    for name in ("elu", "hard_sigmoid", "selu", "softplus", "softsign"):
        assert activations.get(name).__name__ == name


def test_activations_of_the_program_by_name() -> None:
    def custom(x: Any) -> Any:
        return x + 1

    with custom_object_scope({"custom": custom}):
        assert activations.get("custom") is custom
        assert Dense(2, activation="custom").activation is custom
    assert activations.deserialize("custom", {"custom": custom}) is custom
    assert activations.deserialize(activations.serialize(activations.elu)) is activations.elu
    with pytest.raises(ValueError, match=r"^Unknown activation 'custom'; the names are "):
        activations.get("custom")
