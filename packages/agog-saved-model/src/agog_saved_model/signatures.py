"""Signatures: functions that take tensors by name, and give a dict of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from agog_core import Tensor, convert_to_tensor, nest
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.functions.concrete_function import ConcreteFunction
from agog_core.tracing.functions.function import DefinedFunction
from agog_saved_model.function_data import Saved, is_function, saved, tensors_of

DEFAULT = "serving_default"


def signatures_of(given: Any, root: Any) -> dict[str, Saved]:
    """The functions that are called by name alone.

    Args:
        given: what the program asks for: a function, a dict of them, or None for the object's own.
        root: what is saved.
    """
    if given is None:
        return _of_root(root)
    if is_function(given):
        given = {DEFAULT: given}
    if not isinstance(given, Mapping) or not all(
        is_function(each) or hasattr(each, "_as_saved") for each in given.values()
    ):
        raise TypeError(
            "saved_model.save: signatures must be a traced function, or a dict of names to such functions, with an "
            f"input_signature or from get_concrete_function; got {given!r}."
        )
    return {name: _named(name, saved(each)) for name, each in given.items()}


def _of_root(root: Any) -> dict[str, Saved]:
    kinds = getattr(type(root), "call_kinds", None)
    if kinds is not None:
        call = root.call_kinds()
        if call is None:
            return {}
        function, signature, found = call
        return {DEFAULT: _named(DEFAULT, Saved("__call__", function, signature, found[:1]))}
    functions = [getattr(root, name) for name in _names_of_functions(root)]
    with_signature = [each for each in functions if isinstance(each, ConcreteFunction) or len(saved(each).kinds) == 1]
    if len(functions) == 1 and with_signature:
        try:
            return {DEFAULT: _named(DEFAULT, saved(functions[0]))}
        except InvalidArgumentError:
            return {}
    return {}


def _names_of_functions(root: Any) -> list[str]:
    names = dict.fromkeys(name for name, each in vars(root).items() if is_function(each))
    for kind in type(root).__mro__:
        names |= dict.fromkeys(name for name, each in vars(kind).items() if isinstance(each, DefinedFunction))
    return list(names)


def _named(name: str, found: Saved) -> Saved:
    """A function that takes the tensors of another one by their names, and gives a dict."""
    if len(found.kinds) != 1:
        raise InvalidArgumentError(
            f"saved_model.save: the signature {name!r} must be for one kind of arguments, and {found.name} was traced "
            f"for {len(found.kinds)}; give it an input_signature, or pass its get_concrete_function(...)."
        )
    (kind,) = found.kinds
    names = input_names(kind)
    specs = [TensorSpec(spec.shape, spec.dtype, each) for each, spec in zip(names, tensors_of(kind), strict=True)]

    def call(**tensors: Tensor) -> dict[str, Any]:
        given = [tensors[each] for each in names]
        arguments = nest.map_structure(lambda leaf: given.pop(0) if isinstance(leaf, TensorSpec) else leaf, kind)
        bound = found.signature.bind_partial()
        bound.arguments.update(arguments)
        return outputs(found.function(*bound.args, **bound.kwargs))

    parameters = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY) for each in names]
    return Saved(name, call, inspect.Signature(parameters), [dict(zip(names, specs, strict=True))])


def input_names(kind: Mapping[str, Any]) -> list[str]:
    """A name for each tensor among arguments: that of its spec, or the parameter's, or the key in a dict there."""
    names: list[str] = []

    def visit(value: Any, name: str) -> None:
        if isinstance(value, TensorSpec):
            wanted = _identifier(value.name or name)
            taken, number = wanted, 0
            while taken in names:
                number += 1
                taken = f"{wanted}_{number}"
            names.append(taken)
        elif isinstance(value, Mapping):
            for key in sorted(value):
                visit(value[key], str(key))
        elif isinstance(value, (list, tuple)):
            for place, each in enumerate(value):
                visit(each, name if not place else f"{name}_{place}")

    for name in sorted(kind):
        visit(kind[name], name)
    return names


def _identifier(name: str) -> str:
    cleaned = "".join(each if each.isalnum() or each == "_" else "_" for each in name.removesuffix(":0"))
    return cleaned if cleaned.isidentifier() else f"input_{cleaned}"


def outputs(result: Any) -> dict[str, Any]:
    """What a signature gives, by name."""
    if isinstance(result, Mapping):
        return {str(key): convert_to_tensor(each) for key, each in result.items()}
    leaves = [each for each in nest.flatten(result) if each is not None]
    return {f"output_{place}": each for place, each in enumerate(leaves)}
