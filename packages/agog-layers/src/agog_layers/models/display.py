"""Display: layers and models as one line, and as tables for notebooks."""

from __future__ import annotations

from typing import Any

from agog_core.tensors.display import table, titled
from agog_layers.models.model import Model
from agog_layers.models.summary import HEADER, NUMERIC, output_shape, rows_of_summary


def line(layer: Any) -> str:
    """A layer on one line: its class, name, the shape of its output and those of its weights.

    >>> from agog_layers import Dense
    >>> layer = Dense(3, name="logits")
    >>> line(layer)
    "<Dense 'logits': not built>"
    >>> layer.build((None, 2))
    >>> line(layer)
    "<Dense 'logits': kernel (2, 3), bias (3,)>"
    """
    kind = type(layer).__name__
    if "_tracked_parts" not in vars(layer):
        return f"<{kind}: not initialized>"
    return f"<{kind} {layer._name!r}: {', '.join(_facts(layer))}>" if layer._name else f"<{kind}: not named>"


def _facts(layer: Any) -> list[str]:
    symbols = (layer._output_symbols or ()) if isinstance(layer, Model) else ()
    shape = ", ".join(str(symbol.shape) for symbol in symbols) or output_shape(layer)
    facts = [] if shape == "unknown" else [f"output {shape}"]
    inside = layer.layers if isinstance(layer, Model) else list(layer._modules())
    if inside:
        facts.append(f"{len(inside)} layer{'' if len(inside) == 1 else 's'}")
    if not layer.built:
        return [*facts, "not built"]
    if inside:
        return [*facts, f"{layer.count_params():,} parameters"]
    weights = [f"{_short(variable)} {variable.shape}" for variable in layer.weights]
    return [*facts, *weights] or ["no weights"]


def _short(variable: Any) -> str:
    name: str = variable.name
    return name.rpartition("/")[2].partition(":")[0]


def html(layer: Any) -> str:
    """A layer as HTML: the summary of a model, the weights of another layer.

    >>> from agog_layers import Flatten
    >>> html(Flatten(name="flat"))
    '<div><div><code>&lt;Flatten &#x27;flat&#x27;: not built&gt;</code></div></div>'
    """
    title = line(layer)
    if "_tracked_parts" not in vars(layer) or not layer.built:
        return titled(title)
    if isinstance(layer, Model):
        header, rows, totals = rows_of_summary(layer)
        return titled(title, table(header, [*rows, *totals], NUMERIC))
    if not layer.weights:
        return titled(title)
    rows = [
        (v.name, str(v.shape), v.dtype.name, f"{v.shape.num_elements():,}", "yes" if v.trainable else "no")
        for v in layer.weights
    ]
    return titled(title, table(("variable", "shape", "dtype", HEADER[2], "trainable"), rows, (3,)))
