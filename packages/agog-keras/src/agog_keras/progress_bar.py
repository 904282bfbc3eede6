"""Progress bar: a bar for a program's own loop, ``tf.keras.utils.Progbar``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_training.fit.meters import Meter

__all__ = ["Progbar"]


class Progbar:
    """A progress bar, with the means of values beside it.

    Args:
        target: what is done in the end; None if that is not known.
        width: not used; the bar is as wide as the terminal.
        verbose: 1 for the bar, 2 for a line in the end, 0 for silence.
        interval: how many seconds pass between two pictures of the bar.
        stateful_metrics: the names of values of which the last one is shown, not the mean.

    >>> bar = Progbar(2, verbose=2)
    >>> for step in (1, 2):
    ...     bar.update(step, [("loss", step)])
    2/2  loss: 1.5000
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
    ) -> None:
        self.target, self.verbose, self.interval = target, verbose, interval
        self.stateful_metrics = set(stateful_metrics or ())
        self._means: dict[str, Meter] = {}
        self._seen = 0
        self._bar: Any = None

    def update(self, current: int, values: Iterable[tuple[str, float]] | None = None) -> None:
        """Move the bar.

        Args:
            current: how much is done.
            values: names and values of what is done since the last time.
        """
        for name, value in values or ():
            mean = self._means.setdefault(name, Meter(name))
            if name in self.stateful_metrics:
                mean.reset_state()
            mean.add(float(value), max(1, current - self._seen))
        done, self._seen = current - self._seen, current
        told = "  ".join(f"{mean.name}: {mean.result():.4f}" for mean in self._means.values())
        is_over = self.target is not None and current >= self.target
        if self.verbose == 1:
            self._show(done, told, is_over)
        elif self.verbose == 2 and is_over:
            print(f"{current}/{self.target}  {told}")

    def _show(self, done: int, told: str, is_over: bool) -> None:
        if self._bar is None:
            from tqdm import tqdm  # here, because only bars need it

            self._bar = tqdm(total=self.target, mininterval=self.interval)
        self._bar.set_postfix_str(told, refresh=False)
        self._bar.update(done)
        if is_over:
            self._bar.close()

    def add(self, n: int, values: Iterable[tuple[str, float]] | None = None) -> None:
        """Move the bar by so much more. See `update`."""
        self.update(self._seen + n, values)
