"""Summary: the table of a model's layers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from agog_core import TensorShape, Variable, nest

__all__ = ["any_batch", "print_summary"]

HEADER = ("layer (type)", "output shape", "parameters", "bytes")
# The columns that are numbers.
NUMERIC = (2, 3)

Row = tuple[str, ...]


def print_summary(
    model: Any,
    line_length: int | None,
    positions: Sequence[float] | None,
    print_fn: Callable[[str], Any],
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Sequence[str] | None = None,
) -> None:
    """Print a table of a model's layers; see `Model.summary`."""
    if not model.built:
        raise ValueError(
            f"Model {model.name!r} has not been built, so the shapes are unknown: call it on a batch, or call "
            "model.build(input_shape)."
        )
    header, rows, totals = rows_of_summary(model, expand_nested, show_trainable, layer_range)
    _print(f"Model: {model.name}", header, rows, totals, line_length, positions, print_fn)


def rows_of_summary(
    model: Any,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Sequence[str] | None = None,
) -> tuple[Row, list[Row], list[Row]]:
    """The header, the rows and the totals of a model's table."""
    layers, bare = _layers(model, layer_range), []
    if layer_range is None:
        bare = [variable for variable in model._variables_in_attributes() if id(variable) not in _ids(model.layers)]
    entries: list[tuple[Any, int]] = list(_entries(layers, expand_nested))
    rows: list[Row] = [_row(layer, depth) for layer, depth in entries]
    rows += [(f"{variable.name} (Variable)", str(variable.shape), *_size([variable])) for variable in bare]
    totals: list[Row] = [
        (what, "", *_size(variables))
        for what, variables in (
            ("trainable", model.trainable_weights),
            ("not trainable", model.non_trainable_weights),
            ("total", model.weights),
        )
    ]
    header: Row = HEADER
    sources = {} if model._graph is None else _sources(model)
    if sources and list(sources.values())[1:] != [layer.name for layer in model.layers[:-1]]:  # no mere chain
        header = (*header, "called on")
        texts = [sources.get(id(layer), "") for layer, _ in entries]
        rows = [(*row, text) for row, text in zip(rows, texts + [""] * len(bare), strict=True)]
        totals = [(*row, "") for row in totals]
    if show_trainable:
        header = (*header, "trained")
        trained = {id(variable) for variable in model.trainable_weights}
        parts = [*(layer.weights for layer, _ in entries), *([variable] for variable in bare)]
        rows = [(*row, _trained(weights, trained)) for row, weights in zip(rows, parts, strict=True)]
        totals = [(*row, "") for row in totals]
    return header, rows, totals


def _trained(weights: Sequence[Variable], trained: set[int]) -> str:
    """Whether some of a layer's weights are trained; nothing if it has none."""
    if not weights:
        return ""
    return "yes" if any(id(variable) in trained for variable in weights) else "no"


def _layers(model: Any, layer_range: Sequence[str] | None) -> list[Any]:
    """The layers of a model, or those from the first to the last one whose names begin with two patterns."""
    layers: list[Any] = list(model.layers)
    if layer_range is None:
        return layers
    first, last = layer_range
    names = [layer.name for layer in layers]
    found = [[n for n, name in enumerate(names) if re.match(pattern, name)] for pattern in (first, last)]
    if not all(found):
        raise ValueError(
            f"summary: layer_range must be two patterns that begin names of layers; got {list(layer_range)}, and the "
            f"layers are {', '.join(names)}."
        )
    ends = min(found[0]), max(found[1])
    return layers[min(ends) : max(ends) + 1]


def _entries(layers: Iterable[Any], expand_nested: bool, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """The layers, each with how deep it lies; behind a model those in it, where they are wanted."""
    for layer in layers:
        yield layer, depth
        if expand_nested:
            yield from _entries(getattr(layer, "layers", ()), expand_nested, depth + 1)


def _row(layer: Any, depth: int) -> Row:
    indent = "  " * depth
    return f"{indent}{layer.name} ({type(layer).__name__})", output_shape(layer), *_size(layer.weights)


def output_shape(layer: Any) -> str:
    """The shape of the output, if it is the same in each place."""
    if layer.nodes:
        shapes = {str(_listed(nest.map_structure(lambda symbol: symbol.shape, node.outputs))) for node in layer.nodes}
        return shapes.pop() if len(shapes) == 1 else "several"
    if layer._called_shape is None:
        return "unknown"
    return str(_listed(nest.map_structure(any_batch, layer._called_shape)))


def any_batch(shape: TensorShape | None) -> Any:
    """The shape of an output in a call, without the batch's size; None for what is no tensor."""
    return TensorShape([None, *shape[1:]]) if shape else shape


def _listed(shapes: Any) -> Any:
    return f"[{', '.join(str(shape) for shape in nest.flatten(shapes))}]" if nest.is_nested(shapes) else shapes


def _size(variables: Iterable[Variable]) -> tuple[str, str]:
    each = {id(variable): variable for variable in variables}.values()
    counts = [(v.shape.num_elements() or 0, v.dtype.size) for v in each]
    return f"{sum(n for n, _ in counts):,}", f"{sum(n * size for n, size in counts):,}"


def _ids(layers: Iterable[Any]) -> set[int]:
    return {id(variable) for layer in layers for variable in layer.weights}


def _sources(model: Any) -> dict[int, str]:
    """For each layer, by its identity, the names of those whose outputs it is called on."""
    sources: dict[int, list[str]] = {}
    for node in model._graph.nodes:
        sources.setdefault(id(node.layer), []).extend(symbol.node.layer.name for symbol in node.parents())
    return {id(layer): ", ".join(sources[id(layer)]) for layer in model.layers}


def _print(
    title: str,
    header: Row,
    rows: list[Row],
    totals: list[Row],
    line_length: int | None,
    positions: Sequence[float] | None,
    print_fn: Callable[[str], Any],
) -> None:
    # In the words and the order of Keras, which programs look for.
    trainable, others, total = (f"params: {row[2]} ({row[3]} bytes)" for row in totals)
    sums = [f"Total {total}", f"Trainable {trainable}", f"Non-trainable {others}"]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    width = max(sum(widths) + 2 * (len(widths) - 1), len(title), *map(len, sums))
    if line_length is not None and line_length > width:
        widths[0] += line_length - width
        width = line_length
    if positions is not None:
        widths = _widths(positions, line_length or width, header)
        width = sum(widths) + 2 * (len(widths) - 1)
    line = "─" * width

    def show(row: Row) -> None:
        padded = zip(row, widths, strict=True)
        cells = [f"{cell[:n]:>{n}}" if i in NUMERIC else f"{cell[:n]:<{n}}" for i, (cell, n) in enumerate(padded)]
        print_fn("  ".join(cells).rstrip())

    print_fn(title)
    print_fn(line)
    show(header)
    print_fn(line)
    for row in rows:
        show(row)
    print_fn(line)
    for text in sums:
        print_fn(text)
    print_fn(line)


def _widths(positions: Sequence[float], line_length: int, header: Row) -> list[int]:
    """The widths of columns that end at some positions, in characters or, up to 1, as parts of the line."""
    ends = [int(each * line_length) if max(positions) <= 1 else int(each) for each in positions]
    widths = [end - start for start, end in pairwise([-2, *ends])]
    if len(widths) != len(header) or min(widths) <= 2:
        raise ValueError(
            f"summary: positions must be {len(header)} ascending ends of columns, for {', '.join(header)}, in "
            f"characters or as parts of the line up to 1, with room for what is in them; got {list(positions)}."
        )
    return [width - 2 for width in widths]
