"""Zeros as the outputs of masked steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers import GRU, LSTM, RNN, GRUCell


@pytest.mark.parametrize("make", [LSTM, GRU, lambda units, **options: RNN(GRUCell(units), **options)])
def test_masked_steps_give_zeros(make: Any) -> None:
    x = np.random.RandomState(0).rand(2, 4, 3).astype(np.float32)
    mask = np.array([[True, True, False, False], [False, True, True, True]])
    layer = make(2, return_sequences=True, return_state=True)
    kept, *states = layer(x, mask=mask)
    zeros = make(2, return_sequences=True, return_state=True, zero_output_for_mask=True)
    zeros(x)
    zeros.set_weights(layer.get_weights())
    outputs, *again = zeros(x, mask=mask)
    np.testing.assert_array_equal(outputs.numpy(), np.where(mask[..., None], kept.numpy(), 0))
    for one, two in zip(states, again, strict=True):
        np.testing.assert_array_equal(one.numpy(), two.numpy())
    assert type(zeros).from_config(zeros.get_config()).zero_output_for_mask
