"""Progress: progress bars and lines of a training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agog_training.callbacks.callback import Callback, Logs

__all__ = ["ProgbarLogger"]


_UNITS = {"samples": "example", "steps": "batch"}


class ProgbarLogger(Callback):
    """Shows a progress bar for each epoch, or prints a line when ``verbose`` is 2.

    Args:
        count_mode: what the bar counts: ``"samples"``, which are examples, or ``"steps"``, which are batches.

    Raises:
        ValueError: ``count_mode`` is something else.

    >>> logger = ProgbarLogger()
    >>> logger.set_params({"epochs": 3, "verbose": 2})
    >>> logger.on_epoch_begin(0)
    >>> logger.on_epoch_end(0, {"loss": 0.25, "val_loss": 1e-05})
    Epoch 1/3  loss: 0.2500  val_loss: 1.0000e-05
    """

    only_writes = True

    def __init__(self, count_mode: str = "samples") -> None:
        if count_mode not in _UNITS:
            raise ValueError(f"ProgbarLogger: count_mode must be 'samples' or 'steps'; got {count_mode!r}.")
        self.count_mode = count_mode
        self._bar: Any = None

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        if self.params.get("verbose", 1) == 1:
            from tqdm import tqdm  # here, because only bars need it

            self._bar = tqdm(
                total=self.params.get(self.count_mode), desc=self._title(epoch), unit=_UNITS[self.count_mode]
            )

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        if self._bar is not None:
            objective = getattr(self.model, "objective", None)
            so_far = logs or {} if objective is None else objective.so_far(logs or {})
            self._bar.set_postfix_str(_told(so_far), refresh=False)
            self._bar.update((logs or {}).get("size", 1) if self.count_mode == "samples" else 1)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(_told(logs or {}))
            self._bar.close()
            self._bar = None
        elif self.params.get("verbose", 1) == 2:
            print(f"{self._title(epoch)}  {_told(logs or {})}")

    def _title(self, epoch: int) -> str:
        return f"Epoch {epoch + 1}/{self.params.get('epochs', '?')}"


@contextmanager
def bar(steps: int | None, verbose: int | str) -> Iterator[Callable[[Callable[[], Logs]], None]]:
    """A function that takes what gives the results so far; with ``verbose`` 1 it moves a bar of the batches."""
    if verbose not in (1, "auto"):
        yield lambda results: None
        return
    from tqdm import tqdm  # here, because only bars need it

    with tqdm(total=steps, unit="batch") as shown:

        def show(results: Callable[[], Logs]) -> None:
            shown.set_postfix_str(_told(results()), refresh=False)
            shown.update()

        yield show


def _told(logs: Logs) -> str:
    return "  ".join(f"{name}: {_short(value)}" for name, value in logs.items() if name not in ("batch", "size"))


def _short(value: float) -> str:
    return f"{value:.4f}" if abs(value) >= 1e-3 or not value else f"{value:.4e}"
