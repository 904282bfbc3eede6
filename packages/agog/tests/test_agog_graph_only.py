"""What works in graphs only: every text, under the name that programs use."""

from __future__ import annotations

from typing import Any

import pytest

import agog as tf
import agog.eager as tfe
from agog_testing import says

DATA = "Use tf.data to get data into the model."
GRADIENTS = "Use tf.GradientTape or tfe.gradients_function instead."
CUSTOM = "Use tf.custom_gradient, or tf.stop_gradient, instead."
CHECKPOINT = "Use tf.train.Checkpoint instead, which saves objects."
ADVICE = {
    "add_check_numerics_ops": "Use tf.check_numerics, or tfe.seterr(inf_or_nan='raise') for all ops.",
    "get_default_graph": "There are no graphs; ops run as they are called.",
    "NoGradient": CUSTOM,
    "NotDifferentiable": CUSTOM,
    "RegisterGradient": CUSTOM,
    "gradients": GRADIENTS,
    "hessians": GRADIENTS,
    "placeholder": "Pass tensors to a function instead.",
    "sparse_placeholder": "Pass tensors to a function instead.",
    "train.export_meta_graph": CHECKPOINT,
    "train.import_meta_graph": CHECKPOINT,
} | dict.fromkeys(
    [
        "FIFOQueue",
        "FixedLengthRecordReader",
        "IdentityReader",
        "LMDBReader",
        "PaddingFIFOQueue",
        "PriorityQueue",
        "QueueBase",
        "RandomShuffleQueue",
        "ReaderBase",
        "TFRecordReader",
        "TextLineReader",
        "WholeFileReader",
        "train.QueueRunner",
        "train.add_queue_runner",
        "train.batch",
        "train.batch_join",
        "train.input_producer",
        "train.maybe_batch",
        "train.maybe_batch_join",
        "train.maybe_shuffle_batch",
        "train.maybe_shuffle_batch_join",
        "train.range_input_producer",
        "train.shuffle_batch",
        "train.shuffle_batch_join",
        "train.slice_input_producer",
        "train.start_queue_runners",
        "train.string_input_producer",
    ],
    DATA,
)
ADVICE |= {f"summary.{name}": "Use tf.contrib.summary instead." for name in ("FileWriter", "merge", "merge_all")}
ADVICE |= {
    f"metrics.{name}": "Use tfe.metrics, whose metrics are objects, instead."
    for name in [
        "accuracy",
        "auc",
        "average_precision_at_k",
        "false_negatives",
        "false_negatives_at_thresholds",
        "false_positives",
        "false_positives_at_thresholds",
        "mean",
        "mean_absolute_error",
        "mean_cosine_distance",
        "mean_iou",
        "mean_per_class_accuracy",
        "mean_relative_error",
        "mean_squared_error",
        "mean_tensor",
        "percentage_below",
        "precision",
        "precision_at_k",
        "precision_at_thresholds",
        "precision_at_top_k",
        "recall",
        "recall_at_k",
        "recall_at_thresholds",
        "recall_at_top_k",
        "root_mean_squared_error",
        "sensitivity_at_specificity",
        "sparse_average_precision_at_k",
        "sparse_precision_at_k",
        "specificity_at_sensitivity",
        "true_negatives",
        "true_negatives_at_thresholds",
        "true_positives",
        "true_positives_at_thresholds",
    ]
}


ADVICE |= dict.fromkeys(
    ["fixed_size_partitioner", "min_max_variable_partitioner", "variable_axis_size_partitioner"],
    "Leave the partitioner out; variables are whole.",
)


def lookup(name: str) -> Any:
    value: Any = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", sorted(ADVICE))
def test_calls_say_what_to_do(name: str) -> None:
    function = lookup(name)
    is_class = name.rpartition(".")[2][0].isupper()
    what = "Merging tf.summary.* ops" if "merge" in name else f"tf.{name}{'' if is_class else '()'}"
    with says(RuntimeError, f"{what} is not compatible with eager execution. {ADVICE[name]}") as error:
        function(1, 2, any_argument=3)
    assert type(error.value) is (NotImplementedError if "partitioner" in name else RuntimeError)
    assert function.__name__ == name.rpartition(".")[2]
    assert function.__doc__.startswith(f"Raise: {what} is not compatible")


@pytest.mark.parametrize("name", ["connect_to_remote_host", "enable_remote_eager_execution", "set_server_def"])
def test_nothing_is_remote(name: str) -> None:
    with says(
        NotImplementedError,
        f"tfe.{name}() is not compatible with eager execution. agog runs in one process; a plugin can bring a device "
        "that is elsewhere.",
    ):
        getattr(tfe, name)("grpc://there")


def test_a_writer_needs_no_initialization() -> None:
    with says(
        RuntimeError,
        "tf.contrib.summary.summary_writer_initializer_op() is not compatible with eager execution. A writer is "
        "ready when it is made.",
    ):
        tf.contrib.summary.summary_writer_initializer_op()


def test_every_metric_of_graphs_is_tested() -> None:
    assert {f"metrics.{name}" for name in tf.metrics.__all__} == {name for name in ADVICE if name.startswith("metrics")}


@pytest.mark.parametrize("kind", [tf.Session, tf.InteractiveSession])
def test_sessions_can_be_made_but_run_nothing(kind: Any) -> None:
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
    with (
        kind(config=config) as session,
        session.as_default(),
        says(
            RuntimeError,
            "The Session graph is empty: agog has no graphs, and ops run as they are called. Call the function that "
            "computes the tensor; tensor.numpy() is its value.",
        ),
    ):
        session.run(tf.constant(1))


def test_graphs_can_be_made_but_not_filled() -> None:
    tf.reset_default_graph()
    with says(
        RuntimeError,
        "tf.Graph.as_default is not supported: agog has no graphs, and ops run as they are called. Leave the `with` "
        "statement out; tf.device, tf.name_scope and functions need no graph.",
    ):
        tf.Graph().as_default()


@pytest.mark.parametrize("attribute", ["op", "graph", "name", "value_index"])
def test_tensors_have_no_place_in_a_graph(attribute: str) -> None:
    x = tf.constant(1.0)
    with says(AttributeError, f"Tensor.{attribute} is meaningless when eager execution is enabled."):
        getattr(x, attribute)
    assert getattr(x, attribute, "none") == "none"


def test_tensors_are_not_evaluated_by_sessions() -> None:
    x = tf.constant(1.0)
    with says(
        NotImplementedError,
        "Tensor.eval is not supported when eager execution is enabled; tensor.numpy() is the value.",
    ):
        x.eval()
    with says(NotImplementedError, "Tensor.consumers is meaningless when eager execution is enabled."):
        x.consumers()
