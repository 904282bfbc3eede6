"""Estimators: models with scikit-learn's interface, ``tf.keras.wrappers.scikit_learn``."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from agog_keras.preprocessing.labels import to_categorical
from agog_training.model import Model
from agog_training.sequential import Sequential

__all__ = ["KerasClassifier", "KerasRegressor"]


class Estimator:
    """Base of estimators: it makes a model by a function for each `fit`.

    Args:
        build_fn: a function that returns a compiled model; None if the derived class has it as ``__call__``.
        **sk_params: arguments of that function, and of the methods ``fit``, ``predict`` and ``evaluate`` of models.

    Raises:
        ValueError: an argument is of none of these.
    """

    model: Any = None

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def check_params(self, params: dict[str, Any]) -> None:
        """Check arguments; see the class.

        Args:
            params: the arguments, by name.

        Raises:
            ValueError: nothing takes one of them.
        """
        takers: list[Callable[..., Any]] = [Sequential.fit, Sequential.predict, Sequential.evaluate, self._builder()]
        known = {name for taker in takers for name in inspect.signature(taker).parameters}
        for name in params:
            if name not in known and name != "nb_epoch":
                raise ValueError(f"{type(self).__name__}: {name} is not a legal parameter; known are {sorted(known)}.")

    def _builder(self) -> Callable[..., Any]:
        if self.build_fn is not None:
            return self.build_fn
        if not callable(self):
            raise ValueError(f"{type(self).__name__}: build_fn must be a function that returns a compiled model.")
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments, which scikit-learn makes copies with.

        Args:
            deep: not used.

        Returns:
            A dict by name.
        """
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Self:
        """Set arguments.

        Args:
            **params: the arguments, by name.

        Returns:
            The estimator.
        """
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def _arguments(self, method: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
        """Those of all arguments that a method takes."""
        names = inspect.signature(method).parameters
        return {name: value for name, value in self.sk_params.items() if name in names} | given

    def _fit(self, x: Any, y: Any, given: dict[str, Any]) -> Any:
        build = self._builder()
        self.model = build(**self._arguments(build, {}))
        if not isinstance(self.model, Model):
            raise ValueError(f"{type(self).__name__}: build_fn must return a compiled model; got {self.model!r}.")
        return self.model.fit(x, self._encoded(y), **self._arguments(Sequential.fit, given))

    def _encoded(self, labels: Any) -> Any:
        """The labels as the model's loss takes them."""
        return labels


class KerasClassifier(Estimator):
    """A classifier that scikit-learn's pipelines and searches take; the arguments are those of `Estimator`.

    >>> from agog_layers import Dense
    >>> def build(units=4):
    ...     model = Sequential([Dense(units, activation="relu"), Dense(1, activation="sigmoid")])
    ...     model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    ...     return model
    >>> classifier = KerasClassifier(build, units=3, epochs=1, verbose=0)
    >>> _ = classifier.fit(np.eye(4), [0, 1, 0, 1])
    >>> classifier.predict(np.eye(4)).shape
    (4, 1)
    """

    classes_: Any

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make a model and train it.

        Args:
            x: examples.
            y: their classes, of any kind: of shape (examples,), (examples, 1), or one-hot.
            **kwargs: further arguments of the model's ``fit``.

        Returns:
            The history.

        Raises:
            ValueError: the classes have another shape.
        """
        labels = np.array(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            self.classes_ = np.arange(labels.shape[1])
        elif labels.ndim in (1, 2):
            self.classes_ = np.unique(labels)
            labels = np.searchsorted(self.classes_, labels)
        else:
            raise ValueError(f"{type(self).__name__}: Invalid shape for y: {labels.shape}")
        self.n_classes_ = len(self.classes_)
        return self._fit(x, labels, kwargs)

    def _encoded(self, labels: Any) -> Any:
        loss = self.model.objective.given["loss"]
        name = getattr(loss, "__name__", loss)
        return to_categorical(labels) if name == "categorical_crossentropy" and labels.ndim != 2 else labels

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The likeliest classes.

        Args:
            x: examples.
            **kwargs: further arguments of the model's ``predict``.

        Returns:
            An array of classes.
        """
        scores = self.model.predict(x, **self._arguments(Sequential.predict, kwargs))
        return self.classes_[scores.argmax(-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The probability of each class.

        Args:
            x: examples.
            **kwargs: further arguments of the model's ``predict``.

        Returns:
            An array of shape (examples, classes).
        """
        scores = self.model.predict(x, **self._arguments(Sequential.predict, kwargs))
        return np.hstack([1 - scores, scores]) if scores.shape[1] == 1 else scores

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The share of examples whose class is right.

        Args:
            x: examples.
            y: their classes.
            **kwargs: further arguments of the model's ``evaluate``.

        Returns:
            The accuracy.

        Raises:
            ValueError: the model was compiled without ``metrics=["accuracy"]``.
        """
        labels = np.searchsorted(self.classes_, y)
        results = self.model.evaluate(
            x, self._encoded(labels), **self._arguments(Sequential.evaluate, kwargs), return_dict=True
        )
        for name in ("acc", "accuracy"):
            if name in results:
                return float(results[name])
        raise ValueError(
            f"{type(self).__name__}: the model is not configured to compute accuracy; compile it with "
            "metrics=['accuracy']."
        )


class KerasRegressor(Estimator):
    """A regressor that scikit-learn's pipelines and searches take; the arguments are those of `Estimator`."""

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Make a model and train it. See `KerasClassifier.fit`; labels are numbers."""
        return self._fit(x, y, kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The predictions, of shape (examples,) if there is one for each.

        Args:
            x: examples.
            **kwargs: further arguments of the model's ``predict``.

        Returns:
            An array.
        """
        return np.squeeze(self.model.predict(x, **self._arguments(Sequential.predict, kwargs)), -1)

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss with its sign turned, so that more is better.

        Args:
            x: examples.
            y: labels.
            **kwargs: further arguments of the model's ``evaluate``.

        Returns:
            A number.
        """
        loss = self.model.evaluate(x, y, **self._arguments(Sequential.evaluate, kwargs))
        return -float(loss[0] if isinstance(loss, list) else loss)
