"""Drawing: nodes and arrows between them as DOT, Mermaid or SVG, for tapes and traced functions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os.path import splitext
from typing import Any, NamedTuple

from agog_core.observers.layout import laid_out

# More than that nobody reads in a notebook.
_MOST_NODES = 200
_CHARACTER, _LINE = 7, 14
# What stands for characters that have a meaning of their own in texts.
_IN_DOT = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_IN_MERMAID = str.maketrans({**{each: f"#{ord(each)};" for each in '"#&<>`'}, "\n": "<br>"})
_ENDINGS = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}


class Picture(NamedTuple):
    """A picture's nodes and arrows.

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
    text = {"dot": _dot, "mermaid": _mermaid, "svg": _svg}[chosen](picture)
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


def svg_of(picture: Picture, most: int | None = _MOST_NODES) -> str | None:
    """Draw a picture from top to bottom without any program: each node below those it has arrows from.

    None if there are no nodes, or more than ``most``, a readable number for a notebook.
    """
    if not picture.nodes or (most is not None and len(picture.nodes) > most):
        return None
    return _svg(picture)


def _svg(picture: Picture) -> str:
    labels = {name: label.split("\n") for name, label, _ in picture.nodes}
    widths = {name: _CHARACTER * max(map(len, lines)) + 16 for name, lines in labels.items()}
    layout = laid_out(widths, picture.edges)
    parts = [_edge(points) for points in layout.ways]
    parts += [
        _node(*layout.places[name], widths[name], labels[name], shape == "box") for name, _, shape in picture.nodes
    ]
    width, height = layout.size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11" text-anchor="middle" '
        f'style="background:white">{_ARROW if parts else ""}{"".join(parts)}</svg>'
    )


_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0,0L8,4L0,8z" fill="#888"/></marker></defs>'
)


def _edge(points: Sequence[tuple[float, float]]) -> str:
    """An arrow from the lower side of a node to the upper one of another, past the nodes in the rows between."""
    (x, y), *rest = points
    y += 15
    path = f"M{x:.1f},{y:.1f}"
    for number, (to_x, middle) in enumerate(rest):
        to_y = middle - 15
        bend = (to_y - y) / 2
        path += f"C{x:.1f},{y + bend:.1f} {to_x:.1f},{to_y - bend:.1f} {to_x:.1f},{to_y:.1f}"
        x, y = to_x, to_y
        if number + 1 < len(rest):
            y = middle + 15
            path += f"V{y:.1f}"
    return f'<path d="{path}" fill="none" stroke="#888" marker-end="url(#arrow)"/>'


def _node(x: float, y: float, width: int, lines: list[str], is_box: bool) -> str:
    fill, corner = ("#e8f0fe", 0) if is_box else ("#f5f5f5", 15)
    top = y + 4 - _LINE / 2 * (len(lines) - 1)
    texts = [f'<text x="{x:.1f}" y="{top + _LINE * n:.1f}">{escape(line)}</text>' for n, line in enumerate(lines)]
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - 15:.1f}" width="{width}" height="30" rx="{corner}" fill="{fill}" '
        f'stroke="#888"/>{"".join(texts)}'
    )
