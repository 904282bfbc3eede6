"""Opinfo: the facts about every op of agog-core; `table` holds one `OpInfo` for each.

>>> from agog_testing.opinfo import table
>>> table["square"].reference(3.0)
9.0
"""

from importlib import import_module
from pkgutil import walk_packages

from agog_testing.opinfo.info import ErrorSample, OpInfo, Sample, reference_array

__all__ = ["ErrorSample", "OpInfo", "Sample", "reference_array", "table"]

_MODULES = [import_module(found.name) for found in walk_packages(__path__, f"{__name__}.")]

table: dict[str, OpInfo] = {info.name: info for module in _MODULES for info in getattr(module, "INFOS", ())}
"""Op name to its facts. A plugin that brings an op of its own names its facts in `agog_core.plugin.Conformance`."""
