"""Callback: the base of callbacks; lists of callbacks, and callbacks from functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agog_core import Variable
from agog_layers.arguments.checks import refuse_unknown, shown
from agog_training.callbacks.logs import Results

__all__ = ["BaseLogger", "Callback", "CallbackList", "History", "LambdaCallback"]

Logs = dict[str, Any]
Gradients = Sequence[tuple[Any, Variable]]


class Callback:
    """Base of callbacks: derived classes override the methods that they need.

    ``self.model`` is the model, and ``self.params`` a dict with ``epochs``, ``steps``, ``samples``, ``verbose``,
    ``metrics``, where known. ``model.stop_training = True`` ends the training after the epoch. A callback that resumed
    an earlier training in `on_train_begin` has the next epoch in ``first_epoch``. All processes of a
    strategy call their callbacks, with the same logs; those with ``only_writes = True`` rank 0 alone calls.

    >>> class Shout(Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(f"{epoch}: {logs['loss']}!")
    >>> Shout().on_epoch_end(0, {"loss": 0.5})
    0: 0.5!
    """

    model: Any = None
    params: dict[str, Any]
    first_epoch: int = 0
    only_writes: bool = False

    def set_model(self, model: Any) -> None:
        """Take the model that is trained.

        Args:
            model: the model, kept as ``self.model``.
        """
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        """Take what is known of the training.

        Args:
            params: by name, such as ``epochs`` and ``steps``, kept as ``self.params``.
        """
        self.params = params

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Before the first epoch; ``logs`` is empty."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """After the last epoch; ``logs`` is empty."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Before an epoch, whose number counts from 0; ``logs`` is empty."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """After an epoch.

        Args:
            epoch: its number, from 0.
            logs: losses and metrics of the epoch; those of the validation begin with ``val_``.
        """

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Before a batch, whose number in the epoch counts from 0; ``logs`` has ``batch`` and ``size``."""

    def on_gradients(self, gradients: Gradients) -> None:
        """Before the gradients of a batch are applied.

        Args:
            gradients: (gradient, variable) pairs; the gradient is None if the loss does not depend on the variable.
        """

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """After a batch.

        Args:
            batch: its number in the epoch, from 0.
            logs: ``batch``, ``size``, the losses of the batch, and the metrics of the epoch so far.
        """

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Before a batch that is trained on; unless it is overridden, `on_batch_begin`.

        Args:
            batch: its number in the epoch, from 0.
            logs: see `on_batch_begin`.
        """
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """After a batch that is trained on; unless it is overridden, `on_batch_end`.

        Args:
            batch: its number in the epoch, from 0.
            logs: see `on_batch_end`.
        """
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Before the model is evaluated, also by `fit`; ``logs`` is empty."""

    def on_test_end(self, logs: Logs | None = None) -> None:
        """After that; ``logs`` has the losses and metrics."""

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Before a batch of an evaluation, with its number from 0; ``logs`` is empty."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """After that; ``logs`` has the losses of the batch, and the metrics so far."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Before the outputs are computed; ``logs`` is empty."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """After that; ``logs`` is empty."""

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Before the outputs of a batch, whose number counts from 0; ``logs`` is empty."""

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """After that; ``logs`` has the ``outputs``."""


class CallbackList(Callback):
    """Callbacks, of which each is told everything, in order.

    Args:
        callbacks: the callbacks.
        model: the model.
        params: what is known of the training; see `Callback`.
    """

    def __init__(
        self, callbacks: Iterable[Callback] = (), model: Any = None, params: dict[str, Any] | None = None
    ) -> None:
        self.callbacks = list(callbacks)
        self.set_model(model)
        self.set_params(params or {})

    def append(self, callback: Callback) -> None:
        """Add a callback.

        Args:
            callback: the callback, called after those that are there.
        """
        self.callbacks.append(callback)

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params: dict[str, Any]) -> None:
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        for callback in self.callbacks:
            callback.on_train_begin(logs or {})
        self.first_epoch = max((getattr(callback, "first_epoch", 0) for callback in self.callbacks), default=0)

    def on_train_end(self, logs: Logs | None = None) -> None:
        for callback in self.callbacks:
            callback.on_train_end(logs or {})

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        for callback in self.callbacks:
            callback.on_train_batch_begin(batch, logs or {})

    def on_gradients(self, gradients: Gradients) -> None:
        for callback in self.callbacks:
            callback.on_gradients(gradients)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        for callback in self.callbacks:
            callback.on_train_batch_end(batch, {} if logs is None else logs)  # whether it is empty nobody asks

    def tell(self, method: str, *args: Any) -> None:
        """Call a method of each callback, such as ``"on_test_begin"``.

        Args:
            method: its name.
            *args: its arguments.
        """
        for callback in self.callbacks:
            getattr(callback, method)(*args)


class BaseLogger(Callback):
    """Does nothing: what Keras's one adds up over an epoch, the logs hold already.

    Args:
        stateful_metrics: not used.
    """

    def __init__(self, stateful_metrics: Any = None) -> None:
        self.stateful_metrics = set(stateful_metrics or ())


class LambdaCallback(Callback):
    """A callback made of functions.

    Args:
        on_epoch_begin: called with (epoch, logs).
        on_epoch_end: called with (epoch, logs).
        on_batch_begin: called with (batch, logs).
        on_batch_end: called with (batch, logs).
        on_train_begin: called with (logs).
        on_train_end: called with (logs).
        **others: other methods of callbacks by name, such as ``on_train_batch_end`` and ``on_test_begin``.

    Raises:
        TypeError: callbacks have no such method.

    >>> callback = LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs))
    >>> callback.on_epoch_end(0, {"loss": 0.5})
    0 {'loss': 0.5}
    """

    def __init__(
        self,
        on_epoch_begin: Callable[[int, Logs | None], Any] | None = None,
        on_epoch_end: Callable[[int, Logs | None], Any] | None = None,
        on_batch_begin: Callable[[int, Logs | None], Any] | None = None,
        on_batch_end: Callable[[int, Logs | None], Any] | None = None,
        on_train_begin: Callable[[Logs | None], Any] | None = None,
        on_train_end: Callable[[Logs | None], Any] | None = None,
        **others: Callable[..., Any] | None,
    ) -> None:
        refuse_unknown("LambdaCallback", others, [name for name in vars(Callback) if name.startswith("on_")])
        given = {
            **others,
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        vars(self).update({name: function for name, function in given.items() if function is not None})


class History(Callback):
    """Keeps the losses and metrics of all epochs; `fit` returns it.

    Attributes:
        epoch: the numbers of the epochs.
        history: names to lists with one number for each epoch; TensorFlow 1.12's name ``acc`` works too if `compile`
            was given ``accuracy``.

    >>> history = History()
    >>> history.on_epoch_end(0, {"loss": 0.5})
    >>> history.history
    {'loss': [0.5]}
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = Results()

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.epoch, self.history = [], Results()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def __repr__(self) -> str:
        count = f"{len(self.epoch)} epoch{'' if len(self.epoch) == 1 else 's'}"
        last = [f"{name}={values[-1]:.6g}" for name, values in self.history.items() if values]
        return f"<{type(self).__name__}: {', '.join([count, *last])}>"

    def _repr_svg_(self) -> str | None:
        if not self.epoch:
            return None
        from agog_training.callbacks.curves import svg_of_history  # here, because only notebooks need it

        return svg_of_history(self.epoch, self.history)

    def plot(self, *names: str) -> Any:
        """Draw the curves with matplotlib; those of the validation are dashed.

        Args:
            *names: which, such as ``"loss"``; none for all.

        Returns:
            The figure.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: a name is not in the history.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError(
                "History.plot draws with matplotlib, which is not installed: pip install matplotlib. The numbers are "
                "in history.history."
            ) from None
        unknown = [name for name in names if name not in self.history]
        if unknown:
            raise ValueError(f"History.plot: {unknown} are not in the history; it has {list(self.history)}.")
        curves = list(dict.fromkeys(name.removeprefix("val_") for name in names or self.history))
        figure = Figure(layout="constrained")
        for axes, name in zip(figure.subplots(len(curves), squeeze=False)[:, 0], curves, strict=True):
            for each, style in ((name, "-"), (f"val_{name}", "--")):
                if each in self.history:
                    axes.plot(self.epoch, self.history[each], style, label=each)
            axes.set_xlabel("epoch")
            axes.legend()
        return figure


def given_callbacks(what: str, callbacks: Any) -> list[Callback]:
    """List the callbacks in an argument of ``what``; raises TypeError if it is no list, or one is no callback.

    >>> given_callbacks("fit", None)
    []
    """
    if isinstance(callbacks, Callback):
        kind = type(callbacks).__name__
        raise TypeError(f"{what}: callbacks must be a list; got one of type {kind}. Write callbacks=[callback].")
    if callbacks is not None and (isinstance(callbacks, (str, type)) or not hasattr(callbacks, "__iter__")):
        raise TypeError(f"{what}: callbacks must be a list; got {shown(callbacks)}.")
    listed = list(callbacks or ())
    for callback in listed:
        if isinstance(callback, type) or not hasattr(callback, "on_epoch_end"):
            raise TypeError(f"{what}: a callback is an object of a class derived from Callback; got {shown(callback)}.")
    return listed
