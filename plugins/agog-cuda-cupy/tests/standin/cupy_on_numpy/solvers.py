"""Solvers: CuPy's linear algebra, which raises nothing unless it is told to wait and look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from cupy_on_numpy.arrays import BFLOAT16, memory_of, wrapped
from cupy_on_numpy.counting import launch, wait

_ITERATIVE = {"eig", "eigh", "eigvals", "eigvalsh", "pinv", "svd"}
_thread = threading.local()


@contextmanager
def errstate(
    *, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None, linalg: Any = None
) -> Iterator[None]:
    """Whether solvers raise inside."""
    before = getattr(_thread, "raises", False)
    _thread.raises = before if linalg is None else linalg == "raise"
    try:
        yield
    finally:
        _thread.raises = before


def solver(name: str, function: Callable[..., Any], signature: list[list[Any]] | None) -> Callable[..., Any]:
    """A function of `cupy.linalg`: NumPy's, and NaN where that raises."""
    accepted = None if signature is None else {parameter[0] for parameter in signature}

    def run(*args: Any, **kwargs: Any) -> Any:
        if accepted is not None and (unknown := set(kwargs) - accepted):
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown.pop()!r}")
        launch(f"linalg.{name}")
        values = [memory_of(value) for value in args]
        for value in values:
            if isinstance(value, np.ndarray) and value.dtype in (np.float16, BFLOAT16):
                raise TypeError("float16 is unsupported in linalg")
        raises = getattr(_thread, "raises", False)
        if raises:
            wait(f"linalg.{name} looks at its status")
        with np.errstate(all="ignore"):
            try:
                if name in _ITERATIVE and not all(np.isfinite(x).all() for x in values if isinstance(x, np.ndarray)):
                    raise np.linalg.LinAlgError("LAPACK may crash for NaN")
                result = function(*values, **kwargs)
            except np.linalg.LinAlgError:
                if raises:
                    raise
                result = _garbage(function, values, kwargs)
        return wrapped(tuple(result)) if isinstance(result, tuple) else wrapped(result)

    run.__name__ = name
    return run


def _garbage(function: Callable[..., Any], values: list[Any], kwargs: dict[str, Any]) -> Any:
    """What is there after a solver has failed: on a device whatever was in memory, here NaN."""
    sound = [np.zeros_like(value) if isinstance(value, np.ndarray) else value for value in values]
    sound[0][..., :, :] = np.eye(*sound[0].shape[-2:])
    result = function(*sound, **kwargs)
    parts = result if isinstance(result, tuple) else (result,)
    failed = tuple(np.full(part.shape, np.nan, part.dtype) for part in map(np.asarray, parts))
    return failed if isinstance(result, tuple) else failed[0]
