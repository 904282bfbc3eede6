"""Api: the pages of the API reference, made from what the umbrella exports, grouped by task.

``python docs/api.py FOLDER`` writes them; the site's build does so too.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import agog

# The pages, with the modules whose names are on them; the first that fits counts.
PAGES: dict[str, tuple[str, ...]] = {
    "Tensors": ("agog_core.tensors", "agog_core.dtypes", "agog_core.shapes", "agog_core.nest"),
    "Gradients": ("agog_core.gradients", "agog_core.recording"),
    "Variables": ("agog_core.variables", "agog_core.checkpointable", "agog_core.ops.updates"),
    "Math": ("agog_core.ops.math", "agog_core.calls", "agog_core.ops.operators"),
    "Reductions": ("agog_core.ops.reduce",),
    "Linear algebra": ("agog_core.ops.linalg", "agog_core.ops.signal"),
    "Shapes and indexing": ("agog_core.ops.array", "agog_core.ops.indexing", "agog_core.ops.sorting"),
    "Neural networks": ("agog_core.ops.nn", "agog_core.ops.conv"),
    "Images": ("agog_core.ops.image", "agog_data.images"),
    "Strings": ("agog_core.ops.strings",),
    "Array API": ("agog_core.array_api",),
    "Random numbers": ("agog_core.ops.random", "agog_core.random"),
    "Control": ("agog_core.ops.control", "agog_core.tracing"),
    "Losses and metrics": ("agog_layers.losses", "agog_layers.metrics"),
    "Layers": ("agog_layers", "agog_keras.layers", "agog_keras.feature_columns"),
    "Optimizers": ("agog_optimizers", "agog_training.optimizers"),
    "Training": ("agog_training",),
    "Keras": ("agog_keras",),
    "Data": ("agog_data",),
    "Checkpoints": ("agog_checkpoint",),
    "Saved models": ("agog_saved_model",),
    "Summaries": ("agog_summary",),
    "Several processes": ("agog_distribute",),
    "Export": ("agog_export",),
    "Devices and plugins": ("agog_core.dispatch", "agog_core.observers", "agog_core.plugin", "agog_core.exports"),
    "Errors": ("agog_core.errors",),
    "Compatibility": ("agog_compat", "agog_core", "agog"),
}


class Entry(NamedTuple):
    """Something public: its shortest name, and its other names."""

    name: str
    others: tuple[str, ...]
    value: Any


def entries() -> list[Entry]:
    """All that the umbrella offers, each once."""
    found: dict[int, tuple[Any, list[str]]] = {}
    seen: set[str] = set()

    def walk(module: ModuleType, path: str) -> None:
        if module.__name__ in seen:
            return
        seen.add(module.__name__)
        for name in dir(module):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                if value.__name__.startswith("agog"):
                    walk(value, f"{path}.{name}")
            elif (inspect.isclass(value) or callable(value)) and _module(value).startswith("agog"):
                found.setdefault(id(value), (value, []))[1].append(f"{path}.{name}")

    walk(agog, "agog")
    result = []
    for value, names in found.values():
        first, *others = sorted(set(names), key=lambda name: (name.count("."), len(name), name))
        result.append(Entry(first, tuple(others), value))
    return sorted(result, key=lambda entry: entry.name.lower())


def page_of(value: Any) -> str:
    """The page that something public is on."""
    module = _module(value) + "."
    return next(page for page, homes in PAGES.items() if any(module.startswith(f"{home}.") for home in homes))


def _module(value: Any) -> str:
    return getattr(value, "__module__", None) or type(value).__module__


def write(folder: Path) -> None:
    """Write a page for each task, and one that lists them."""
    folder.mkdir(exist_ok=True)
    pages: dict[str, list[Entry]] = {page: [] for page in PAGES}
    for entry in entries():
        pages[page_of(entry.value)].append(entry)
    for page, listed in pages.items():
        (folder / f"{_file(page)}.rst").write_text(_page(page, listed), encoding="utf-8")
    rows = [f"- [{page}]({_file(page)}.rst): {len(listed)} names" for page, listed in pages.items()]
    names = "\n".join(_file(page) for page in pages)
    contents = f"```{{toctree}}\n:hidden:\n\n{names}\n```"
    text = (
        f"# API reference\n\n{contents}\n\nAll that `import agog as tf` offers, by task.\n\n" + "\n".join(rows) + "\n"
    )
    (folder / "index.md").write_text(text, encoding="utf-8")


def _file(page: str) -> str:
    return page.lower().replace(" ", "_")


def _page(page: str, listed: list[Entry]) -> str:
    """A page, in the language of autodoc."""
    return "\n".join([page, "=" * len(page), "", *map(_block, listed)])


def _block(entry: Entry) -> str:
    shown = "tf" + entry.name.removeprefix("agog")
    also = ", ".join("``tf" + name.removeprefix("agog") + "``" for name in entry.others)
    kind = "autoclass" if inspect.isclass(entry.value) else "autofunction"
    options = ["   :members:"] if kind == "autoclass" else []
    lines = [f".. rubric:: {shown}", "", *([f"Also {also}.", ""] if also else [])]
    return "\n".join([*lines, f".. {kind}:: {entry.name}", *options, ""])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
