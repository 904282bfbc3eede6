"""Drawing: nodes and arrows between them as DOT, Mermaid or SVG, for tapes and traced functions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os.path import splitext
from typing import Any, NamedTuple

# More than that nobody reads in a notebook.
_MOST_NODES = 200
_CHARACTER, _LINE, _GAP, _STEP = 7, 14, 16, 62
# What stands for characters that have a meaning of their own in texts.
_IN_DOT = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_IN_MERMAID = str.maketrans({**{each: f"#{ord(each)};" for each in '"#&<>`'}, "\n": "<br>"})
_ENDINGS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}


class Picture(NamedTuple):
    """What is drawn.

    Args:
        title: a word for what it is.
        nodes: name, label and shape of each, ``"box"`` or ``"ellipse"``; each after those it has arrows from.
        edges: names of nodes, from and to.
    """

    title: str
    nodes: Sequence[tuple[str, str, str]]
    edges: Sequence[tuple[str, str]]


def draw(owner: str, picture: Picture, path: Any = None, format: str | None = None) -> str:
    """The text of a picture, which is also written to a path; ``owner`` is the function that errors name."""
    chosen = format or ("dot" if path is None else _ENDINGS.get(splitext(path)[1], "dot"))
    if chosen not in ("dot", "mermaid", "svg"):
        raise ValueError(f"{owner}: format must be 'dot', 'mermaid' or 'svg'; got {format!r}.")
    text = _mermaid(picture) if chosen == "mermaid" else _dot(picture)
    if chosen == "svg":
        text = _rendered(owner, text)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


def _dot(picture: Picture) -> str:
    lines = [f'  {name} [label="{label.translate(_IN_DOT)}", shape={shape}];' for name, label, shape in picture.nodes]
    lines += [f"  {start} -> {end};" for start, end in picture.edges]
    return "\n".join([f"digraph {picture.title} {{", *lines, "}", ""])


def _mermaid(picture: Picture) -> str:
    shapes = {"box": ("[", "]"), "ellipse": ("([", "])")}
    lines = []
    for name, label, shape in picture.nodes:
        opening, closing = shapes[shape]
        lines.append(f'  {name}{opening}"{label.translate(_IN_MERMAID)}"{closing}')
    lines += [f"  {start} --> {end}" for start, end in picture.edges]
    return "\n".join(["flowchart TD", *lines, ""])


def _rendered(owner: str, dot: str) -> str:
    import subprocess  # here, because its import takes milliseconds

    try:
        done = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise RuntimeError(
            f"{owner}: the format 'svg' needs Graphviz's program dot, which is not installed; use 'dot' or 'mermaid'."
        ) from None
    return done.stdout


def svg_of(picture: Picture) -> str | None:
    """Draw a picture from top to bottom without any program, for notebooks: each node below those it has arrows from.

    None where there are no nodes, or more than can be looked at.
    """
    nodes, edges = picture.nodes, picture.edges
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


def _rows(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The nodes row by row: each below all that it takes, sources just above what takes them first."""
    row_of = dict.fromkeys(names, 0)
    for start, end in edges:  # in the order of the nodes
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
