"""Exporting: what ``Model.export`` saves."""

from __future__ import annotations

from typing import Any

from agog_saved_model.function_data import Saved
from agog_saved_model.saving import save_with


def export(model: Any, folder: str, verbose: bool) -> None:
    """Save a model with its call as ``serve``; ValueError where its inputs are not known."""
    call = model.call_kinds()
    if call is None:
        raise ValueError(f"Model.export: the inputs of {model.name!r} are not known; call the model on a batch before.")
    function, signature, kinds = call
    save_with(model, folder, None, {"serve": Saved("serve", function, signature, kinds[:1])})
    if verbose:
        print(f"Saved artifact at '{folder}': the endpoint 'serve', with {len(model.weights)} variables.")
