"""Picture: a tape's records drawn from top to bottom, as an SVG that needs no program; for notebooks."""

from __future__ import annotations

from html import escape

from agog_core.gradients.inspection import picture_of
from agog_core.recording import Recording

# More than that nobody reads in a notebook.
_MOST_NODES = 200
_CHARACTER, _LINE, _GAP, _STEP = 7, 14, 16, 62


def svg_of_tape(tape: Recording) -> str | None:
    """Draw a tape: each op below what it takes, tensors and variables as boxes.

    Args:
        tape: the tape.

    Returns:
        The picture; None where the tape has no records, or more than can be looked at.

    >>> import agog_core as ag
    >>> with ag.GradientTape() as tape:
    ...     pass
    >>> svg_of_tape(tape) is None
    True
    """
    nodes, edges = picture_of(tape)
    if not 0 < len(nodes) <= _MOST_NODES:
        return None
    labels = {name: label.split("\n") for name, label, _ in nodes}
    widths = {name: _CHARACTER * max(map(len, lines)) + 16 for name, lines in labels.items()}
    rows = _rows([name for name, _, _ in nodes], edges)
    width = max(sum(widths[name] + _GAP for name in row) for row in rows) + _GAP
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        across = (width - sum(widths[name] + _GAP for name in row) + _GAP) / 2
        for name in row:
            places[name] = across + widths[name] / 2, 30 + _STEP * number
            across += widths[name] + _GAP
    height = _STEP * len(rows)
    parts = [_edge(*places[start], *places[end]) for start, end in edges]
    parts += [_node(*places[name], widths[name], labels[name], shape == "box") for name, _, shape in nodes]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="monospace" font-size="11" text-anchor="middle" style="background:white">{"".join(parts)}</svg>'
    )


def _rows(names: list[str], edges: list[tuple[str, str]]) -> list[list[str]]:
    """The nodes row by row: each below all that it takes, sources just above what takes them first."""
    row_of = dict.fromkeys(names, 0)
    for start, end in edges:  # in the order of the tape
        row_of[end] = max(row_of[end], row_of[start] + 1)
    takers: dict[str, list[int]] = {}
    for start, end in edges:
        takers.setdefault(start, []).append(row_of[end])
    taking = {end for _, end in edges}
    for name in names:
        if name not in taking:
            row_of[name] = min(takers.get(name, [1])) - 1
    rows: list[list[str]] = [[] for _ in range(max(row_of.values()) + 1)]
    for name in names:
        rows[row_of[name]].append(name)
    return rows


def _edge(x1: float, y1: float, x2: float, y2: float) -> str:
    y1, y2 = y1 + 15, y2 - 15
    bend = (y2 - y1) / 2
    path = f"M{x1:.1f},{y1:.1f}C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} {x2:.1f},{y2:.1f}"
    return f'<path d="{path}" fill="none" stroke="#888"/>'


def _node(x: float, y: float, width: int, lines: list[str], is_box: bool) -> str:
    fill, corner = ("#e8f0fe", 0) if is_box else ("#f5f5f5", 15)
    top = y + 4 - _LINE / 2 * (len(lines) - 1)
    texts = [f'<text x="{x:.1f}" y="{top + _LINE * n:.1f}">{escape(line)}</text>' for n, line in enumerate(lines)]
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - 15:.1f}" width="{width}" height="30" rx="{corner}" fill="{fill}" '
        f'stroke="#888"/>{"".join(texts)}'
    )
