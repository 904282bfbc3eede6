"""Numbers of combinations of categories."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_keras.feature_columns import crossed_column
from agog_keras.feature_columns.features import Features
from agog_keras.layers.hashed_crossing import HashedCrossing
from agog_testing import says


def test_hashed_crossing_is_that_of_crossed_columns() -> None:
    letters, numbers = ["A", "B", "A", "B", "A"], [101, 101, 101, 102, 102]
    wanted = [1, 4, 1, 1, 3]  # the example of the documentation of Keras
    found = crossed_column(["a", "b"], 5).categories(Features("test", {"a": letters, "b": numbers}))
    assert found.ids.numpy().ravel().tolist() == wanted
    assert HashedCrossing(5)((letters, numbers)).numpy().tolist() == wanted
    columns = [ag.constant([[each] for each in listed]) for listed in (letters, numbers)]
    assert HashedCrossing(5)(columns).numpy().tolist() == [[each] for each in wanted]
    assert HashedCrossing(5, "one_hot")(columns).numpy().tolist() == np.eye(5)[wanted].tolist()
    with says(
        ValueError,
        "HashedCrossing layer 'c': inputs must be two or more of shape (batch,) or (batch, 1); got [[1, 2], [1, 2]].",
    ):
        HashedCrossing(5, name="c")(([[1, 2]], [["a", "b"]]))
