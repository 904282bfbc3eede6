"""Display: HTML and SVG for notebooks: tables, texts, pictures, tensors; imported lazily."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from agog_core.dtypes import DType

# How many rows or columns of a matrix are shown at each of its ends.
_EDGE = 5
_MOST_PICTURES = 16
_LARGEST_PICTURE = 512
_SMALLEST_PICTURE = 4
# As many numbers as NumPy prints before it leaves the middle out.
_MOST_NUMBERS = 1000


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], numeric: Collection[int] = ()) -> str:
    """A table of texts.

    Args:
        header: the first row; empty for none.
        rows: the other rows.
        numeric: the numbers of the columns that are aligned at their right.

    Returns:
        HTML.

    >>> table(["a"], [["<b>"]])
    '<table><tr><th style="text-align:left">a</th></tr><tr><td style="text-align:left">&lt;b&gt;</td></tr></table>'
    """

    def row(tag: str, cells: Sequence[Any]) -> str:
        side = ["right" if column in numeric else "left" for column in range(len(cells))]
        texts = [f'<{tag} style="text-align:{s}">{escape(str(c))}</{tag}>' for c, s in zip(cells, side, strict=True)]
        return f"<tr>{''.join(texts)}</tr>"

    lines = ([row("th", header)] if header else []) + [row("td", cells) for cells in rows]
    return f"<table>{''.join(lines)}</table>"


def titled(title: str, *parts: str) -> str:
    """HTML under a line of text.

    >>> titled("a < b", "<hr>")
    '<div><div><code>a &lt; b</code></div><hr></div>'
    """
    return f"<div><div><code>{escape(title)}</code></div>{''.join(parts)}</div>"


def tensor_html(title: str, values: np.ndarray[Any, Any], dtype: DType) -> str:
    """A tensor or variable: a title, its values, and pictures if they can be images; of images only the corners are
    shown as numbers.

    Args:
        title: what is said of it.
        values: its values on the host.
        dtype: its dtype.

    Returns:
        HTML.
    """
    pictures = [_picture(image) for image in _images(values)]
    if 0 < values.ndim <= 2 and values.size:
        return titled(title, *pictures, _matrix(values, dtype))
    few: Any = {"threshold": 0, "edgeitems": 1} if pictures else {"threshold": _MOST_NUMBERS}
    text = _cell(values[()], dtype) if values.ndim == 0 else np.array2string(values, **few)
    return titled(title, *pictures, f"<pre>{escape(text)}</pre>")


def _matrix(values: np.ndarray[Any, Any], dtype: DType) -> str:
    """A vector or matrix as a table, without the middle of long axes."""
    grid = values[None, :] if values.ndim == 1 else values
    rows, columns = (_shown(size) for size in grid.shape)
    cells = [["⋮" if r is None else "…" if c is None else _cell(grid[r, c], dtype) for c in columns] for r in rows]
    return table([], cells, range(len(columns)))


def _shown(size: int) -> list[int | None]:
    """The positions along an axis that are shown; None for those that are left out."""
    if size <= 2 * _EDGE + 1:
        return list(range(size))
    return [*range(_EDGE), None, *range(size - _EDGE, size)]


def _cell(value: Any, dtype: DType) -> str:
    if dtype.is_complex:
        return f"{complex(value):.6g}"
    if dtype.is_floating:
        return f"{float(value):.6g}"
    return repr(value) if isinstance(value, bytes) else str(value)


def _images(values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The images of shape (height, width, 1, 3 or 4) that values can be: bytes, or floats from 0 to 1."""
    sizes = values.shape[-3:]
    if values.ndim not in (3, 4) or sizes[-1] not in (1, 3, 4):
        return []
    if not all(_SMALLEST_PICTURE <= size <= _LARGEST_PICTURE for size in sizes[:2]):
        return []
    images = values[None] if values.ndim == 3 else values[:_MOST_PICTURES]
    if values.dtype == np.uint8:
        return list(images)
    if values.dtype.kind != "f" or not images.size or not (images.min() >= 0 and images.max() <= 1):
        return []
    return [np.rint(image.astype(np.float32) * 255).astype(np.uint8) for image in images]


def _picture(image: np.ndarray[Any, Any]) -> str:
    height, width, _ = image.shape
    scale = max(1, 96 // height)
    return (
        f'<img alt="an image of {height} x {width}" width="{scale * width}" height="{scale * height}" '
        f'style="image-rendering:pixelated;display:inline;margin:2px" src="data:image/png;base64,'
        f'{b64encode(png(image)).decode()}">'
    )


def png(image: np.ndarray[Any, Any]) -> bytes:
    """An image as a PNG file: https://www.w3.org/TR/png-3.

    Args:
        image: bytes of shape (height, width, channels), of 1, 3 or 4 channels.

    Returns:
        The file.
    """
    height, width, channels = image.shape
    color = {1: 0, 3: 2, 4: 6}[channels]
    lines = b"".join(b"\0" + row.tobytes() for row in image)
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
