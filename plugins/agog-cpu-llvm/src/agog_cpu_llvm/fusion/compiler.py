"""Compiler: a `Subgraph` to one function, compiled once in a process and kept on disk for the next."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import disk, numpy_loops, processor
from agog_cpu_llvm.fusion import operations, tanh
from agog_cpu_llvm.fusion.limits import LONGEST, LONGEST_SUM, NotTakenError, axes, beginning, keeps_last_axis

if TYPE_CHECKING:
    from agog_cpu_llvm import machine

# What was compiled and is still used, by the keys of subgraphs; written under the lock.
_units: WeakValueDictionary[str, machine.Code] = WeakValueDictionary()
# The keys of subgraphs that are not taken; written under the lock.
_not_taken: set[str] = set()


def takes(primitive: Primitive, values: Sequence[ArraySpec]) -> bool:
    """Whether a primitive can be compiled with NumPy's bits."""
    target = values[primitive.output]
    operands = [values[value] for value in primitive.inputs]
    specs = (target, *operands)
    if any(spec.dtype not in operations.TYPES or 0 in spec.shape or _lies_askew(spec) for spec in specs):
        return False
    if primitive.kind == "reduce":
        return _takes_reduction(primitive, values)
    if not target.shape:
        return False
    dtypes = tuple([operand.dtype for operand in operands])
    match primitive.kind:
        case "ufunc":
            resolved = operations.resolve(primitive.name, dtypes)
            if resolved is None:
                return False
            computed, result = resolved
            if primitive.name in numpy_loops.BINARY:
                return (
                    {*dtypes, target.dtype, result} <= {"float32", "float64"}
                    and len({*dtypes, target.dtype}) == 1
                    and math.prod(operands[1].shape) == 1
                    and min(operands[0].strides, default=0) >= 0
                )
            if not all(map(operations.can_cast, dtypes, computed)) or not operations.can_cast(result, target.dtype):
                return False
            return operations.is_known(primitive.name, computed[0]) or (
                primitive.name in numpy_loops.UNARY
                and result == computed[0]
                and result in ("float32", "float64")
                and min(operands[0].strides, default=0) >= 0  # NumPy computes backwards by other functions
            )
        case "where":
            return all(operations.can_cast(dtype, target.dtype) for dtype in dtypes[1:])
        case "cast":
            return operations.can_cast(dtypes[0], target.dtype)
        case "copy":
            return dtypes[0] == target.dtype
        case "bits":
            return operations.width(dtypes[0]) == operations.width(target.dtype) and "bool" not in (
                *dtypes,
                target.dtype,
            )
    return False


def compile(subgraph: Subgraph) -> Callable[..., None] | None:
    """The function of a subgraph; None where it would not have NumPy's bits."""
    if any(0 in subgraph.values[output].shape for output in subgraph.outputs):
        return None
    constants = [value for value, array in subgraph.constants.items() if array.size > 1]
    from agog_cpu_llvm import machine  # here, because functions of which nothing is compiled need no LLVM

    key = _key(subgraph, constants, processor.identity())
    with machine.lock:
        code = _units.get(key)
        if code is None and key not in _not_taken:
            code = _code(subgraph, constants, key)
            if code is None:
                _not_taken.add(key)
            else:
                _units[key] = code
    if code is None:
        return None
    arrays = [np.asarray(subgraph.constants[value]) for value in constants]
    addresses = np.array([id(None), *[array.ctypes.data for array in arrays]])
    if not code.turns:
        function: Callable[..., None] = code.function(addresses, arrays)
        return function
    from agog_cpu_llvm.fusion.shares import in_shares

    return in_shares(code, addresses, arrays)


def _code(subgraph: Subgraph, constants: Sequence[int], key: str) -> machine.Code | None:
    from agog_cpu_llvm import machine

    name = f"agog_{key}"
    if (kept := disk.read(key)) is not None:
        head, _, code = kept.partition(b"\n")
        return machine.load(code, name, *json.loads(head))
    from agog_cpu_llvm.fusion import module

    try:
        written = module.write(subgraph, constants, name)
    except NotTakenError:
        return None
    code = machine.assemble(written.text)
    disk.write(key, json.dumps([written.turns, written.grain]).encode() + b"\n" + code)
    return machine.load(code, name, written.turns, written.grain)


def _key(subgraph: Subgraph, constants: Sequence[int], identity: str) -> str:
    """A name for all that machine code depends on; subgraphs that differ in the numbers of their values share it."""
    numbers: dict[int, int] = {}

    def number(value: int) -> int:
        return numbers.setdefault(value, len(numbers))

    primitives = [
        (
            p.kind,
            p.name,
            [number(v) for v in p.inputs],
            number(p.output),
            sorted((k, str(o)) for k, o in p.options.items()),
        )
        for p in subgraph.primitives
    ]
    largest = max((spec.shape for spec in subgraph.values), key=math.prod)
    parts: tuple[Any, ...] = (
        subgraph.exact,
        [number(value) for value in subgraph.inputs],
        [number(value) for value in subgraph.outputs],
        primitives,
        [(number(output), number(given)) for output, given in subgraph.overwrites],
        [(number(v), None if v in constants else np.asarray(c).tobytes()) for v, c in subgraph.constants.items()],
        [(spec.dtype, spec.shape, spec.strides) for spec in (subgraph.values[value] for value in numbers)],
        tanh.identity() if any(p.name == "tanh" and tanh.is_for(largest) for p in subgraph.primitives) else "",
    )
    return hashlib.sha256(repr((identity, parts)).encode()).hexdigest()


def _lies_askew(spec: ArraySpec) -> bool:
    return any(step % operations.width(spec.dtype) for step in spec.strides)


def _takes_reduction(primitive: Primitive, values: Sequence[ArraySpec]) -> bool:
    """Reductions whose elements lie in the order in which NumPy then takes them: over the last axes, or of rows."""
    spec, target = values[primitive.inputs[0]], values[primitive.output]
    lengths = [(size, step) for size, step in zip(spec.shape, spec.strides, strict=True) if size > 1]
    is_ordered = all(step >= size * inner for (_, step), (size, inner) in pairwise(lengths))
    if spec.dtype != target.dtype or not lengths or not is_ordered or lengths[-1][1] <= 0:
        return False
    if keeps_last_axis(primitive, values):
        is_known = operations.is_known(primitive.name, spec.dtype)
        return is_known and bool(target.shape) and beginning(primitive.name, spec.dtype) is not None
    if primitive.name not in numpy_loops.REDUCTIONS or spec.dtype in ("bool", "bfloat16"):
        return False
    reduced, rank = sorted(axes(primitive, values)), len(spec.shape)
    if not reduced or reduced != list(range(reduced[0], rank)):
        return False
    length = math.prod(spec.shape[reduced[0] :])
    is_pairwise = primitive.name == "add" and spec.dtype.startswith("float")
    return 1 < length <= (LONGEST_SUM if is_pairwise else LONGEST)
