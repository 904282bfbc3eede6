"""Takes: whether a compiler takes a primitive, asked behind a guard."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from agog_core.compiler import ArraySpec, Compiler, Primitive
from agog_core.plugin import PluginWarning, describe_error, load_reference

Takes = Callable[[Primitive, Sequence[ArraySpec]], bool]


def takes_of(compiler: Compiler) -> Takes:
    """What asks a compiler; one that fails to answer is warned of, and takes nothing from then on."""
    takes = load_reference(compiler.takes)
    has_failed = False

    def answer(primitive: Primitive, values: Sequence[ArraySpec]) -> bool:
        nonlocal has_failed
        if has_failed:
            return False
        try:
            return bool(takes(primitive, values))
        except Exception as error:
            has_failed = True
            warnings.warn(
                f"The compiler {compiler.name!r} failed to say whether it takes {primitive.name or primitive.kind!r}, "
                f"and a traced function runs without it: {describe_error(error)}",
                PluginWarning,
                stacklevel=2,
            )
            return False

    return answer
