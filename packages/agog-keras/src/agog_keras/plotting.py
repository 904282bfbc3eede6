"""Plotting: models as pictures of their layers."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import pairwise
from typing import Any

from agog_core import nest
from agog_core.errors import UnavailableError

__all__ = ["model_to_dot", "plot_model"]


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
) -> str:
    """Describe a model's layers, and what goes from one to another, in the language of Graphviz.

    Args:
        model: a model; of one whose layers were called on `tf.keras.Input` the calls are known, and of others the
            layers are shown one after the other.
        show_shapes: whether the shapes of outputs are shown, if they are known.
        show_dtype: whether the dtypes of weights are shown.
        show_layer_names: whether the layers' names are shown.
        rankdir: ``"TB"`` from top to bottom, ``"LR"`` from left to right.

    Returns:
        The text of a DOT file.

    >>> from agog_layers import Dense
    >>> from agog_training import Sequential
    >>> print(model_to_dot(Sequential([Dense(2, name="a"), Dense(1, name="b")], name="m")))
    digraph "m" {
      rankdir=TB;
      node [shape=record];
      "a" [label="a|Dense"];
      "b" [label="b|Dense"];
      "a" -> "b";
    }
    """
    layers = list(model.layers)
    lines = [f'digraph "{model.name}" {{', f"  rankdir={rankdir};", "  node [shape=record];"]
    for layer in layers:
        facts = [layer.name] if show_layer_names else []
        facts.append(type(layer).__name__)
        if show_dtype and layer.dtype is not None:
            facts.append(layer.dtype.name)
        if show_shapes and layer.nodes:
            facts.append(", ".join(str(symbol.shape) for symbol in nest.flatten(layer.nodes[0].outputs)))
        lines.append(f'  "{layer.name}" [label="{"|".join(facts)}"];')
    lines += [f'  "{one}" -> "{other}";' for one, other in _edges(layers)]
    return "\n".join([*lines, "}"])


def plot_model(
    model: Any,
    to_file: str | os.PathLike[str] = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    dpi: int | None = 200,
) -> str:
    """Draw a model's layers. Arguments: see `model_to_dot`.

    Args:
        to_file: the file; its ending says of which kind: ``.dot`` needs nothing, and ``.png``, ``.svg`` or ``.pdf`` the
            program ``dot`` of Graphviz.
        dpi: dots per inch; None for Graphviz's own.

    Returns:
        The file's name.

    Raises:
        UnavailableError: ``dot`` is not there.
    """
    path = os.fspath(to_file)
    text = model_to_dot(model, show_shapes, show_dtype, show_layer_names, rankdir)
    kind = path.rpartition(".")[2]
    if kind in ("dot", "gv"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return path
    program = shutil.which("dot")
    if program is None:
        raise UnavailableError(
            f"plot_model: {path} is drawn by the program dot of Graphviz, which is not on the path; install Graphviz, "
            "or write the text with to_file='model.dot'. print(model) and model.summary() show the layers too."
        )
    resolution = [] if dpi is None else [f"-Gdpi={dpi}"]
    subprocess.run([program, f"-T{kind}", *resolution, "-o", path], input=text, text=True, check=True)
    return path


def _edges(layers: list[Any]) -> list[tuple[str, str]]:
    """The edges from layer to layer."""
    names = {id(layer): layer.name for layer in layers}
    edges = [
        (names[id(parent.node.layer)], layer.name)
        for layer in layers
        for node in layer.nodes
        for parent in node.parents()
        if id(parent.node.layer) in names
    ]
    return list(dict.fromkeys(edges)) or [(one.name, other.name) for one, other in pairwise(layers)]
