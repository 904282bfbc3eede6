"""Reserve: an op with one more result, which a kernel keeps for the gradient; the gradient with one more input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_core.dtypes import variant
from agog_core.shapes import TensorShape

if TYPE_CHECKING:
    from agog_core.dispatch.op import Op


def keeping(op: Op) -> Op | None:
    """The op with one more result, the reserve; None where no vjp takes one, or all kernels keep it anyway."""
    if op.reserve is not None or all("reserve" not in edge.saves for edge in op.edges):
        return None
    if op.reserve_of is not None:
        return None  # it passes on what it has taken
    if op.elementwise:
        raise ValueError(f"Op {op.name!r}: an elementwise op keeps no reserve; its vjp may name inputs and out.")
    made = _with_reserve(op)
    made.reserve, made.views = "reserve", False
    made.shape = lambda *shapes, **attributes: [*_listed(op.shape(*shapes, **attributes)), TensorShape(None)]
    made.dtype = lambda dtype, **attributes: [*_listed(op.result_dtype(dtype, attributes)), variant]
    return made


def taking(op: Op) -> Op | None:
    """The op with one more input, the reserve of another op; None where it takes none, or always does."""
    if op.reserve_of is None or "reserve" in op.inputs:
        return None
    made = _with_reserve(op)
    made.inputs = (*op.inputs, "reserve")
    made.shape = lambda *shapes, **attributes: op.shape(*shapes[:-1], **attributes)
    return made


def _with_reserve(op: Op) -> Op:
    made: Op = object.__new__(type(op))
    for name in op.__slots__:
        if hasattr(op, name):
            setattr(made, name, getattr(op, name))
    made.name, made.plain, made.parts, made.keeping, made.taking = f"{op.name}+reserve", op, None, None, None
    return made


def _listed(rule: Any) -> list[Any]:
    return rule if isinstance(rule, list) else [rule]
