"""Call kinds: the calls of a model that are kept where it is saved without its class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from agog_core import TensorSpec, nest


def call_kinds(model: Any) -> tuple[Callable[..., Any], inspect.Signature, list[dict[str, Any]]] | None:
    """What is called, its parameters, and the arguments by name that it is kept for: those of the model's inputs, with
    a spec for each tensor, without and with training. None for a model that has no inputs yet.
    """
    known = model.inputs
    if known is None:
        return None
    form = known[0] if model._input_symbols is not None and len(known) == 1 else model._built_on
    form = model._graph.inputs if model._graph is not None else form
    form = form[0] if isinstance(form, (list, tuple)) and len(form) == 1 else form
    if len(nest.flatten(form)) != len(known):
        return None
    names = [*model.input_names, *[None] * len(known)]
    inputs = nest.pack(
        form, [TensorSpec(spec.shape, spec.dtype, name) for spec, name in zip(known, names, strict=False)]
    )
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, kinds = [inspect.Parameter("inputs", either)], [{"inputs": inputs}]
    if model._graph is not None or "training" in inspect.signature(model.call).parameters:
        parameters.append(inspect.Parameter("training", either, default=False))
        kinds = [{"inputs": inputs, "training": False}, {"inputs": inputs, "training": True}]
    return model, inspect.Signature(parameters), kinds
