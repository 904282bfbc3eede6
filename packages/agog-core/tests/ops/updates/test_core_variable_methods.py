"""Variables that count, and assignments that return nothing."""

from __future__ import annotations

import agog_core as ag
from agog_testing import says


def test_counting_ends_at_the_limit() -> None:
    counter = ag.Variable(0, name="steps")
    assert [int(ag.count_up_to(counter, 2)), int(counter.count_up_to(2)), int(counter)] == [0, 1, 2]
    with says(ag.errors.OutOfRangeError, "count_up_to: variable 'steps:0' has reached the limit 2: it is 2."):
        counter.count_up_to(2)


def test_assignments_return_nothing_where_nobody_reads() -> None:
    v = ag.Variable(1.0)
    answers = [change(2.0, read_value=False) for change in (v.assign, v.assign_add, v.assign_sub)]
    assert (answers, float(v)) == ([None, None, None], 2.0)
    assert v.assign(3.0) is v.assign_add(1.0) is v.assign_sub(1.0) is v


def test_a_value_is_loaded() -> None:
    v = ag.Variable([1.0, 2.0])
    v.load([3.0, 4.0], session=None)
    assert v.numpy().tolist() == [3.0, 4.0]
