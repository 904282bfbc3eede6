"""Arguments: what is misspelled is an error, and what has no effect is listed here with its reason."""

from __future__ import annotations

import dis
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import agog as tf
from agog_compat import graph_only

# What changes nothing in eager execution, or here, with the reason.
QUIET = {
    "what names and collects the nodes of a graph, and runs them": """
        collections config critical_section_def extra_feed_dict graph import_scope init_targets loss_collection
        name op scope session shared_name tensor_array_name var_list variable_def weight_collections
    """,
    "the order in which a graph would run, which is the program's own here": """
        colocate_with_first_write_call control_inputs flow ignore_existing parallel_iterations sloppy swap_memory values
    """,
    "checks of what a graph does not know, and eager execution does": """
        expected_shape infer_shape validate_indices validate_shape
    """,
    "which of several programs computes the same result": """
        a_is_sparse aggregation assume_unique autograph b_is_sparse compiled copy cuda_only
        experimental_autograph_options flash_attention input_length min_cuda_compute_capability num_proj_shards
        num_unit_shards optimize sequential_update shift sorted stable stateful synchronization unroll
        use_cudnn_on_gpu use_gpu use_locking use_resource use_safe_embedding_lookup
    """,
    "how the replicas of a strategy communicate, which is the collective's choice here": """
        communication communication_options cross_device_ops
    """,
    "what has no effect in TensorFlow's eager execution either": """
        _ add_regularization_losses attrs checkpoint_format_version create_graph_function_ dtype first_n input_size loss
        meta_graph_suffix regularizer reset_test reuse seed unique var variable zero_debias
    """,
    "what is written beside the variables, and in which format; what says how a graph restores them": """
        allow_empty builder defer_build filename graph_parents reshape restore_sequentially save_relative_paths
        saver_def sharded write_version
    """,
    "what is for one database of tf.contrib.learn, which agog has not": """
        size test_with_fake_data
    """,
    "what keeps a table apart from others, and its empty places from keys": """
        deleted_key experimental_is_anonymous
    """,
    "how wide a bar is, which the terminal says": "width",
    "where a variable's value is kept a second time": "caching_device",
    "what TensorBoard shows elsewhere, or the checks of a graph": "buckets description encoding validate_args",
    "tensors made of several, which are leaves here": "expand_composites",
    "that processes make batches ahead, where threads do": "use_multiprocessing wait_time",
    "that no code of a description runs, as none does here": "safe_mode",
    "which graph of a folder is meant, and how TensorFlow writes and reads it": "options tags",
}
# What is needed to make a layer at all.
NEEDED: dict[str, Callable[[], Any]] = {
    "activation": lambda: "relu",
    "axes": lambda: 1,
    "cell": lambda: tf.keras.layers.LSTMCell(1),
    "cells": lambda: [tf.keras.layers.LSTMCell(1)],
    "input_shape": lambda: (1,),
    "dims": lambda: (1,),
    "feature_columns": lambda: [tf.feature_column.numeric_column("x")],
    "function": lambda: len,
    "layer": lambda: tf.keras.layers.LSTM(1),
    "rate": lambda: 0.5,
    "stddev": lambda: 0.5,
    "target_shape": lambda: (1,),
}


def public() -> Iterator[tuple[str, Any]]:
    """Each function and class of the umbrella, once, but for those that only refuse."""
    seen = set()
    for found in [tf.__name__, *(module.name for module in pkgutil.walk_packages(tf.__path__, "agog."))]:
        if found.startswith(("agog.__main__", "agog.commands")):  # they offer nothing to programs
            continue
        module = importlib.import_module(found)
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            is_ours = (getattr(value, "__module__", None) or "").startswith("agog") and callable(value)
            if is_ours and id(value) not in seen and value.__module__ != graph_only.__name__:
                seen.add(id(value))
                yield f"{found}.{name}", value


def functions() -> Iterator[tuple[str, Any]]:
    """The functions and the constructors among these."""
    for name, value in public():
        function = vars(value).get("__init__") if inspect.isclass(value) else value
        if inspect.isfunction(function):
            yield name, function


def unread(function: Any) -> list[str]:
    """The parameters that no code reads, of a function and of what it wraps."""
    layers = [function]
    while hasattr(layers[-1], "__wrapped__"):
        layers.append(layers[-1].__wrapped__)
    read = {"self", "cls"}
    for code in (layer.__code__ for layer in layers if hasattr(layer, "__code__")):
        read |= set(code.co_cellvars)
        for instruction in dis.get_instructions(code):
            if instruction.opname.startswith("LOAD_FAST"):
                read |= set(instruction.argval) if isinstance(instruction.argval, tuple) else {instruction.argval}
    code = layers[-1].__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [] if "locals" in code.co_names else [name for name in named if name not in read]


FUNCTIONS = dict(functions())
LAYERS = {
    name: value for name, value in public() if inspect.isclass(value) and issubclass(value, tf.keras.layers.Layer)
}


def test_there_is_enough_to_look_at() -> None:
    assert len(FUNCTIONS) > 800
    assert len(LAYERS) > 90


def test_what_has_no_effect_is_known() -> None:
    quiet = set(" ".join(QUIET.values()).split())
    found = {name: given for name, function in FUNCTIONS.items() if (given := set(unread(function)) - quiet)}
    assert found == {}, found


def test_what_is_said_to_have_no_effect_is_somewhere() -> None:
    found = {each for function in FUNCTIONS.values() for each in unread(function)}
    assert sorted(set(" ".join(QUIET.values()).split()) - found) == []


@pytest.mark.parametrize("name", LAYERS)
def test_misspelled_arguments_of_layers_are_named(name: str) -> None:
    layer = LAYERS[name]
    parameters = inspect.signature(layer).parameters.values()
    needed = [
        each.name for each in parameters if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    given = {each: NEEDED.get(each, lambda: 1)() for each in needed}
    if layer is tf.keras.layers.InputLayer:
        given["input_shape"] = (1,)
    with pytest.raises(TypeError, match="nonsense_argument"):
        layer(**given, nonsense_argument=1)
