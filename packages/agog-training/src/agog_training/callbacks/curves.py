"""Curves: the picture of a history as an SVG; imported lazily, for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT, _COLUMNS = 320, 200, 3
# From the picture's edges to the curves'.
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 12, 24, 28
_COLORS = {"": "#1f77b4", "val_": "#ff7f0e"}

Points = list[tuple[float, float]]


def svg_of_history(epochs: Sequence[int], history: dict[str, list[float]]) -> str:
    """Draw each metric beside the next, three in a row, that of the validation in the same picture.

    Args:
        epochs: the numbers of the epochs.
        history: names to one number for each epoch.

    Returns:
        The picture, SVG.

    >>> svg_of_history([0, 1], {"loss": [2.0, 1.0]})[:25]
    '<svg xmlns="http://www.w3'
    """
    names = list(dict.fromkeys(name.removeprefix("val_") for name in history))
    panels = [
        f'<g transform="translate({_WIDTH * (n % _COLUMNS)},{_HEIGHT * (n // _COLUMNS)})">'
        f"{_panel(name, epochs, history)}</g>"
        for n, name in enumerate(names)
    ]
    width, height = _WIDTH * min(len(names), _COLUMNS), _HEIGHT * math.ceil(len(names) / _COLUMNS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" style="background:white">{"".join(panels)}</svg>'
    )


def _panel(name: str, epochs: Sequence[int], history: dict[str, list[float]]) -> str:
    curves = {
        prefix: [(float(x), float(y)) for x, y in zip(epochs, history[prefix + name], strict=False) if math.isfinite(y)]
        for prefix in _COLORS
        if prefix + name in history
    }
    points = [point for curve in curves.values() for point in curve]
    legend = [
        f'<text x="{_WIDTH - _RIGHT if prefix else 8}" y="15" text-anchor="{"end" if prefix else "start"}" '
        f'fill="{_COLORS[prefix]}">{escape(prefix + name)}</text>'
        for prefix in curves
    ]
    frame = f'<path d="M{_LEFT},{_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}" fill="none" stroke="#888"/>'
    drawn = _drawn(curves, points) if points else []
    return "".join([*legend, frame, *drawn])


def _drawn(curves: dict[str, Points], points: Points) -> list[str]:
    low, high = _range([y for _, y in points])
    first, last = _range([x for x, _ in points])

    def place(x: float, y: float) -> str:
        across = _LEFT + (x - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)
        return f"{across:.1f},{_HEIGHT - _BOTTOM - (y - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM):.1f}"

    parts = [
        f'<text x="{_LEFT - 4}" y="{y}" text-anchor="end">{value:.4g}</text>'
        for value, y in ((high, _TOP + 4), (low, _HEIGHT - _BOTTOM))
    ]
    xs = sorted({min(x for x, _ in points), max(x for x, _ in points)})
    parts += [
        f'<text x="{place(x, low).partition(",")[0]}" y="{_HEIGHT - 12}" text-anchor="middle">{x:g}</text>' for x in xs
    ]
    parts.append(f'<text x="{(_LEFT + _WIDTH - _RIGHT) // 2}" y="{_HEIGHT - 2}" text-anchor="middle">epoch</text>')
    for prefix, curve in curves.items():
        dashes = ' stroke-dasharray="4 3"' if prefix else ""
        places = " ".join(place(x, y) for x, y in curve)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{_COLORS[prefix]}"{dashes}/>')
        parts += [
            f'<circle cx="{at[0]}" cy="{at[1]}" r="2" fill="{_COLORS[prefix]}"/>'
            for at in (place(x, y).split(",") for x, y in curve)
        ]
    return parts


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From the lowest to the highest; where they are the same, a little around them."""
    low, high = min(values), max(values)
    if low < high:
        return low, high
    around = abs(low) / 2 or 0.5
    return low - around, high + around
