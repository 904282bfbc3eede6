"""Diff backends: the command to compare a program's ops on two devices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import click
import numpy as np

from agog.commands.recorded_run import ProgramError, Record, recorded
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.kernels.resolution import resolve
from agog_core.dispatch.op import all_ops
from agog_core.dtypes import as_dtype, float64
from agog_core.errors import OpError

Array = np.ndarray[Any, Any]

# How far results may lie apart, as a part of the largest: some hundreds of the steps between two numbers of the dtype.
_TOLERANCES = {"float64": 1e-12, "complex128": 1e-12, "float32": 1e-4, "complex64": 1e-4, "float16": 2e-2}
_COARSEST = 1e-1  # for bfloat16 and the float8s


class Difference(NamedTuple):
    """Where two arrays lie furthest apart: the place, both values, and the distance as a part of the largest."""

    place: tuple[int, ...]
    one: Any
    other: Any
    distance: float


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("script", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--a", "one", default="cpu", show_default=True, metavar="DEVICE", help="The device that is trusted.")
@click.option("--b", "other", required=True, metavar="DEVICE", help="The device that is looked at.")
@click.option("--tolerance", type=float, help="As a part of a result's largest value; by default it is the dtype's.")
def diff_backends(script: str, arguments: Sequence[str], one: str, other: str, tolerance: float | None) -> None:
    """Run SCRIPT with its ARGUMENTS on two devices; name the first op whose results differ, with its line.

    The exit status is 0 where all results are equal within the tolerance, 1 where some differ, 2 where the program does
    not run.
    """
    try:
        for device in (one, other):
            get_device(device)
        text = compare(script, arguments, one, other, tolerance)
    except (OpError, ValueError) as error:
        _fail(str(error))
    if text is not None:
        click.echo(text)
        raise SystemExit(1)
    click.echo(f"All results of {script} on {one} and {other} are equal, within the tolerance.")


def _fail(text: str) -> None:
    click.echo(f"Error: {text}", err=True)
    raise SystemExit(2)


def compare(script: str, arguments: Sequence[str], one: str, other: str, tolerance: float | None) -> str | None:
    """What differs first when a program runs on two devices, or None."""
    with recorded(one, script, arguments) as calls, recorded(other, script, arguments) as other_calls:
        for number in itertools.count(1):
            call, other_call = _next(calls, one, script), _next(other_calls, other, script)
            if call is None or other_call is None:
                return _ended(number, call, other_call, one, other)
            if call.op != other_call.op or call.line != other_call.line:
                return (
                    f"call {number}: the program takes another way: on {one} {_named(call)}, on {other} "
                    f"{_named(other_call)}. A value decided it that differs within the tolerance, or what is not the "
                    "same each time, such as the clock."
                )
            if (text := _difference(number, call, other_call, one, other, tolerance)) is not None:
                return text
    return None


def _next(calls: Any, device: str, script: str) -> Record | None:
    try:
        record: Record | None = next(calls, None)
    except ProgramError as error:
        raise ValueError(f"{script} fails on {device}: {error}") from None
    return record


def _ended(number: int, call: Record | None, other_call: Record | None, one: str, other: str) -> str | None:
    longer = call or other_call
    if longer is None:
        return None
    ended, goes_on = (one, other) if call is None else (other, one)
    return f"call {number}: on {ended} the program has ended, on {goes_on} it goes on with {_named(longer)}."


def _difference(
    number: int, call: Record, other_call: Record, one: str, other: str, tolerance: float | None
) -> str | None:
    for n, (output, other_output) in enumerate(zip(call.outputs, other_call.outputs, strict=True)):
        where = f"call {number}: {_named(call)}, result {n + 1} of {len(call.outputs)}"
        if (output.shape, output.dtype) != (other_output.shape, other_output.dtype):
            return f"{where}:\n{_kinds(output, other_output, one, other)}"
        limit = _TOLERANCES.get(output.dtype.name, _COARSEST) if tolerance is None else tolerance
        found = _furthest(output, other_output)
        if found is None or (found.distance <= limit and output.dtype.kind not in "biuO"):
            continue
        width = max(len(one), len(other), len("in float64"))
        at = f" at {found.place}" if found.place else ""
        lines = [
            f"{where}, differs{at} by {found.distance:.2g} of its largest value (allowed {limit:g}):",
            f"  {one:<{width}}  {found.one!r}",
            f"  {other:<{width}}  {found.other!r}",
            f"  {'in float64':<{width}}  {_in_float64(other_call, n, found.place)}",
            f"  {_said_of_inputs(call, other_call)}",
        ]
        return "\n".join(lines)
    return None


def _named(call: Record) -> str:
    return f"{call.op} at {call.line}"


def _kinds(output: Array, other_output: Array, one: str, other: str) -> str:
    width = max(len(one), len(other))
    return "\n".join(
        f"  {name:<{width}}  {array.dtype} of shape {array.shape}"
        for name, array in ((one, output), (other, other_output))
    )


def _furthest(one: Array, other: Array) -> Difference | None:
    """Where two arrays of one shape and dtype differ most, or None where they are equal; NaN is equal to NaN."""
    if one.dtype.kind == "O":
        differs = np.asarray(one != other, bool)
        distances = differs.astype(np.float64)
    else:
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        a, b = one.astype(wide), other.astype(wide)
        with np.errstate(all="ignore"):
            differs = (one != other) & ~((one != one) & (other != other))
            finite = np.abs(a[np.isfinite(a)])
            largest = finite.max() if finite.size and finite.max() else 1.0
            distances = np.where(differs, np.nan_to_num(np.abs(a - b) / largest, nan=np.inf), 0.0)
    if not differs.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(np.argmax(distances), distances.shape))
    return Difference(index, one[index], other[index], float(distances[index]))


def _in_float64(call: Record, output: int, index: tuple[int, ...]) -> str:
    """What the CPU computes of the same inputs in float64, or why there is no such number."""
    op = all_ops()[call.op]
    if op.updates:
        return "not known, for the op has overwritten what it was given"
    if not any(x.dtype.name in _TOLERANCES for x in call.inputs):
        return "not known, for the op has no inputs of floating point"
    wide = [_widened(x) for x in call.inputs]
    table = get_device("cpu").table(as_dtype(wide[op.alike[0] if len(wide) > 1 else 0].dtype))
    attributes = dict(call.attributes)
    if attributes.get("dtype") in _TOLERANCES:
        attributes["dtype"] = "float64"
    try:
        result = resolve(op, table)(*wide, **attributes)
    except Exception as error:  # an op that is not for float64, or one that raised on the device too
        return f"not known: {type(error).__name__}: {error}"
    results = result if isinstance(result, tuple) else (result,)
    return repr(np.asarray(results[output])[index])


def _widened(x: Array) -> Array:
    if x.dtype.kind == "c":
        return x.astype(np.complex128)
    return x.astype(float64.numpy_dtype) if as_dtype(x.dtype).is_floating else x


def _said_of_inputs(call: Record, other_call: Record) -> str:
    furthest = max(
        (
            found.distance
            for x, y in zip(call.inputs, other_call.inputs, strict=True)
            if x.shape == y.shape and (found := _furthest(x, y)) is not None
        ),
        default=0.0,
    )
    if not furthest:
        return "Its inputs are the same bits on both."
    return f"Its inputs differ too, by at most {furthest:.2g} of their largest value; what came before is worth a look."
