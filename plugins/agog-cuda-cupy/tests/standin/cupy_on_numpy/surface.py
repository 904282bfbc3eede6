"""Surface: the names, signatures and loops of a real CuPy, which `take_surface.py` has written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SURFACE: dict[str, Any] = json.loads((Path(__file__).parent / "cupy_surface.json").read_text())
MODULES: dict[str, dict[str, Any]] = SURFACE["modules"]
CLASSES: dict[str, dict[str, Any]] = SURFACE["classes"]
ARRAY_METHODS: dict[str, list[list[Any]]] = CLASSES["cupy.ndarray"]
