"""Explained function: the output of `agog explain --function`."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any

import click

from agog_core import nest
from agog_core.dtypes import as_dtype
from agog_core.ops.array.creation import zeros
from agog_core.tensors.tensor_spec import TensorSpec

_CALLS = 2  # the first call may create variables, and is no trace then


def explained_function(where: str, arguments: Sequence[str]) -> str:
    """What runs each op of a function that ``"module:name"`` names, for each of its traces.

    Args:
        where: the module's name and the function's.
        arguments: their dtypes and shapes; none for the traces that there are, or that of the input signature.

    Raises:
        ClickException: there is no such function, or no way to trace it.
    """
    function = _found(where)
    specs = [_spec(each) for each in arguments] or function.input_signature
    if arguments or (specs is not None and not function.traces()):
        given = nest.map_structure(_zeros, list(specs))
        for _ in range(_CALLS):
            function(*given)
    kept = [trace for trace in function.traces() if trace.is_kept]
    if not kept:
        raise click.ClickException(
            f"{where} has no trace: it was not called while its module was imported. Say what to call it with, such as "
            "--argument float32[32,784], once for each argument."
        )
    return "\n\n".join(f"trace {n}: {trace.reason}\n{trace.graph.explain()}" for n, trace in enumerate(kept, 1))


def _found(where: str) -> Any:
    name, colon, path = where.partition(":")
    if not colon:
        raise click.ClickException(f"--function takes a module and a name, such as train:step; got {where!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as for python -m: the module may lie where the command is called
    try:
        found = reduce(getattr, path.split("."), importlib.import_module(name))
    except (ImportError, AttributeError) as error:
        raise click.ClickException(f"--function {where}: {error}") from error
    if not hasattr(found, "traces"):
        raise click.ClickException(f"{where} is no traced function, but a {type(found).__name__}; see tf.function.")
    return found


def _spec(text: str) -> TensorSpec:
    matched = re.fullmatch(r"(\w+)(?:\[([\d,\s]*)\])?", text)
    if matched is None:
        raise click.ClickException(f"--argument takes a dtype and a shape, such as float32[32,784]; got {text!r}.")
    try:
        return TensorSpec([int(size) for size in (matched[2] or "").split(",") if size.strip()], as_dtype(matched[1]))
    except TypeError as error:
        raise click.ClickException(f"--argument {text}: {error}") from error


def _zeros(spec: TensorSpec) -> Any:
    """A tensor as a spec asks for; sizes that it leaves open are 1."""
    sizes = spec.shape.as_list() if spec.shape.ndims is not None else []
    return zeros([1 if size is None else size for size in sizes], spec.dtype)
