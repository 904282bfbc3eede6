"""Metric writer: the function that writes their results; layers do not import this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_summary import summaries
from agog_summary.recording import always_record_summaries
from agog_summary.writer import create_file_writer


class MetricWriter:
    """The functions that `agog_core.observers.summaries` asks for."""

    def scalar(self, name: str, tensor: Any) -> None:
        summaries.scalar(name, tensor)

    @contextmanager
    def recorded_in(self, logdir: str) -> Iterator[None]:
        with create_file_writer(logdir).as_default(), always_record_summaries():
            yield
