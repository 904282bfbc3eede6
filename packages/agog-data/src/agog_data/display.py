"""Display: how datasets and iterators look in a console and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np

from agog_core.tensors.tensor import Tensor
from agog_data.elements import ComponentSpec, DatasetSpec, Element, components, map_components
from agog_data.preview import OneShotError, look
from agog_data.stage import Scope, Stage

_ELEMENTS = 3
_LONGEST = 60


class _Plain(str):
    """Text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def line(name: str, find_spec: Callable[[], Any]) -> str:
    """One line for what has elements: its name, and their shapes and dtypes, where these can be known."""
    spec = _spec(find_spec)
    if spec is None:
        return f"<{name} shapes: ?, types: ?>"
    shapes = map_components(lambda part: _Plain(_shape(part)), spec)
    types = map_components(lambda part: _Plain("dataset" if isinstance(part, DatasetSpec) else repr(part.dtype)), spec)
    return f"<{name} shapes: {shapes}, types: {types}>"


def table(name: str, find_spec: Callable[[], Any], stage: Stage | None) -> str:
    """A table in HTML with a row for each component: its dtype and shape, and its first values where a stage is
    given."""
    spec = _spec(find_spec)
    elements, note = ([], "") if stage is None else _first(stage)
    if spec is None:
        note = note or "The shapes and dtypes are known when elements are read."
    rows = [[], *[[] for _ in elements]] if spec is None else [_names(spec), *map(_values, elements)]
    if any(len(column) != len(rows[0]) for column in rows):
        rows, elements = rows[:1], []  # one of another structure
    parts = [] if spec is None else components(spec)
    head = ["component", "dtype", "shape", *[f"element {number}" for number in range(len(elements))]]
    body = [
        [label, _dtype(part), _shape(part), *[column[place] for column in rows[1:]]]
        for place, (label, part) in enumerate(zip(rows[0], parts, strict=True))
    ]
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body)
    heads = "".join(f"<th>{cell}</th>" for cell in head)
    shown = f"<table><tr>{heads}</tr>{lines}</table>" if body else ""
    return f"<div><b>{escape(name)}</b>{shown}{f'<p>{escape(note)}</p>' if note else ''}</div>"


def _spec(find_spec: Callable[[], Any]) -> Any:
    try:
        return look(find_spec)
    except Exception:  # a function of the program's may raise anything, and what is shown raises nothing
        return None


def _first(stage: Stage) -> tuple[list[Element], str]:
    """The first elements, and why there are none."""
    try:
        found = look(lambda: stage.firsts(Scope(), _ELEMENTS))
    except OneShotError:
        return [], "The elements are not shown, because they may be readable only once."
    except Exception as error:
        return [], f"The elements cannot be shown: {type(error).__name__}: {error}"
    return found, "" if found else "The dataset has no elements."


def _shape(part: ComponentSpec) -> str:
    return "dataset" if isinstance(part, DatasetSpec) else str(part.shape)


def _dtype(part: ComponentSpec) -> str:
    if isinstance(part, DatasetSpec):
        return "dataset"
    return part.dtype.name if part.kind is Tensor else f"sparse {part.dtype.name}"


def _names(spec: Any) -> list[str]:
    """The path to each component, in their order: ``['x'][0]``."""
    if isinstance(spec, Mapping):
        return [f"[{key!r}]{rest}" for key in sorted(spec) for rest in _names(spec[key])]
    if isinstance(spec, tuple):
        fields = getattr(spec, "_fields", None)
        keys = [f".{field}" for field in fields] if fields else [f"[{place}]" for place in range(len(spec))]
        return [f"{key}{rest}" for key, part in zip(keys, spec, strict=True) for rest in _names(part)]
    return [""]


def _values(element: Element) -> list[str]:
    return [_value(part) for part in components(element)]


def _value(part: Any) -> str:
    if not isinstance(part, Tensor):
        return repr(part) if len(repr(part)) <= _LONGEST else f"{type(part).__name__} ..."
    value = part.numpy()
    text = repr(value) if isinstance(value, bytes) else np.array2string(np.asarray(value), threshold=6, edgeitems=2)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
