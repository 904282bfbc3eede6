"""Errors: what a traced function may not do, each with the line that does it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from agog_core.dtypes import as_dtype
from agog_core.errors import TracingError, TracingWarning
from agog_core.tracers import tracer_of_context

_ADVICE = "leave tf.function out, or call tf.config.run_functions_eagerly(True)"
_TEXTS = {
    "read": (
        "the value of a tensor{what} is read while the function is traced, so that later calls would go on with this "
        f"call's. Compute with the tensor itself, by ops; or {_ADVICE}."
    ),
    "beyond": (
        "the gradient of the function uses a tensor from outside that a tape watches, or asks that tape for a "
        f"gradient. Pass the tensor as an argument; or {_ADVICE}."
    ),
    "steps": (
        "the gradient of the function changes a variable or calls Python, while another trace or a ForwardAccumulator "
        f"looks on. Compute it outside of them; or {_ADVICE}."
    ),
    "variable": (
        "a variable is created each time that the function is traced; only its first call may create some. Create it "
        "outside, or once, and keep it."
    ),
    "element": (
        "an element of a dataset is taken while the function is traced, so that later calls would go on with this "
        f"call's. Take it outside, and pass it to the function; or {_ADVICE}."
    ),
}


class OtherWayError(Exception):
    """A branch inside of a loop goes another way than when it was traced; its line, whether to warn of it, and whether
    the program branches by `agog_core.cond`."""

    def __init__(self, line: str, is_first: bool, is_cond: bool = False) -> None:
        super().__init__(line)
        self.line, self.is_first, self.is_cond = line, is_first, is_cond
        self.trace: Any = None  # the `agog_core.tracing.traces.concrete.Concrete` that has run


def undone(error: Exception, is_so: bool = True) -> None:
    """Say of an error in a run that nothing was done before it: no variable written, no function of Python called."""
    error.agog_undone = is_so  # type: ignore[attr-defined]


def is_undone(error: Exception) -> bool:
    """Whether nothing was done before an error in a run."""
    return getattr(error, "agog_undone", False)


def note_written(error: Exception, finals: Sequence[Any]) -> None:
    """Say which arrays variables had before an error in a run, of those that are written, in their order."""
    error.agog_written = finals  # type: ignore[attr-defined]


def written_before(error: Exception) -> Sequence[Any] | None:
    """What `note_written` has said, where the run is not done again."""
    return None if is_undone(error) else getattr(error, "agog_written", None)


def again(failure: Exception, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function whose trace has failed and done nothing: it may catch the error, or write variables before it."""
    if isinstance(failure, OtherWayError) and failure.is_first:
        _warn_of(failure)
    try:
        return function(*args)
    except Exception as error:
        for note in getattr(failure, "__notes__", ()):
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
        raise


def _warn_of(other_way: OtherWayError) -> None:
    warnings.warn(
        f"{other_way}: a branch inside of a loop goes another way than when the function was traced; such calls run op "
        "by op, as without tf.function. Write tf.cond or tf.where, or leave tf.function out.",
        TracingWarning,
        stacklevel=4,
    )


def limit(kind: str, line: str, what: Any = None) -> NoReturn:
    """Raise because a function does what a traced one cannot; also where it catches the error, once it has ended."""
    shown = what
    if kind == "read":
        shown = "" if what is None else f" of shape {what.shape} and dtype {as_dtype(what.dtype).name}"
    error = TracingError(f"{line}: {_TEXTS[kind].format(what=shown)}")
    if (tracer := tracer_of_context.get()) is not None:
        tracer.refused = error
    raise error
