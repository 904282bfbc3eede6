"""Comparison: a program run eagerly and traced, and the differences."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import agog_core as ag
from agog_core.random import generator
from agog_core.tracing.functions.eager_mode import eagerly
from agog_testing.compilers.agreement import are_equal
from agog_testing.random_programs.generator import source_of
from agog_testing.subject import Violation

RULE = "a traced function does what eager calls do, bit by bit"
_SEED = 7


class Difference(NamedTuple):
    """Where a program differs.

    Args:
        kind: "value", "error", "form" (a structure, a dtype, a shape, a None), "random", "state" (variables, or what
            functions of Python were given), "sums" (a gradient that was added up in another order), or "limit" (the
            program does something that traced functions may not).
        text: the line, what eager calls give, and what the traced ones give.
    """

    kind: str
    text: str


class Stop(BaseException):  # no error: it ends a program
    """Nothing that comes after is compared."""


class Seen:
    """The observations of a program's run."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int, Any]] = []
        self._variables: tuple[Any, ...] = ()
        self._host: list[float] = []

    def keeps(self, *variables: Any, host: list[float]) -> None:
        """The variables that are compared after each call, and what functions of Python were given."""
        self._variables, self._host = variables, host

    def __call__(self, *values: Any) -> None:
        self._note("value", values)

    def sums(self, *values: Any) -> None:
        """Gradients that are sums of parts from inside and outside of a traced function."""
        self._note("sums", values)

    def _note(self, kind: str, values: Any) -> None:
        line = sys._getframe(2).f_lineno
        self.found += [(kind, line, _plain(value)) for value in values]

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call with what is asked of it; whether it raises is compared too."""
        line = sys._getframe(2).f_lineno
        try:
            yield
        except ag.errors.TracingError as error:
            self.found.append(("limit", line, str(error)))
            raise Stop from error
        except Exception as error:
            self.found.append(("error", line, (type(error).__name__, str(error))))
        self.found.append(("random", line, repr(_counters())))
        self.found += [("state", line, _plain(variable)) for variable in self._variables]
        self.found.append(("state", line, list(self._host)))


def _counters() -> Any:
    state = dict(generator().get_state())
    state.pop("entropy", None)
    return state


def _plain(value: Any) -> Any:
    if isinstance(value, ag.IndexedSlices):
        return "slices", _plain(value.values), _plain(value.indices), tuple(value.shape.as_list())
    if isinstance(value, (ag.Tensor, ag.Variable)):
        return np.array(value.numpy(), copy=True)
    return value if value is None or isinstance(value, (str, bytes, int, float)) else repr(type(value))


def outcome(source: str, run_eagerly: bool) -> list[tuple[str, int, Any]]:
    """The observations of a program, traced or not."""
    names: dict[str, Any] = {}
    exec(compile(source, "<program>", "exec"), names)
    seen = Seen()
    ag.set_random_seed(_SEED)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        logger = logging.getLogger("agog")
        was, logger.disabled = logger.disabled, True
        if run_eagerly:
            eagerly.append("checking")
        try:
            names["program"](seen)
        except Stop:
            pass
        finally:
            logger.disabled = was
            if run_eagerly:
                eagerly.remove("checking")
    return seen.found


def difference_of(source: str) -> Difference | None:
    """Run a program eagerly and traced.

    Args:
        source: of the program.

    Returns:
        The first thing that differs, or None.
    """
    expected, got = outcome(source, True), outcome(source, False)
    lines, sums = source.splitlines(), None
    for want, have in zip(expected, got, strict=False):
        if have[0] == "limit":
            return Difference("limit", have[2])
        kind = _differs(want, have)
        if kind == "sums":
            sums = sums or Difference(kind, _said(lines, want, have))
        elif kind is not None:
            return (
                sums
                if sums and kind in ("value", "state") and _are_near(want[2], have[2])
                else Difference(kind, _said(lines, want, have))
            )
    if len(expected) != len(got):
        return Difference("form", f"{len(expected)} things are seen, and {len(got)} traced")
    return sums


def _differs(want: tuple[str, int, Any], have: tuple[str, int, Any]) -> str | None:
    if want[:2] != have[:2]:
        return "error" if "error" in (want[0], have[0]) else "form"
    kind, one, other = want[0], want[2], have[2]
    if _are_same(one, other):
        return None
    if kind in ("value", "sums") and _form(one) != _form(other):
        return "form"
    if kind == "sums" and not _are_near(one, other):
        return "value"
    return kind


def _form(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    return value


def _are_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and are_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    return bool(one == other) or repr(one) == repr(other)


def _are_near(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_are_near, one, other))
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)) or one.shape != other.shape:
        return _are_same(one, other)
    left, right = one.astype("float64"), other.astype("float64")
    scale = np.max(np.abs(left), initial=1.0, where=np.isfinite(left))
    step = 1e-2 if one.dtype == np.float16 else 1e-4
    return bool(np.allclose(left, right, step, step * scale, equal_nan=True))


def _said(lines: list[str], want: tuple[str, int, Any], have: tuple[str, int, Any]) -> str:
    line = lines[want[1] - 1].strip() if want[1] <= len(lines) else ""
    return f"line {want[1]}: {line}\n  eager:  {_shown(want)}\n  traced: {_shown(have)}{_distance(want[2], have[2])}"


def _shown(seen: tuple[str, int, Any]) -> str:
    kind, _, value = seen
    text = repr(value)
    form = f"{value.dtype} {value.shape} " if isinstance(value, np.ndarray) else ""
    return f"{kind} {form}{text if len(text) < 400 else text[:400] + '...'}"


def _distance(one: Any, other: Any) -> str:
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)) or one.shape != other.shape:
        return ""
    if one.dtype.kind != "f" or other.dtype.kind != "f":
        return ""
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype("f8") - other.astype("f8"))
    return f"\n  {int(np.sum(~(one == other)))} of {one.size} differ, by {np.nanmax(apart, initial=0.0):.3g} at most"


def check_program(number: int, large: bool = False, seconds: float = 30.0) -> Difference | None:
    """Run the random program of a number eagerly and traced.

    Args:
        number: of the program.
        large: whether its arrays are large.
        seconds: how long a program that differs is shortened.

    Returns:
        None; or what a traced function may not do by design, or a sum in another order.

    Raises:
        Violation: they differ; the message has a shorter program that differs in the same way.
    """
    source = source_of(number, large)
    found = difference_of(source)
    if found is None or found.kind in ("limit", "sums"):
        return found
    from agog_testing.random_programs.shrinking import reduced

    shorter, last = reduced(source, found, seconds)
    name = f"{number}{' --large' if large else ''}"
    raise Violation(
        RULE,
        f"random program {name}; run it with `python -m agog_testing.random_programs {name}`",
        "what eager calls give",
        f"another {found.kind}, in {found.text}\nShortened, the program is\n\n{shorter}\n\nand differs in {last.text}",
    )
