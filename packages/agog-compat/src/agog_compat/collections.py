"""Collections: a graph's lists by name, for the program's own use. agog puts nothing into them."""

from __future__ import annotations

import re
from typing import Any

from agog_core import Tensor, Variable, constant, string

__all__ = [
    "GraphKeys",
    "add_to_collection",
    "all_variables",
    "get_collection",
    "get_collection_ref",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "tables_initializer",
    "trainable_variables",
    "variables_initializer",
]

# The lists of a program's own, by name: `get_collection_ref` makes them, and programs write them.
_collections: dict[str, list[Any]] = {}


class GraphKeys:
    """The names of the collections that TensorFlow fills in graphs.

    >>> get_collection(GraphKeys.GLOBAL_VARIABLES)
    []
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"


def add_to_collection(name: str, value: Any) -> None:
    """Append a value to a collection, which keeps it until it is taken out.

    Args:
        name: the collection's name.
        value: the value.

    >>> add_to_collection("mine", 1)
    >>> get_collection("mine"), get_collection_ref("mine").clear()
    ([1], None)
    """
    get_collection_ref(name).append(value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """The values of a collection.

    Args:
        key: the collection's name.
        scope: a regular expression; only values whose attribute ``name`` begins with a match are returned.

    Returns:
        A new list.

    >>> get_collection("none of this name")
    []
    """
    values = _collections.get(key, [])
    if scope is None:
        return list(values)
    return [value for value in values if re.match(scope, getattr(value, "name", None) or "")]


def get_collection_ref(key: str) -> list[Any]:
    """A collection itself.

    Args:
        key: the collection's name.

    Returns:
        The list, to be changed.

    >>> get_collection_ref("mine").clear()
    """
    return _collections.setdefault(key, [])


def global_variables(scope: str | None = None) -> list[Any]:
    """No variables: objects hold theirs, and a list of all would keep them alive.

    Returns:
        An empty list.

    >>> global_variables()
    []
    """
    return []


all_variables = local_variables = model_variables = global_variables
moving_average_variables = trainable_variables = global_variables


def variables_initializer(var_list: Any = None, name: str = "init") -> None:
    """Do nothing: variables have their values, and tables their entries, from the beginning.

    >>> variables_initializer([])
    """


global_variables_initializer = initialize_all_variables = variables_initializer
local_variables_initializer = initialize_local_variables = variables_initializer
initialize_variables = tables_initializer = variables_initializer


def is_variable_initialized(variable: Variable) -> Tensor:
    """Whether a variable has its value, as all have.

    Returns:
        True, a scalar bool.

    >>> print(is_variable_initialized(Variable(1.0)))
    tf.Tensor(True, shape=(), dtype=bool)
    """
    return constant(True)


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Tensor:
    """The names of the variables without a value, of which there are none.

    Returns:
        A vector of no strings.

    >>> print(report_uninitialized_variables())
    tf.Tensor([], shape=(0,), dtype=string)
    """
    return constant([], string)
