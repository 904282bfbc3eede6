"""What runs anywhere; the tests in `on_numpy` need a process of their own, in which a stand-in takes CuPy's place."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("AGOG_CUPY") == "numpy" else ["on_numpy"]
