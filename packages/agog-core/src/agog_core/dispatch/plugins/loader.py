"""Loader: finding plugins, which are the entry points of the group ``agog``, each loaded behind a guard of its own."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from itertools import islice
from typing import Any

import pluggy

from agog_core.dispatch.op import Op, late_ops_of_plugins, load_core_ops
from agog_core.dispatch.op import registry as ops
from agog_core.dispatch.plugins.backend import Backend
from agog_core.dispatch.plugins.collectives import Collective
from agog_core.dispatch.plugins.compilers import Compiler
from agog_core.dispatch.plugins.contract import PROJECT, Conformance, Hooks, Kernel, LateOps, check_version
from agog_core.dispatch.plugins.executors import Executor
from agog_core.dispatch.plugins.late_ops import are_imported, check_names, imported, register
from agog_core.dispatch.plugins.preference import how_much, preference_of_environment
from agog_core.dispatch.plugins.watch import watched
from agog_core.errors import PluginError, PluginWarning, describe_error, describe_value
from agog_core.locks import hold_while_forking

# By the name of a plugin, the ops that were made while it was loaded. After a Ctrl-C it is loaded again, and modules
# that are imported already do not make theirs anew.
_made: dict[str, dict[str, Op]] = {}
# More objects than this a hook brings by mistake, such as in a loop without an end.
_MOST = 100_000


@dataclass
class Plugin:
    """A plugin that was found, and what it brought or how it failed.

    Args:
        name: the entry point's name, by which users and preferences call the plugin.
        distribution: the distribution's name and version, such as ``"agog-cpu-numpy 0.1.0"``.
        failure: what went wrong, as one sentence; None when the plugin is loaded.
        cause: the exception behind the failure, where there is one.
        skipped: True when ``AGOG_PLUGINS`` leaves the plugin out.
        version: the version of the contract that it says it is written for; None where it says nothing, which counts
            as 1.
        seconds: how long it took to load.
        at_work: what of it runs while it is being loaded.
    """

    name: str
    distribution: str
    failure: str | None = None
    cause: BaseException | None = None
    skipped: bool = False
    version: int | None = None
    seconds: float = 0.0
    at_work: str = "the import of its module"
    backends: list[Backend] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    late_ops: list[LateOps] = field(default_factory=list)
    executors: list[Executor] = field(default_factory=list)
    compilers: list[Compiler] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    conformance: Conformance = field(default_factory=Conformance)

    def leave_out(self, why: str, cause: BaseException | None = None) -> None:
        """Record that the plugin has failed, and forget what it has brought."""
        self.failure, self.cause = why, cause
        self.backends, self.kernels, self.ops, self.late_ops = [], [], [], []
        self.executors, self.compilers, self.collectives = [], [], []
        self.conformance = Conformance()

    def __str__(self) -> str:
        return f"agog plugin {self.name!r} ({self.distribution})"

    @property
    def op_names(self) -> list[str]:
        """The names of its ops, also of those that are not imported yet."""
        return [*(op.name for op in self.ops), *(name for late in self.late_ops for name in late.names)]

    def backend(self, device: str) -> Backend | None:
        """The backend that it brings for a device type, or None."""
        return next((backend for backend in self.backends if backend.device == device), None)


class PluginLoader:
    """Loads each plugin once; one that fails is recorded and reported, and the others work."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(Hooks)
        self.plugins: list[Plugin] = []
        self._is_settled = False  # whether it is decided which of several plugins serves a device type
        self.strict = os.environ.get("AGOG_STRICT_PLUGINS", "") not in ("", "0")
        allowed = os.environ.get("AGOG_PLUGINS")
        self.allowed = None if allowed is None else {name.strip() for name in allowed.split(",") if name.strip()}

    def load_entry_points(self) -> None:
        """Load every plugin that an installed distribution announces, in the order of their names."""
        found = [(entry_point.name, _distribution(entry_point), entry_point) for entry_point in _entry_points()]
        for name, distribution, entry_point in sorted(found, key=lambda each: each[:2]):
            if self.allowed is not None and name not in self.allowed:
                self.plugins.append(Plugin(name, distribution, skipped=True))
            else:
                self._report(self.load(name, distribution, entry_point.load))
        installed = {plugin.name for plugin in self.plugins}
        for name in sorted((self.allowed or set()) - installed):
            missing = Plugin(name, "not installed")
            missing.leave_out("AGOG_PLUGINS names it, but no installed distribution announces it.")
            self.plugins.append(missing)
            self._report(missing)
        self._settle_devices()

    def load(self, name: str, distribution: str, find: Any) -> Plugin:
        """Load one plugin behind a guard."""
        plugin = Plugin(name, distribution)
        taken = next((p for p in self.plugins if p.name == name and not p.skipped), None)
        if taken is not None:
            plugin.leave_out(
                f"the plugin name {name!r} is taken already ({taken.distribution}); uninstall one of the two."
            )
        else:
            self._load(plugin, find)
        self.plugins.append(plugin)
        for op in plugin.ops:
            ops[op.name] = op
        if plugin.late_ops:
            late_ops_of_plugins[name] = partial(register, plugin, self)
        return plugin

    def _load(self, plugin: Plugin, find: Any) -> None:
        known_ops = set(ops)
        start = time.perf_counter()
        try:
            with watched(partial(_slow, plugin)):
                module = find()
                with _handed_back(plugin):
                    self._fill(plugin, module)
            _remember(plugin, known_ops)
        except BaseException as error:  # libraries in other languages raise their panics as such
            if isinstance(error, KeyboardInterrupt):
                _remember(plugin, known_ops)
            _forget_since(known_ops)
            if isinstance(error, KeyboardInterrupt):
                raise
            plugin.leave_out(str(error) if isinstance(error, PluginError) else describe_error(error), error)
        if self._is_settled:
            _made.pop(plugin.name, None)
        plugin.seconds = time.perf_counter() - start

    def _fill(self, plugin: Plugin, module: Any) -> None:
        """Ask a plugin's hooks what it brings."""
        plugin.version = getattr(module, "AGOG_API_VERSION", None)
        if plugin.version is not None:
            check_version(plugin.version)
        if self.manager.is_registered(module):
            raise PluginError(f"its module is loaded already, as plugin {self.manager.get_name(module)!r}.")
        try:
            self.manager.register(module, name=plugin.name)
            self._check_hooks(plugin.name, module)
            self._collect(plugin, module)
            if self._is_settled:
                self._check_devices(plugin)
        except BaseException:
            if self.manager.is_registered(module):
                self.manager.unregister(module)
            raise

    def _settle_devices(self) -> None:
        """Leave out what brings a device type for which another plugin has a backend in host memory.

        Of several in host memory stays the one that is preferred, or else the one that has most kernels for it.
        """
        preferred = preference_of_environment()
        for device in sorted({b.device for plugin in self.plugins for b in plugin.backends if b.host_memory}):
            rivals = [(backend, plugin) for plugin in self.plugins if (backend := plugin.backend(device))]
            standing = {
                plugin.name: (
                    backend.host_memory,
                    how_much(plugin.name, preferred),
                    sum(kernel.device == device for kernel in plugin.kernels),
                )
                for backend, plugin in rivals
            }
            stays = max((plugin for _, plugin in rivals), key=lambda plugin: standing[plugin.name])
            for _, plugin in rivals:
                if plugin is not stays:
                    self.manager.unregister(name=plugin.name)
                    late_ops_of_plugins.pop(plugin.name, None)
                    for name in plugin.op_names:
                        ops.pop(name, None)
                    plugin.leave_out(_brought_twice(device, stays))
                    self._report(plugin)
        self._is_settled = True

    def _check_hooks(self, name: str, module: Any) -> None:
        try:
            self.manager.check_pending()
        except pluggy.PluginValidationError as error:
            known = ", ".join(hook for hook in vars(Hooks) if hook.startswith("agog_"))
            raise PluginError(f"{error} The hooks are {known}.") from None
        if not self.manager.get_hookcallers(module):
            raise PluginError(
                f"module {describe_value(getattr(module, '__name__', module))} implements no hook; mark its functions "
                "with agog_core.plugin.hookimpl."
            )

    def _collect(self, plugin: Plugin, module: Any) -> None:
        def call(hook: str, *kinds: type) -> list[Any]:
            plugin.at_work = f"its hook {hook}"
            functions = self._implementations(hook, module)
            return [item for function in functions for item in _brought(hook, function, kinds)]

        self._take_ops(plugin, call("agog_ops", Op, LateOps))
        plugin.backends = call("agog_backends", Backend)
        plugin.kernels = call("agog_kernels", Kernel)
        plugin.executors = call("agog_executors", Executor)
        plugin.compilers = call("agog_compilers", Compiler)
        plugin.collectives = call("agog_collectives", Collective)
        for conformance in call("agog_conformance", Conformance):
            plugin.conformance = conformance
        for backend in plugin.backends:
            if sum(backend.device == other.device for other in plugin.backends) > 1:
                raise PluginError(f"it brings the device type {backend.device!r} twice.")

    def _take_ops(self, plugin: Plugin, brought: list[Op | LateOps]) -> None:
        plugin.ops = [op for op in brought if isinstance(op, Op)]
        if plugin.ops:
            _load_late_ops()
        for late in brought:
            if isinstance(late, LateOps):
                check_names(plugin.name, late)
                if are_imported(late):
                    plugin.ops += imported(late)
                else:
                    plugin.late_ops.append(late)
        for op in plugin.ops:
            if ops.get(op.name, op) is not op:
                raise _taken(op.name)

    def _check_devices(self, plugin: Plugin) -> None:
        """Refuse a plugin that comes later with a device type that another one serves in host memory."""
        for backend in plugin.backends:
            for other in self.plugins:
                theirs = other.backend(backend.device)
                if theirs is not None and theirs.host_memory:
                    raise PluginError(_brought_twice(backend.device, other))

    def _implementations(self, hook: str, module: Any) -> list[Any]:
        return [impl.function for impl in getattr(self.manager.hook, hook).get_hookimpls() if impl.plugin is module]

    def _report(self, plugin: Plugin) -> None:
        if plugin.failure is None:
            return
        text = f"{plugin} is left out: {plugin.failure}"
        if self.strict:
            raise PluginError(text) from plugin.cause
        warnings.warn(text, PluginWarning, stacklevel=2)


def _brought(hook: str, function: Callable[[], Any], kinds: tuple[type, ...]) -> list[Any]:
    """What a hook gives, which is all of some kinds; an error names the hook."""
    wanted = " or ".join(kind.__name__ for kind in kinds)
    try:
        result = function()
        if Conformance in kinds:
            result = (result,)
        elif not isinstance(result, Iterable):
            raise PluginError(f"{hook} must yield {wanted} objects; it returned {describe_value(result)}.")
        found = list(islice(result, _MOST + 1))
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:  # libraries in other languages raise their panics as such
        raise PluginError(f"{hook}: {describe_error(error)}") from error
    for item in found:
        if not isinstance(item, kinds):
            does = f"return a {wanted}; it returned" if Conformance in kinds else f"yield {wanted} objects; it yielded"
            raise PluginError(f"{hook} must {does} {describe_value(item)}.")
    if len(found) > _MOST:
        raise PluginError(f"{hook} yields more than {_MOST:,} {wanted} objects; it must come to an end.")
    return found


def _slow(plugin: Plugin, seconds: float) -> str:
    return (
        f"{plugin} has not loaded after {seconds:g} s; at work is {plugin.at_work}. AGOG_PLUGINS, with the names of "
        "the others, leaves it out."
    )


def _brought_twice(device: str, other: Plugin) -> str:
    return (
        f"it brings the device type {device!r}, which plugin {other.name!r} ({other.distribution}) brings too; choose "
        "one with AGOG_PLUGINS or uninstall one."
    )


def _entry_points() -> Iterable[Any]:
    return metadata.entry_points(group=PROJECT)


def _distribution(entry_point: Any) -> str:
    """The name and version of a distribution, as far as its metadata are there."""
    try:
        return f"{entry_point.dist.name} {entry_point.dist.version}"
    except Exception:  # what is left of a distribution that was deleted by hand
        return "an unknown distribution"


def _made_since(known: set[str]) -> list[str]:
    """The ops that a plugin has made; importing it may have loaded ops of the core too, and those stay."""
    return [name for name in set(ops) - known if not ops[name].function.__module__.startswith("agog_core.")]


def _forget_since(known: set[str]) -> None:
    for name in _made_since(known):
        del ops[name]


@contextmanager
def _handed_back(plugin: Plugin) -> Iterator[None]:
    """Let hooks find the ops that a plugin made when it was loaded before, or make anew; it keeps those it yields."""
    known = [op for op in _made.get(plugin.name, {}).values() if op.name not in ops and op.is_whole]
    modules = [op.module for op in known]
    for op in known:
        ops[op.name] = op
        op.module = None  # so that a hook may put another one in its place
    try:
        yield
    finally:
        for op, module in zip(known, modules, strict=True):
            op.module = module
            if op not in plugin.ops and ops.get(op.name) is op:
                del ops[op.name]


def _remember(plugin: Plugin, known: set[str]) -> None:
    _made.setdefault(plugin.name, {}).update((name, ops[name]) for name in _made_since(known))


def _load_late_ops() -> None:
    """Load the core's ops that load late, so that a plugin's op cannot take the name of one."""
    made = {name: ops.pop(name) for name in _made_since(set())}
    load_core_ops()
    for name, op in made.items():
        if ops.setdefault(name, op) is not op:
            raise _taken(name)


def _taken(name: str) -> PluginError:
    return PluginError(f"it defines the op {name!r}, which exists already; choose another name.")


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
            known_ops = set(ops)
            try:
                fresh = PluginLoader()
                fresh.load_entry_points()
                _loader = fresh
                _made.clear()
            except BaseException:  # such as a Ctrl-C: the next use loads all plugins, whose ops come back
                _forget_since(known_ops)
                raise
            finally:
                _is_loading = False
        return _loader
