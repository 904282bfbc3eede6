"""Monitors: callbacks that watch a metric to stop, to lower the learning rate, or to keep the best weights."""

from __future__ import annotations

import math
import warnings
from typing import Any

from agog_checkpoint import Checkpoint
from agog_checkpoint.file import file_name
from agog_checkpoint.warning import CheckpointWarning
from agog_training.callbacks.callback import Callback, Logs
from agog_training.callbacks.learning_rates import learning_rate, set_learning_rate
from agog_training.callbacks.logs import Results
from agog_training.saving.weights import told_of_format

__all__ = ["EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau", "TerminateOnNaN"]

_MODES = ("auto", "min", "max")


class Monitor(Callback):
    """Base of callbacks that watch a number of the logs; for the arguments see `EarlyStopping`."""

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        if mode not in _MODES:
            name = type(self).__name__
            warnings.warn(
                f"{name}: mode {mode!r} is unknown, fallback to auto mode; the modes are {', '.join(_MODES)}.",
                UserWarning,
                stacklevel=3,
            )
            mode = "auto"
        more = mode == "max" or (mode == "auto" and ("acc" in monitor or monitor.startswith("fmeasure")))
        self.monitor, self.mode = monitor, mode
        self.min_delta = abs(min_delta)
        self._sign = 1.0 if more else -1.0
        self.reset_best()

    def reset_best(self) -> None:
        """Forget the best number."""
        self.best = -self._sign * math.inf

    def improved(self, value: float) -> bool:
        """Whether a number is better than the best one."""
        return self._sign * (value - self.best) > self.min_delta

    def watched(self, logs: Logs | None) -> float | None:
        """The number in the logs of an epoch; None, with a warning, where it is not in them."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            names = ", ".join(logs or {}) or "none"
            warnings.warn(
                f"{type(self).__name__} watches {self.monitor!r}, which is not in the logs; they have {names}.",
                RuntimeWarning,
                stacklevel=4,
            )
        return value


class EarlyStopping(Monitor):
    """Ends the training when a number does not improve any more.

    Args:
        monitor: the name of the number.
        min_delta: by more than how much a number must be better to count as such.
        patience: how many epochs without improvement are borne.
        verbose: 1 to print a line.
        mode: whether less (``"min"``) or more (``"max"``) is better; ``"auto"`` is max where the name has ``acc`` in it
            or begins with ``fmeasure``, and else min.
        baseline: what the first number must be better than; None for anything.
        restore_best_weights: whether the model gets back the weights of the best epoch.

    Raises:
        ValueError: the mode is unknown.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.start_from_epoch = start_from_epoch
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights = restore_best_weights
        self.wait, self.stopped_epoch = 0, 0
        self.best_weights: list[Any] | None = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.reset_best()
        if self.baseline is not None:
            self.best = self.baseline
        self.wait, self.stopped_epoch, self.best_weights = 0, 0, None

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        value = self.watched(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        if self.improved(value):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.best_weights is not None:
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")


class ReduceLROnPlateau(Monitor):
    """Lowers the learning rate when a number does not improve any more.

    Args:
        factor: what the learning rate is multiplied by; below 1.
        cooldown: how many epochs after a reduction are not counted.
        min_lr: what the learning rate does not go below.
        epsilon: an older name of ``min_delta``.

    Other arguments: see `EarlyStopping`.

    Raises:
        ValueError: the factor is not below 1, or the mode is unknown.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
        epsilon: float | None = None,
    ) -> None:
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1; got {factor}.")
        super().__init__(monitor, mode, min_delta if epsilon is None else epsilon)
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait, self.cooldown_counter = 0, 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.reset_best()
        self.wait, self.cooldown_counter = 0, 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        rate = learning_rate(self.model.optimizer)
        if logs is not None:
            logs["lr"] = rate
        value = self.watched(logs)
        if value is None:
            return
        if self.cooldown_counter:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.improved(value):
            self.best, self.wait = value, 0
        elif not self.cooldown_counter:
            self.wait += 1
            if self.wait >= self.patience and rate > self.min_lr:
                set_learning_rate(self.model.optimizer, max(rate * self.factor, self.min_lr))
                self.cooldown_counter, self.wait = self.cooldown, 0
                if self.verbose:
                    print(f"Epoch {epoch + 1}: the learning rate is now {learning_rate(self.model.optimizer):g}")


class ModelCheckpoint(Monitor):
    """Saves the model after epochs.

    Args:
        filepath: the file's name, with or without ``.safetensors``; whole models, for `load_model`, where it ends with
            ``.agog`` or ``.keras`` and not weights alone are saved. It may have ``{epoch}`` (from 1) and names of the
            logs in it, such as ``"weights-{epoch:02d}-{val_loss:.2f}"``. A name that ends with ``.h5`` gets
            ``.safetensors`` too, with a warning.
        monitor: the name of the number for ``save_best_only``.
        save_best_only: whether only better models are saved.
        save_weights_only: whether the optimizer's state is left out.
        period: the number of epochs between saves.
        save_freq: ``"epoch"``, or the number of batches between saves.
        initial_value_threshold: the number that the first model has to be better than; None for any.

    Other arguments: see `EarlyStopping`.

    Raises:
        ValueError: the mode is unknown.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int = 1,
        save_freq: str | int = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        if save_freq != "epoch" and (isinstance(save_freq, str) or save_freq < 1):
            raise ValueError(f"ModelCheckpoint: save_freq must be 'epoch' or a number of batches; got {save_freq!r}.")
        self.saves_models = str(filepath).endswith((".agog", ".keras")) and not save_weights_only
        self.filepath = str(filepath) if self.saves_models else told_of_format("ModelCheckpoint", str(filepath))
        self.save_freq, self.best = save_freq, initial_value_threshold or self.best
        self.verbose, self.period = verbose, period
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self._epochs = self._batches = self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        self._batches += 1
        if self.save_freq != "epoch" and self._batches % int(self.save_freq) == 0:
            self._save(self._epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self._epochs += 1
        if self.save_freq == "epoch" and self._epochs >= self.period:
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Logs | None) -> None:
        if self.save_best_only:
            value = self.watched(logs)
            if value is None or not self.improved(value):
                return
            self.best = value
        self._epochs = 0
        path = self._path(epoch, logs or {})
        if self.saves_models:
            with warnings.catch_warnings(action="ignore", category=CheckpointWarning):  # it is known by now
                self.model.save(path)
        elif self.save_weights_only:
            self.model.save_weights(path)
        else:
            Checkpoint(model=self.model).write(path)
        if self.verbose:
            print(f"Epoch {epoch + 1}: saved {path if self.saves_models else file_name(path)}")

    def _path(self, epoch: int, logs: Logs) -> str:
        known = Results({"epoch": epoch + 1} | logs)
        try:
            return self.filepath.format_map(known)
        except KeyError as error:
            raise ValueError(
                f"ModelCheckpoint: filepath {self.filepath!r} names {error.args[0]!r}, which is not in the logs; they "
                f"have {', '.join(known)}."
            ) from None


class TerminateOnNaN(Callback):
    """Ends the training when a loss is NaN or infinite."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        if not math.isfinite((logs or {}).get("loss", 0.0)):
            print(f"Batch {batch}: the loss is not finite, terminating training")
            self.model.stop_training = True
