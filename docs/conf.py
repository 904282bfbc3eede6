"""Conf: how Sphinx makes the site out of these pages; `python -m nox -s site` builds it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import api
import gallery
import ops
import reference

project = "agog"
author = "The agog authors"
copyright = "The agog authors"
release = version = "0.1.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
default_role = "literal"
autodoc_typehints = "none"  # the signature has them
toc_object_entries = False  # thousands of entries in each page's navigation take most of the time
autodoc_member_order = "bysource"
# Pages link to sources, which are not part of the site.
suppress_warnings = ["myst.xref_missing", "ref.python"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "agog"
html_static_path = ["_static"]
html_show_sourcelink = False
html_copy_source = False


def setup(app: Any) -> None:
    """Write the pages that are made from sources and examples, before the others are read."""
    here = Path(__file__).parent
    api.write(here / "api")
    gallery.write(here / "gallery")
    ops.write()
    reference.write()
    app.connect("autodoc-process-docstring", escape_asterisks)


def escape_asterisks(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Let ``*args`` in a docstring's text be what it says, and no emphasis."""
    lines[:] = [line if ">>>" in line else re.sub(r"(?<![\w`*])(\*{1,2})(?=\w)", r"\\\1", line) for line in lines]
