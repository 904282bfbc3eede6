"""Advice: advice for names dropped by NumPy that cannot be restored."""

from __future__ import annotations

from typing import Any

import numpy as np

# Of NumPy itself: only names for which it has no sentence of its own.
_NAMES = {
    **dict.fromkeys(
        ("fv", "ipmt", "irr", "mirr", "nper", "npv", "pmt", "ppmt", "pv", "rate"), "numpy_financial.{name}"
    ),
    **dict.fromkeys(("math", "os", "sys", "warnings"), "import {name}"),
    "Tester": "pytest",
    "compat": "str, bytes and open as Python 3 has them",
    "disp": "print(x)",
    "loads": "pickle.loads(x)",
}
# Of arrays and their scalars; x is the array.
_METHODS = {
    "itemset": "x[index] = value",
    "newbyteorder": "x.view(x.dtype.newbyteorder())",
    "ptp": "np.ptp(x, axis)",
    "setasflat": "x.flat = y",
    "tostring": "x.tobytes()",
}


def teach() -> None:
    """Let the errors for names of NumPy itself say what to write."""
    found = np.__getattr__

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            raise AttributeError(f"np.{name}: NumPy has dropped it; write {_NAMES[name].format(name=name)}.", name=name)
        return found(name)

    vars(np)["__getattr__"] = __getattr__


def explain(error: BaseException) -> None:
    """Add to an error for a method of arrays, whose classes take no methods, what to write."""
    if isinstance(error, AttributeError) and isinstance(error.obj, (np.ndarray, np.generic)) and error.name in _METHODS:
        error.add_note(f"NumPy has dropped x.{error.name}; write {_METHODS[error.name]}.")
