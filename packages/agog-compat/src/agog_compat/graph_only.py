"""Graph only: what TensorFlow has for graphs alone; a program that calls it is told what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from agog_core.variables.name_scope import reset_names

__all__ = ["Graph", "InteractiveSession", "Session", "reset_default_graph"]

_CHECKPOINT = "Use tf.train.Checkpoint instead, which saves objects."
_CUSTOM = "Use tf.custom_gradient, or tf.stop_gradient, instead."
_DATA = "Use tf.data to get data into the model."
_GRADIENTS = "Use tf.GradientTape or tfe.gradients_function instead."
_METRICS = "Use tfe.metrics, whose metrics are objects, instead."
_PARTITIONER = "Leave the partitioner out; variables are whole."
_PLACEHOLDER = "Pass tensors to a function instead."
_REMOTE = "agog runs in one process; a plugin can bring a device that is elsewhere."
_SUMMARIES = "Use tf.contrib.summary instead."

_NOT_IMPLEMENTED = (_PARTITIONER, _REMOTE)  # TensorFlow raises this type where something is missing

# The functions that raise, by the names that programs call, and what to do instead.
_ADVICE = {
    "tf.FIFOQueue": _DATA,
    "tf.FixedLengthRecordReader": _DATA,
    "tf.IdentityReader": _DATA,
    "tf.LMDBReader": _DATA,
    "tf.NoGradient": _CUSTOM,
    "tf.NotDifferentiable": _CUSTOM,
    "tf.PaddingFIFOQueue": _DATA,
    "tf.PriorityQueue": _DATA,
    "tf.QueueBase": _DATA,
    "tf.RandomShuffleQueue": _DATA,
    "tf.ReaderBase": _DATA,
    "tf.RegisterGradient": _CUSTOM,
    "tf.TFRecordReader": _DATA,
    "tf.TextLineReader": _DATA,
    "tf.WholeFileReader": _DATA,
    "tf.add_check_numerics_ops": "Use tf.check_numerics, or tfe.seterr(inf_or_nan='raise') for all ops.",
    "tf.fixed_size_partitioner": _PARTITIONER,
    "tf.get_default_graph": "There are no graphs; ops run as they are called.",
    "tf.gradients": _GRADIENTS,
    "tf.hessians": _GRADIENTS,
    "tf.min_max_variable_partitioner": _PARTITIONER,
    "tf.placeholder": _PLACEHOLDER,
    "tf.sparse_placeholder": _PLACEHOLDER,
    "tf.variable_axis_size_partitioner": _PARTITIONER,
    "tfe.connect_to_remote_host": _REMOTE,
    "tfe.enable_remote_eager_execution": _REMOTE,
    "tfe.set_server_def": _REMOTE,
    "tf.metrics.accuracy": _METRICS,
    "tf.metrics.auc": _METRICS,
    "tf.metrics.average_precision_at_k": _METRICS,
    "tf.metrics.false_negatives": _METRICS,
    "tf.metrics.false_negatives_at_thresholds": _METRICS,
    "tf.metrics.false_positives": _METRICS,
    "tf.metrics.false_positives_at_thresholds": _METRICS,
    "tf.metrics.mean": _METRICS,
    "tf.metrics.mean_absolute_error": _METRICS,
    "tf.metrics.mean_cosine_distance": _METRICS,
    "tf.metrics.mean_iou": _METRICS,
    "tf.metrics.mean_per_class_accuracy": _METRICS,
    "tf.metrics.mean_relative_error": _METRICS,
    "tf.metrics.mean_squared_error": _METRICS,
    "tf.metrics.mean_tensor": _METRICS,
    "tf.metrics.percentage_below": _METRICS,
    "tf.metrics.precision": _METRICS,
    "tf.metrics.precision_at_k": _METRICS,
    "tf.metrics.precision_at_thresholds": _METRICS,
    "tf.metrics.precision_at_top_k": _METRICS,
    "tf.metrics.recall": _METRICS,
    "tf.metrics.recall_at_k": _METRICS,
    "tf.metrics.recall_at_thresholds": _METRICS,
    "tf.metrics.recall_at_top_k": _METRICS,
    "tf.metrics.root_mean_squared_error": _METRICS,
    "tf.metrics.sensitivity_at_specificity": _METRICS,
    "tf.metrics.sparse_average_precision_at_k": _METRICS,
    "tf.metrics.sparse_precision_at_k": _METRICS,
    "tf.metrics.specificity_at_sensitivity": _METRICS,
    "tf.metrics.true_negatives": _METRICS,
    "tf.metrics.true_negatives_at_thresholds": _METRICS,
    "tf.metrics.true_positives": _METRICS,
    "tf.metrics.true_positives_at_thresholds": _METRICS,
    "tf.summary.FileWriter": _SUMMARIES,
    "tf.summary.merge": _SUMMARIES,
    "tf.summary.merge_all": _SUMMARIES,
    "tf.train.QueueRunner": _DATA,
    "tf.train.SyncReplicasOptimizer": "Use tf.contrib.opt.GradientAccumulator to take one step for several batches.",
    "tf.train.add_queue_runner": _DATA,
    "tf.train.batch": _DATA,
    "tf.train.batch_join": _DATA,
    "tf.train.export_meta_graph": _CHECKPOINT,
    "tf.train.import_meta_graph": _CHECKPOINT,
    "tf.train.input_producer": _DATA,
    "tf.train.maybe_batch": _DATA,
    "tf.train.maybe_batch_join": _DATA,
    "tf.train.maybe_shuffle_batch": _DATA,
    "tf.train.maybe_shuffle_batch_join": _DATA,
    "tf.train.range_input_producer": _DATA,
    "tf.train.shuffle_batch": _DATA,
    "tf.train.shuffle_batch_join": _DATA,
    "tf.train.slice_input_producer": _DATA,
    "tf.train.start_queue_runners": _DATA,
    "tf.train.string_input_producer": _DATA,
    "tf.contrib.summary.summary_writer_initializer_op": "A writer is ready when it is made.",
}


class Refused:
    """The functions of a namespace that raise, as attributes.

    >>> Refused("tf.summary").merge([])
    Traceback (most recent call last):
    RuntimeError: tf.summary.merge is not supported when eager execution is enabled. Use tf.contrib.summary instead.
    """

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self.__all__ = [name.rpartition(".")[2] for name in _ADVICE if name.rpartition(".")[0] == namespace]

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _refused(f"{self._namespace}.{name}")


def _refused(name: str) -> Callable[..., NoReturn]:
    if name not in _ADVICE:
        raise AttributeError(name)
    advice = _ADVICE[name]
    error = NotImplementedError if advice in _NOT_IMPLEMENTED else RuntimeError
    text = f"{name} is not supported when eager execution is enabled. {advice}"

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise error(text)

    function.__dict__["refusal"] = text
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"""Raise: {text}

    Args:
        *args: not used.
        **kwargs: not used.

    Raises:
        {error.__name__}: always.
    """
    return function


class Session:
    """What runs graphs in TensorFlow. It can be made, but there is no graph to run.

    >>> with Session() as session:
    ...     pass
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        self.graph = graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> NoReturn:
        """Raise: there is no graph.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "The Session graph is empty: agog has no graphs, and ops run as they are called. Call the function that "
            "computes the tensor; tensor.numpy() is its value."
        )

    def close(self) -> None:
        """Do nothing."""

    def as_default(self) -> Self:
        """The session, which is a context manager.

        Returns:
            The session.
        """
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class InteractiveSession(Session):
    """A `Session` for a shell."""


class Graph:
    """A graph in TensorFlow. It can be made, but ops do not go into it.

    >>> graph = Graph()
    """

    def as_default(self) -> NoReturn:
        """Raise: ops cannot be put into a graph.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "tf.Graph.as_default is not supported: agog has no graphs, and ops run as they are called. Leave the "
            "`with` statement out; tf.device, tf.name_scope and functions need no graph."
        )


def reset_default_graph() -> None:
    """Let the numbers behind names begin anew; there is no graph to forget."""
    reset_names()
