"""Edge: a vjp of an op, and what the tape keeps for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog_core.dispatch.op import Op

Vjp = Any  # a function of (g, ...); its parameters' names are read


class Edge:
    """A vjp, the positions of the inputs it is for (None for all of a variadic op), and what the tape keeps for it;
    and whether it is told which inputs are needed.
    """

    __slots__ = ("is_told", "keep", "positions", "saves", "sources", "vjp")

    keep: Callable[..., Any]

    def __init__(self, op: Op, sources: tuple[str, ...], vjp: Vjp) -> None:
        code = vjp.__code__
        self.sources = sources
        self.vjp = vjp
        self.saves = saves = code.co_varnames[1 : code.co_argcount]
        self.positions = None if op.variadic else tuple(op.inputs.index(source) for source in sources)
        self.is_told = is_told = "needed" in saves and (op.variadic or len(sources) > 1)

        def written_out(*call: Any) -> Any:
            values = ["needed" if is_told and name == "needed" else _expression(op, name) for name in saves]
            for place, name in enumerate(saves):
                if name in op.unneeded:
                    values[place] = f"(None if unneeded[{name!r}](attributes) else {values[place]})"
            text = f"lambda outs, inputs, attributes, needed: ({''.join(f'{each}, ' for each in values)})"
            self.keep = eval(text, {"unneeded": op.unneeded})
            return self.keep(*call)

        # Picks what the vjp names, a tuple, out of (output or outputs, inputs, attributes, needed). It is written at
        # the first call, since that takes as long as a hundred calls, and most programs call few of the ops.
        self.keep = written_out


def _expression(op: Op, name: str) -> str:
    """What a vjp names, as an expression of ``outs``, ``inputs`` and ``attributes``."""
    if name == "out":
        return "outs"
    if name == "reserve" and op.reserve is not None:
        return "outs[-1]"
    if name == "reserve" and name not in op.inputs:
        return "attributes.get('reserve')"
    if op.variadic and name == op.inputs[0]:
        return "tuple(inputs)"
    if op.variadic and name == "shapes":
        return "tuple([x._shape for x in inputs])"
    for ending, part in (("", ""), ("_shape", "._shape"), ("_dtype", "._table.dtype")):
        if name.endswith(ending) and (known := name.removesuffix(ending)) in op.inputs:
            return f"inputs[{op.inputs.index(known)}]{part}"
    return f"attributes[{name!r}]"
