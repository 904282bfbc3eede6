"""Saved model: a layer that calls a function of one."""

from __future__ import annotations

import os
from typing import Any

from agog_core.files import file_path
from agog_layers.layer.layer import Layer

__all__ = ["TFSMLayer"]


class TFSMLayer(Layer):
    """A function of a saved model as a layer.

    Args:
        filepath: the folder that `tf.saved_model.save` or ``Model.export`` has written.
        call_endpoint: the name of a function or a signature, or ``__call__`` for the model's own call.
        call_training_endpoint: what is called in training, or None for the same.
        trainable: whether its variables are trained.
        name: the layer's name.

    Raises:
        ValueError: the model has no such function.

    >>> import tempfile
    >>> import agog as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.export(folder, verbose=False)
    ...     layer = TFSMLayer(folder)
    >>> layer(tf.ones([4, 3])).shape
    TensorShape([4, 2])
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        call_endpoint: str = "serve",
        call_training_endpoint: str | None = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        from agog_saved_model.loading import load  # here, because most programs do not need it

        super().__init__(name=name, trainable=trainable, dtype=dtype)
        self.filepath = file_path("TFSMLayer", filepath)
        self.call_endpoint, self.call_training_endpoint = call_endpoint, call_training_endpoint
        loaded = load(self.filepath)
        self._plain = self._found(loaded, call_endpoint)
        self._in_training = self._found(loaded, call_training_endpoint or call_endpoint)
        self._restored = loaded
        for place, variable in enumerate(loaded.variables):
            setattr(self, f"variable_{place}", variable)
        self.built = True

    def _found(self, loaded: Any, endpoint: str) -> Any:
        if endpoint == "__call__":
            return loaded
        found = vars(loaded).get(endpoint) or loaded.signatures.get(endpoint)
        if not callable(found):
            names = [name for name, each in vars(loaded).items() if callable(each) and not name.startswith("_")]
            raise ValueError(
                f"TFSMLayer: the saved model has no function {endpoint!r}; it has "
                f"{', '.join([*names, *loaded.signatures])}."
            )
        return found

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Call the function."""
        return self._in_training(inputs) if training else self._plain(inputs)
