"""Loader: finding plugins, which are the entry points of the group ``agog``, each loaded behind a guard of its own."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import pluggy

from agog_core.dispatch.backend import Backend
from agog_core.dispatch.contract import API_VERSION, PROJECT, Conformance, Hooks, Kernel
from agog_core.dispatch.op import Op, all_ops
from agog_core.dispatch.op import registry as ops
from agog_core.errors import PluginError, PluginWarning
from agog_core.locks import hold_while_forking


@dataclass
class Plugin:
    """A plugin that was found, and what it brought or how it failed.

    Args:
        name: the entry point's name, by which users and preferences call the plugin.
        distribution: the distribution's name and version, such as ``"agog-cpu-numpy 0.1.0"``.
        failure: what went wrong, as one sentence; None when the plugin is loaded.
        cause: the exception behind the failure, where there is one.
        skipped: True when ``AGOG_PLUGINS`` leaves the plugin out.
    """

    name: str
    distribution: str
    failure: str | None = None
    cause: BaseException | None = None
    skipped: bool = False
    backends: list[Backend] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    conformance: Conformance = field(default_factory=Conformance)


class PluginLoader:
    """Loads each plugin once; one that fails is recorded and reported, and the others work."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(Hooks)
        self.plugins: list[Plugin] = []
        self.strict = os.environ.get("AGOG_STRICT_PLUGINS", "") not in ("", "0")
        allowed = os.environ.get("AGOG_PLUGINS")
        self.allowed = None if allowed is None else {name.strip() for name in allowed.split(",") if name.strip()}

    def load_entry_points(self) -> None:
        """Load every plugin that an installed distribution announces, in the order of their names."""
        entry_points = metadata.entry_points(group=PROJECT)
        for entry_point in sorted(entry_points, key=lambda e: (e.name, e.dist.name if e.dist else "")):
            distribution = (
                f"{entry_point.dist.name} {entry_point.dist.version}" if entry_point.dist else "an unknown distribution"
            )
            if self.allowed is not None and entry_point.name not in self.allowed:
                self.plugins.append(Plugin(entry_point.name, distribution, skipped=True))
            else:
                self._report(self.load(entry_point.name, distribution, entry_point.load))
        installed = {plugin.name for plugin in self.plugins}
        for name in sorted((self.allowed or set()) - installed):
            missing = Plugin(name, "not installed")
            self._report(self._fail(missing, "AGOG_PLUGINS names it, but no installed distribution announces it."))

    def load(self, name: str, distribution: str, find: Any) -> Plugin:
        """Load one plugin behind a guard."""
        plugin = Plugin(name, distribution)
        taken = next((p for p in self.plugins if p.name == name and not p.skipped), None)
        if taken is not None:
            return self._fail(
                plugin, f"the plugin name {name!r} is taken already ({taken.distribution}); uninstall one of the two."
            )
        known_ops = set(ops)
        try:
            module = find()
            version = getattr(module, "AGOG_API_VERSION", API_VERSION)
            if version != API_VERSION:
                raise PluginError(
                    f"it is written for plugin API {version}, and this agog-core has API {API_VERSION}; upgrade the "
                    "older one."
                )
            if self.manager.is_registered(module):
                raise PluginError(f"its module is loaded already, as plugin {self.manager.get_name(module)!r}.")
            self.manager.register(module, name=name)
            try:
                self._check_hooks(name, module)
                if self._implementations("agog_ops", module):
                    _load_late_ops()
                self._collect(plugin, module)
            except BaseException:
                self.manager.unregister(module)
                raise
        except (Exception, SystemExit) as error:  # one broken plugin must not take the others down
            for added in _made_since(known_ops):
                del ops[added]
            text = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
            return self._fail(plugin, text, error)
        self.plugins.append(plugin)
        for op in plugin.ops:
            ops[op.name] = op
        return plugin

    def _check_hooks(self, name: str, module: Any) -> None:
        try:
            self.manager.check_pending()
        except pluggy.PluginValidationError as error:
            known = ", ".join(hook for hook in vars(Hooks) if hook.startswith("agog_"))
            raise PluginError(f"{error} The hooks are {known}.") from None
        if not self.manager.get_hookcallers(module):
            raise PluginError(
                f"module {getattr(module, '__name__', module)!r} implements no hook; mark its functions with "
                "agog_core.plugin.hookimpl."
            )

    def _collect(self, plugin: Plugin, module: Any) -> None:
        plugin.ops = self._call("agog_ops", module, Op)
        plugin.backends = self._call("agog_backends", module, Backend)
        plugin.kernels = self._call("agog_kernels", module, Kernel)
        for conformance in self._implementations("agog_conformance", module):
            plugin.conformance = conformance()
            if not isinstance(plugin.conformance, Conformance):
                raise PluginError(f"agog_conformance must return a Conformance; it returned {plugin.conformance!r}.")
        for op in plugin.ops:
            if ops.get(op.name, op) is not op:
                raise PluginError(f"it defines the op {op.name!r}, which exists already; choose another name.")
        for backend in plugin.backends:
            if sum(backend.device == other.device for other in plugin.backends) > 1:
                raise PluginError(f"it brings the device type {backend.device!r} twice.")
            for other in self.plugins:
                if any(backend.device == theirs.device for theirs in other.backends):
                    raise PluginError(
                        f"it brings the device type {backend.device!r}, which plugin {other.name!r} "
                        f"({other.distribution}) brings too; "
                        f"choose one with AGOG_PLUGINS or uninstall one."
                    )

    def _implementations(self, hook: str, module: Any) -> list[Any]:
        return [impl.function for impl in getattr(self.manager.hook, hook).get_hookimpls() if impl.plugin is module]

    def _call(self, hook: str, module: Any, kind: type) -> list[Any]:
        found: list[Any] = []
        for function in self._implementations(hook, module):
            result: Iterable[Any] = function()
            if not isinstance(result, Iterable):
                raise PluginError(f"{hook} must yield {kind.__name__} objects; it returned {result!r}.")
            for item in result:
                if not isinstance(item, kind):
                    raise PluginError(f"{hook} must yield {kind.__name__} objects; it yielded {item!r}.")
                found.append(item)
        return found

    def _fail(self, plugin: Plugin, why: str, cause: BaseException | None = None) -> Plugin:
        plugin.failure, plugin.cause = why, cause
        plugin.backends, plugin.kernels, plugin.ops = [], [], []
        self.plugins.append(plugin)
        return plugin

    def _report(self, plugin: Plugin) -> None:
        if plugin.failure is None:
            return
        text = f"agog plugin {plugin.name!r} ({plugin.distribution}) is left out: {plugin.failure}"
        if self.strict:
            raise PluginError(text) from plugin.cause
        warnings.warn(text, PluginWarning, stacklevel=2)


def _made_since(known: set[str]) -> list[str]:
    """The ops that a plugin has made; importing it may have loaded ops of the core too, and those stay."""
    return [name for name in set(ops) - known if not ops[name].function.__module__.startswith("agog_core.")]


def _load_late_ops() -> None:
    """Load the core's ops that load late, so that a plugin's op cannot take the name of one."""
    made = {name: ops.pop(name) for name in _made_since(set())}
    all_ops()
    for name, op in made.items():
        if ops.setdefault(name, op) is not op:
            raise PluginError(f"it defines the op {name!r}, which exists already; choose another name.")


# Held while plugins are loaded.
_lock = hold_while_forking(threading.RLock())
# The loader, from the first use of a device on.
_loader: PluginLoader | None = None
# Whether the loader is at work, so that a hook that runs an op gets an error and not a deadlock.
_is_loading = False


def loader() -> PluginLoader:
    """The process's plugin loader; its first use loads all plugins."""
    global _is_loading, _loader
    with _lock:
        if _loader is None:
            if _is_loading:
                raise PluginError(
                    "it runs an op or asks for a device while plugins are being loaded; hooks only return data."
                )
            _is_loading = True
            try:
                fresh = PluginLoader()
                fresh.load_entry_points()
                _loader = fresh
            finally:
                _is_loading = False
        return _loader
