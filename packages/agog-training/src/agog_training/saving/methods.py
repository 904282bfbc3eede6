"""Methods of models that write files and read them."""

from __future__ import annotations

import os
from typing import Any

from agog_core.files import file_path
from agog_training.saving import weights

__all__ = ["SavingMethods"]


class SavingMethods:
    """The part of a model that keeps it in files."""

    def save(
        self,
        filepath: str | os.PathLike[str],
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
    ) -> None:
        """Save the whole model into one file; see `save_model`, and `load_model`, which reads it.

        Args:
            filepath: the file's name, such as ``"mnist.agog"``.
            overwrite: whether a file of that name may be replaced.
            include_optimizer: whether the optimizer, its state, the losses and the metrics are saved too.
            save_format: must be None.

        Raises:
            NotImplementedError: a part of the model, its optimizer, or a loss or metric cannot be described by data.
            ValueError: the model has no weights yet, or a format is asked for.
            AlreadyExistsError: there is such a file, and it may not be replaced.
        """
        from agog_training.saving.model_file import save_model  # here, because most programs do not need it

        if save_format is not None:
            raise ValueError(f"Model.save: there is one format, so save_format must be None; got {save_format!r}.")
        save_model(self, filepath, overwrite, include_optimizer)

    def export(
        self, filepath: str | os.PathLike[str], format: str = "tf_saved_model", verbose: bool = True, **kwargs: Any
    ) -> None:
        """Save the call of the model for programs without its class; `tf.saved_model.load` reads it.

        What is loaded has ``serve``, the call without training, and ``signatures``; it can be called and trained too.

        Args:
            filepath: the folder.
            format: must be ``"tf_saved_model"``.
            verbose: whether a line tells what was saved.

        Raises:
            ValueError: the model was never called, so that its inputs are not known; or the format is another.
            TracingError: the call does what data cannot say; its line is named.
        """
        from agog_saved_model.exporting import export  # here, because most programs do not need it

        if format != "tf_saved_model":
            raise ValueError(
                f"Model.export: format must be 'tf_saved_model'; got {format!r}. For ONNX see tf.export.onnx."
            )
        export(self, file_path("Model.export", filepath), verbose)

    def save_weights(
        self, filepath: str | os.PathLike[str], overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Save the weights as a checkpoint; ``tf.train.Checkpoint(model=model)`` restores it too.

        The keys are the paths of the weights in the model, such as ``model/layers/0/kernel``.
        `tf.train.latest_checkpoint` finds the file, unless a `CheckpointManager` keeps the list of its folder.

        Args:
            filepath: the file's name, with or without ``.safetensors``; one that ends with ``.h5`` gets it, with a
                warning, unless the format is ``"h5"``.
            overwrite: whether a file of that name may be replaced.
            save_format: None, ``"tf"`` or ``"tensorflow"``. The state of an optimizer of ``tf.train`` is saved, and of
                one of ``tf.keras.optimizers`` if a format is given. ``"h5"`` writes weights alone, in a file for Keras:
                for Keras 3 under a name that ends with ``.weights.h5``, and for Keras 2 under any other.

        Raises:
            ValueError: the model has no weights yet, the format is another, or has no place for a weight.
            AlreadyExistsError: there is such a file, and it may not be replaced.
            ImportError: the file is for Keras, and h5py is not installed.
        """
        if save_format == "h5":
            weights.save_keras(self, file_path("save_weights", filepath), overwrite)
            return
        if save_format not in (None, "tf", "tensorflow"):
            raise ValueError(f"save_weights: save_format must be 'tf', 'h5' or None; got {save_format!r}.")
        path = weights.told_of_format("save_weights", file_path("save_weights", filepath))
        weights.save_weights(self, path, overwrite, save_format)

    def load_weights(self, filepath: str | os.PathLike[str], by_name: bool = False) -> Any:
        """Restore the weights from what `save_weights` wrote; a warning names those that the file has no values for.

        Layers of a `Sequential` or functional model are found by their places among those with weights. The file's
        state of the optimizer is restored too, also into a later one of `compile`.

        Weights in Keras's own files (``.keras``, ``.weights.h5`` and older ``.h5``) are read too, where h5py is there;
        the model has to be built, and all of its weights have to be in the file.

        Args:
            filepath: the file's name, with or without ``.safetensors``.
            by_name: whether layers are found by their names, not by their places in the model; those that are not in
                the file keep their weights.

        Returns:
            A status, whose `repr` is a report. Variables that do not exist yet are restored when they are made. None
            for a file of Keras.

        Raises:
            ValueError: a shape differs; or layers are to be found by name and there are none yet; or a file of Keras
                has other layers.
            AssertionError: nothing in the file belongs to the model.
            NotFoundError: there is no such file.
            DataLossError: it is damaged.
            ImportError: it is a file of Keras, and h5py is not installed.
        """
        return weights.load_weights(self, file_path("load_weights", filepath), by_name)
