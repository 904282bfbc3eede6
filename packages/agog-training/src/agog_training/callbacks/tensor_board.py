"""TensorBoard: a callback that writes summaries of a training."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal

from agog_core import Variable
from agog_core.files import file_path
from agog_summary import (
    SummaryWriter,
    always_record_summaries,
    create_file_writer,
    graph,
    histogram,
    image,
    scalar,
)
from agog_training.callbacks.callback import Callback, Gradients, Logs

__all__ = ["TensorBoard"]


class TensorBoard(Callback):
    """Writes the losses and metrics of batches and epochs, the model's graph, and histograms of weights, to an event
    file for TensorBoard.

    The tags are ``batch_loss``, of the number of the batch since the first training, and ``epoch_loss``,
    ``epoch_val_loss``, of the number of the epoch; and so for each metric.

    Args:
        log_dir: the folder of the file.
        histogram_freq: after how many epochs histograms of the weights are written; 0 for never.
        write_graph: whether the model's graph is written, after the first batch. Layers of a model with a ``call`` of
            its own are not connected there.
        write_grads: whether the histograms come with those of the gradients of the epoch's last batch, ``<name>_grad``.
        write_images: whether the histograms come with pictures of the weights: matrices as one, kernels as one for each
            filter, and at most three.
        embeddings_freq: after how many epochs embeddings are written; only 0 is possible.
        update_freq: when losses and metrics of batches are written: ``"batch"`` for each, ``"epoch"`` for none, or a
            number of examples that are seen in between.

    Raises:
        NotImplementedError: an argument asks for what is not possible.
        ValueError: ``update_freq`` is something else.
    """

    only_writes = True

    def __init__(
        self,
        log_dir: str | os.PathLike[str] = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Literal["batch", "epoch"] | int = "batch",
    ) -> None:
        embeddings = {
            "embeddings_freq": embeddings_freq or None,
            "embeddings_layer_names": embeddings_layer_names,
            "embeddings_metadata": embeddings_metadata,
            "embeddings_data": embeddings_data,
        }
        for name, value in embeddings.items():
            if value is not None:
                raise NotImplementedError(
                    f"TensorBoard: {name}={value!r} is not possible; leave it out, and write what you want to see with "
                    "tf.contrib.summary in a callback of your own."
                )
        if update_freq not in ("batch", "epoch") and not (isinstance(update_freq, int) and update_freq > 0):
            raise ValueError(
                "TensorBoard: update_freq must be 'batch', 'epoch' or a positive number of examples; got "
                f"{update_freq!r}."
            )
        if batch_size != 32:
            warnings.warn(
                "TensorBoard: batch_size has no effect; histograms are of the weights, and of the gradients of the "
                "batches that fit takes.",
                UserWarning,
                stacklevel=2,
            )
        self.log_dir = file_path("TensorBoard", log_dir)
        self.histogram_freq, self.update_freq = histogram_freq, update_freq
        self.write_graph, self.write_grads, self.write_images = write_graph, write_grads, write_images
        self._batches = self._examples = 0
        self._graph_is_written = False
        self._gradients: Gradients = ()
        self._writer = SummaryWriter(None)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._writer = create_file_writer(self.log_dir)
        self._graph_is_written, self._examples = False, 0

    def on_gradients(self, gradients: Gradients) -> None:
        if self.histogram_freq and self.write_grads:
            self._gradients = gradients

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        self._examples += logs.get("size", 1)
        with self._writer.use(), always_record_summaries():
            # Now the model has its variables, for sure.
            if self.write_graph and not self._graph_is_written and self.model.__graph_nodes__():
                graph(self.model, step=0)
                self._graph_is_written = True
            if self._batch_is_written():
                for name, value in logs.items():
                    if name not in ("batch", "size"):
                        scalar(f"batch_{name}", value, step=self._batches)
        self._batches += 1

    def _batch_is_written(self) -> bool:
        if isinstance(self.update_freq, str):
            return self.update_freq == "batch"
        if self._examples < self.update_freq:
            return False
        self._examples = 0
        return True

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        with self._writer.as_default(), always_record_summaries():
            for name, value in (logs or {}).items():
                scalar(f"epoch_{name}", value, step=epoch)
            if self.histogram_freq and epoch % self.histogram_freq == 0:
                self._write_weights(epoch)
        self._gradients = ()

    def _write_weights(self, epoch: int) -> None:
        for weight in self.model.weights:
            histogram(weight.name, weight, step=epoch)
            if self.write_images and (pictures := _pictures(weight)) is not None:
                image(weight.name, pictures, step=epoch)
        for gradient, weight in self._gradients:
            if gradient is not None:
                histogram(f"{weight.name}_grad", gradient, step=epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        self._writer.close()


def _pictures(weight: Variable) -> Any:
    """The weight as a batch of images, as Keras shows it; None if that has too many axes."""
    values: Any = weight.numpy().squeeze()
    if values.ndim == 1:
        values = values[None, :, None]
    elif values.ndim == 2:
        height, width = values.shape
        values = (values.T if height > width else values)[None]
    elif values.ndim == 3:  # the kernel of a convolution of one channel: the filters are last
        values = values.transpose(2, 0, 1)
    else:
        return None
    return values[..., None]
