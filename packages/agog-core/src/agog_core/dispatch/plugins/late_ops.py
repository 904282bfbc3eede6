"""Late ops: those that plugins name at first, and that are imported when somebody needs them."""

from __future__ import annotations

import sys

from agog_core.dispatch.op import Op
from agog_core.dispatch.plugins.contract import LateOps
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.errors import PluginError, describe_error, describe_value


def check_names(plugin: str, late: LateOps) -> None:
    """Refuse names that another plugin, or agog-core, could have too."""
    prefix = f"{plugin.replace('-', '_')}_"
    for name in late.names:
        if not name.startswith(prefix):
            raise PluginError(f"LateOps names the op {name!r}; its name must begin with {prefix!r}.")


def are_imported(late: LateOps) -> bool:
    """Whether the program has imported the module of some ops by itself."""
    return late.ops.partition(":")[0] in sys.modules


def imported(late: LateOps) -> list[Op]:
    """Import ops, which have to be those that were named."""
    try:
        found = load_reference(late.ops)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # libraries in other languages raise their panics as such
        raise PluginError(f"{late.ops} could not be loaded: {describe_error(error)}") from error
    if not isinstance(found, tuple | list) or not all(isinstance(op, Op) for op in found):
        raise PluginError(f"{late.ops} must be a tuple or list of Op; it is {describe_value(found)}.")
    wanted, there = (", ".join(sorted(names)) for names in (late.names, [op.name for op in found]))
    if wanted != there:
        raise PluginError(f"{late.ops} must be the ops that LateOps names, {wanted}; it has {there or 'none'}.")
    return list(found)
