"""Late ops: those that plugins name at first, and that are imported when somebody needs them."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from agog_core.dispatch.op import Op, registry
from agog_core.dispatch.plugins.contract import LateOps
from agog_core.dispatch.plugins.reference import load_reference
from agog_core.errors import PluginError, PluginWarning, describe_error, describe_value

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.loader import Plugin, PluginLoader


def check_names(plugin: str, late: LateOps) -> None:
    """Refuse names that another plugin, or agog-core, could have too."""
    prefix = f"{plugin.replace('-', '_')}_"
    for name in late.names:
        if not name.startswith(prefix):
            raise PluginError(f"LateOps names the op {name!r}; its name must begin with {prefix!r}.")


def are_imported(late: LateOps) -> bool:
    """Whether the program has imported the module of some ops by itself."""
    return late.ops.partition(":")[0] in sys.modules


def register(plugin: Plugin, loader: PluginLoader) -> None:
    """Import the ops that a plugin has named; where that fails, it keeps what else it brings."""
    try:
        found = [op for late in plugin.late_ops for op in imported(late)]
    except PluginError as error:
        text = f"{plugin}: its ops are left out: {error}"
        if loader.strict:
            raise PluginError(text) from error.__cause__
        warnings.warn(text, PluginWarning, stacklevel=3)
    else:
        registry.update((op.name, op) for op in found)


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
