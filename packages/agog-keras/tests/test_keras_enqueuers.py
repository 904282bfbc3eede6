"""Batches that threads make ahead."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from agog_keras.enqueuers import GeneratorEnqueuer, OrderedEnqueuer, SequenceEnqueuer
from agog_testing import says
from agog_training import Sequence


class Numbers(Sequence):
    """Numbers, of which there are ten times larger ones in each epoch; ``most`` counts threads at once."""

    def __init__(self) -> None:
        self.factor = 1

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        return index * self.factor

    def on_epoch_end(self) -> None:
        self.factor *= 10


def taken(enqueuer: SequenceEnqueuer, count: int, **options: Any) -> list[Any]:
    enqueuer.start(**options)
    try:
        batches = enqueuer.get()
        return [next(batches) for _ in range(count)]
    finally:
        enqueuer.stop()


@pytest.mark.parametrize("options", [{}, {"workers": 3, "max_queue_size": 2}, {"workers": 2, "max_queue_size": 20}])
def test_batches_of_sequences_keep_their_order(options: dict[str, int]) -> None:
    expected = [0, 1, 2, 3, 4, 0, 10, 20, 30, 40, 0, 100]
    assert taken(OrderedEnqueuer(Numbers(), use_multiprocessing=True), 12, **options) == expected


def test_each_epoch_of_a_shuffled_sequence_has_all_batches() -> None:
    assert sorted(taken(OrderedEnqueuer(Numbers(), shuffle=True), 5)) == [0, 1, 2, 3, 4]


def test_generators_end() -> None:
    enqueuer = GeneratorEnqueuer(n for n in range(30))
    enqueuer.start(workers=4, max_queue_size=3)
    assert enqueuer.is_running()
    assert sorted(enqueuer.get()) == list(range(30))
    enqueuer.stop()
    assert not enqueuer.is_running()
    assert list(enqueuer.get()) == []


def test_batches_are_made_ahead() -> None:
    made = threading.Event()

    def batches() -> Any:
        yield 0
        made.set()
        yield 1

    enqueuer = GeneratorEnqueuer(batches())
    enqueuer.start()
    next(enqueuer.get())
    assert made.wait(timeout=30)
    enqueuer.stop()


def test_errors_are_raised_where_the_batch_is_asked_for() -> None:
    class Faulty(Numbers):
        def __getitem__(self, index: int) -> Any:
            if index == 2:
                raise IndexError("there is no batch 2")
            return index

    enqueuer = OrderedEnqueuer(Faulty())
    enqueuer.start()
    batches = enqueuer.get()
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(IndexError, match=r"^there is no batch 2$"):
        next(batches)
    enqueuer.stop()
    with says(NotImplementedError, "SequenceEnqueuer._rounds is not implemented; it says how batches are made."):
        taken(SequenceEnqueuer(), 1)
