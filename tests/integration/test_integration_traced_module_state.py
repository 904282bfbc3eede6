"""Each piece of module state is in the keys of traces, read at each run, or in variables; or it changes no results."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agog_core.settable import Settable
from agog_core.settings import Setting

DOCS = Path(__file__).parents[2] / "docs"
# What a piece may be: in the keys of traces, read at each run of a trace, or held by variables; "none" changes nothing
# that a function computes, and is followed by the reason.
KINDS = ("key", "late", "variable", "none")
# Whoever adds module state says here what it is, or what all of its module is. What is a `Setting`, or an object that
# is `Settable`, is in the keys.
STATE = {
    "agog_checkpoint.saved_values._numbers": "none: numbers of restores",
    "agog_checkpoint.folder_lock._held": "none: who saves into a folder",
    "agog_compat.collections._collections": "none: lists of the program's own, which check=True looks at",
    "agog_compat.critical_section._shared": "none: locks",
    "agog_compat.distributions.divergences._formulas": "none: functions by classes; each is registered once",
    "agog_compat.execution._is_enabled": "none: whether a second call is the first",
    "agog_compat.execution._mode": "none: ops are done when their functions return in both modes",
    "agog_core.tensors.host_functions.makers": "none: functions by names; each is registered once",
    "agog_saved_model.loading.late_functions": "none: what imports modules of functions on the host",
    "agog_keras.backend.values._uids": "none: numbers for names",
    "agog_compat.logging._counts": "none: how often messages were asked for",
    "agog_compat.devices._settings": "none: answers for programs; nothing is computed with them",
    "agog_distribute.faults.deadline.deadline": "none: how long collectives wait",
    "agog_distribute.faults.deadline.waits": "none: who waits in a collective",
    "agog_core.checkpointable.listeners": "none: who hears of new parts",
    "agog_core.dispatch.devices.lookup._devices": "none: a cache",
    "agog_core.dispatch.devices.lookup._scope": "key: the function's key has the scope",
    "agog_core.dispatch.devices.lookup.forgotten": "late: traces are compiled again when it grows",
    "agog_core.dispatch.devices.lookup.scopes": "key: with the scope",
    "agog_core.dispatch.devices.precision._precision": "late: setting it forgets all kernels",
    "agog_core.dispatch.kernels.candidates._making": "none: a lock",
    "agog_core.dispatch.kernels.observation._in_observer": "none: who is told of ops",
    "agog_core.dispatch.kernels.observation.observers": "late: observing forgets all kernels",
    "agog_core.dispatch.kernels.observation._of_steps": "late: the same",
    "agog_core.dispatch.kernels.observation._timed": "late: the same",
    "agog_core.dispatch.kernels.resolution.fallbacks": "late: their scopes forget all kernels",
    "agog_core.dispatch.op.late_ops": "none: how ops are imported",
    "agog_core.dispatch.op.late_ops_of_plugins": "none: the same",
    "agog_core.dispatch.op.registry": "none: ops by name, each once",
    "agog_core.dispatch.plugins.loader._is_loading": "none: for errors",
    "agog_core.dispatch.plugins.loader._loader": "late: loading and leaving plugins forgets all kernels",
    "agog_core.dispatch.plugins.loader._made": "none: what an interrupted load has made",
    "agog_core.dispatch.plugins.loader._lock": "none: a lock",
    "agog_core.dispatch.plugins.preference._preferred": "late: setting it forgets all kernels",
    "agog_core.dispatch.plugins.preference.forgetting": "none: what forgets kernels and devices",
    "agog_core.dispatch.plugins.registration.forgetting": "none: what forgets kernels and devices",
    "agog_core.files.retries._policy": "none: how often requests for files are made",
    "agog_core.gradients.backpropagation._constants": "none: a cache",
    "agog_core.observers.callbacks._action": "late: observers ask for it",
    "agog_core.observers.callbacks._callbacks": "late: they observe",
    "agog_core.observers.summaries._summaries": "none: written at an import",
    "agog_core.replicas._of_run": "none: written at an import",
    "agog_core.ops.control.py_func.in_pipeline": "late: it is asked for where Python is called, which is at each run",
    "agog_core.ops.nn.weighted_candidates._learned": "none: what counts there is refused in a trace",
    "agog_core.processes._here": "none: who saves a checkpoint together",
    "agog_core.processes._run": "none: the same",
    "agog_core.processes._shares": "none: what checkpoints hold of a variable",
    "agog_core.random._generator": "late: keys of random bits are taken at each run",
    "agog_core.random._lock": "none: a lock",
    "agog_core.recording._alive": "none: numbers",
    "agog_core.recording._lock": "none: a lock",
    "agog_core.recording.next_serial": "none: numbers",
    "agog_core.recording._own_modules": "none: a cache, for the lines of errors",
    "agog_core.recording.active": "key: the tapes are in the keys of calls under tapes",
    "agog_core.recording.lined": "none: for the texts of errors",
    "agog_core.recording.next_id": "none: numbers",
    "agog_core.recording.stack": "key: the tapes are in the keys of calls under tapes",
    "agog_core.threads.number._listeners": "none: who hears of the number of threads",
    "agog_core.threads.number.lock": "none: a lock",
    "agog_core.threads.number.number": "none: how many threads compute, not what",
    "agog_core.threads.pools._pools": "none: how many threads compute, not what",
    "agog_core.settable._classes": "none: who is looked at while functions are traced",
    "agog_core.settable._lock": "none: a lock",
    "agog_core.settable._next_change": "none: numbers",
    "agog_core.settable._noting": "none: traces that are under way",
    "agog_core.settable._present": "none: the trace that is under way",
    "agog_core.settable.changes": "key: what says that keys are to be looked at again",
    "agog_core.settings._asked": "key: how the settings are asked",
    "agog_core.settings.used": "key: the settings that are in keys",
    "agog_core.shapes._interned": "none: a cache",
    "agog_core.tensors.convert.stackers": "none: written at an import",
    "agog_core.tensors.masks.known": "key: masks go with arguments and results",
    "agog_core.tensors.placement.copy_observers": "late: runs tell them of copies",
    "agog_core.tracers.tracer_of_context": "none: the trace that is under way",
    "agog_core.tracers.tracing": "none: traces that are under way",
    "agog_core.tracing.state.device._devices": "none: a cache",
    "agog_core.tracing.functions.eager_mode.eagerly": "late: each call asks",
    "agog_core.tracing.state.python_results._left": "late: what the run before has left",
    "agog_core.tracing.execution.hotness": "none: when traces are compiled",
    "agog_core.tracing.execution.loops._drawn": "late: what this run has drawn",
    "agog_core.variables.global_step._global_step": "variable: it is one, and is made once",
    "agog_core.variables.global_step._lock": "none: a lock",
    "agog_core.variables.name_scope._scope": "none: names; those of variables in stores are in the key of the store",
    "agog_core.variables.name_scope.counters": "none: names",
    "agog_core.variables.memory.unread": "none: variables that wait for their values, which runs read",
    "agog_core.variables.variable._next_serial": "none: numbers",
    "agog_core.variables.variable.creation_hooks": "none: only a first call makes variables, which is a real one",
    "agog_core.variables.memory.updating": "none: a lock",
    "agog_core.variables.memory._most": "none: a cache",
    "agog_core.variables.memory._next_version": "none: numbers",
    "agog_core.variables.memory._variables": "none: a cache",
    "agog_core.variables.memory.asked": "none: a cache",
    "agog_data.preview._is_looking": "none: whether elements are shown; traces cannot take elements from outside",
    "agog_data.factory._finders": "none: written at an import",
    "agog_data.factory._kinds": "none: written at an import",
    "agog_kernels_xp.parts.accumulation.combining": "none: written by plugins when they load",
    "agog_kernels_xp.parts.deferral.deferring": "none: written by plugins when they load",
    "agog_kernels_xp.parts.rows._known": "none: a cache",
    "agog_layers.serialization.memory_limit.allowance": "none: limits of models that are being loaded",
    "agog_layers.serialization.custom_objects.registered": "none: classes by names, each registered once",
    "agog_layers.serialization.registry.classes": "none: the same",
    "agog_layers.serialization.registry.functions": "none: written at an import",
    "agog_layers.naming.names._lock": "none: a lock",
    "agog_layers.naming.names.entered_scopes": "none: names that networks may not have",
    "agog_layers.naming.names.scope": "none: names; those of variables in stores are in the key of the store",
    "agog_layers.arguments.signature._names_of": "none: a cache",
    "agog_layers.tf_layers.template._calls": "none: which template owns new variables; the scope is in the key",
    "agog_layers.layer.function_layer._functions": "none: functions by names, written at an import",
    "agog_layers.layer.layer._building": "none: a lock",
    "agog_layers.layer.module.current_call": "none: tells the losses of calls apart",
    "agog_layers.models.network._by_path": "none: who names variables",
    "agog_summary.recording.default_step": "late: each run asks for the step",
    "agog_summary.writer._files": "none: files by their writers",
    "agog_training.saving.weights._warned": "none: warnings that were given",
    "agog_testing.checks.recording._last": "none: a cache",
    "agog_testing.references._known": "none: a cache",
    "agog_testing.stopwatch._seconds": "none: how long checks have taken",
    "agog_cpu_llvm.fusion.compiler._not_taken": "none: a cache",
    "agog_cpu_llvm.fusion.compiler._units": "none: a cache",
    "agog_cpu_llvm.image._mapped": "none: a cache",
    "agog_cpu_llvm.machine._left": "none: a cache",
    "agog_cpu_llvm.machine.lock": "none: a lock",
    "agog_cpu_llvm.units._engines": "none: a cache",
    "agog_cpu_llvm.units._lock": "none: a lock",
    "agog_cpu_llvm.units._units": "none: a cache",
    "agog_cpu_llvm.team.team._present": "none: threads",
    "agog_cpu_executor.program.layouts._shared": "none: memory that nobody reads",
    "agog_cpu_executor.lowering.proxies.recording": "none: what is being compiled",
    "agog_cuda_cupy.value_checks._error_words": "none: words of memory by device",
    "agog_cuda_cupy.value_checks._lock": "none: a lock",
    "agog_cuda_cupy.value_checks._turns": "none: numbers",
    "agog_cuda_cupy.value_checks._waiting": "late: runs add to it",
    "agog_cuda_cupy.value_checks._wrong": "late: runs add to it",
    "agog_cuda_cupy.memory._most": "none: statistics",
    "agog_cuda_cupy.streams._lock": "none: a lock",
    "agog_cuda_cupy.streams._read": "none: memory that is in use",
    "agog_fake.backend._copies": "none: statistics",
    "agog_fake.backend._lock": "none: a lock",
    "agog_fake.memory._in_use": "none: statistics",
    "agog_fake.memory._limit": "late: runs make arrays too",
    "agog_fake.memory._lock": "none: a lock",
    "agog_fake.memory._peak": "none: statistics",
    "agog_fake.stream._lock": "none: a lock",
    "agog_fake.stream._thread": "none: a thread",
}


def rooms() -> Any:
    """What writes the tables of docs/architecture.md."""
    sys.path.insert(0, str(DOCS))
    try:
        return import_module("rooms")
    finally:
        sys.path.remove(str(DOCS))


@cache
def pieces() -> list[str]:
    """All module state of agog, as docs/architecture.md lists it."""
    return list(_pieces())


def _pieces() -> Iterator[str]:
    found = rooms()
    for package, folder in found.SOURCES.items():
        for file in sorted(folder.rglob("*.py")):
            where = ".".join([package, *file.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
            yield from (f"{where}.{name}" for name, _ in found.state_of(file.read_text(encoding="utf-8")))


def held(piece: str) -> Any:
    module, _, name = piece.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except ImportError:  # a plugin whose library is not here
        return None


def test_each_piece_says_what_it_is() -> None:
    found = pieces()
    in_keys = {piece for piece in found if isinstance(held(piece), (Setting, Settable))}
    assert sorted(in_keys & set(STATE)) == []
    said = {piece: piece if piece in STATE else piece.rpartition(".")[0] for piece in found if piece not in in_keys}
    unknown = sorted(piece for piece, key in said.items() if key not in STATE)
    assert unknown == [], "make it a `Setting` where it changes what functions compute, or say in STATE what it is"
    assert sorted(set(STATE) - set(said.values())) == []
    assert {kind.partition(":")[0] for kind in STATE.values()} <= set(KINDS)


def test_settings_are_found() -> None:
    known = [piece for piece in pieces() if isinstance(held(piece), (Setting, Settable))]
    assert known == [
        "agog_core.replicas.present",
        "agog_core.replicas.is_idle",
        "agog_core.tensors.placement._policy",
        "agog_keras.settings._numbers",
        "agog_layers.calls.learning_phase._phase",
        "agog_layers.layer.policy._policy",
        "agog_layers.layer.precision._reading",
        "agog_layers.naming.variable_store._active",
        "agog_layers.naming.variable_store.weight_getter",
        "agog_layers.serialization.custom_objects.scoped",
        "agog_layers.tf_layers.variable_scope._current",
        "agog_summary.recording._policy",
        "agog_summary.tf2._condition",
        "agog_summary.writer._default",
    ]


@pytest.mark.parametrize(
    "source", ["x = [0]\ndef f(): x[0] = 1", "x = C()\ndef f(): x.y = 1", "x = {1: 2}\ndef f(): x.pop(1)"]
)
def test_what_functions_change_in_place_is_found(source: str) -> None:
    assert [name for name, _ in rooms().state_of(source)] == ["x"]


# Classes with public attributes that traces do not look at, and why: nothing is computed with the attributes while a
# function is traced, or the objects never change.
PLAIN = {
    "agog_compat": {
        "critical_section": "locks",
        "gfile": "files",
        "graph_only": "never made",
        "lookup.initializers": "never change",
        "lookup.mutable": "tables, which are read on the host",
    },
    "agog_keras": {
        "enqueuers": "give data",
        "estimators": "train models as a whole",
        "preprocessing": "give data",
        "progress_bar": "shows",
    },
    "agog_layers": {
        "naming.names": "names",
        "naming.variable_store": "a `Setting` says which one is in force",
        "serialization.description": "what a constructor was given",
        "serialization.lookup": "made at an import",
        "tf_layers.layers": "never change",
        "tf_layers.variable_scope": "a `Setting` whose key has all attributes",
        "layer.symbolic": "never change",
        "models.graph": "never change",
        "models.model_graph": "shows models",
        "recurrent.state_variables": "states, which are variables; the attribute is for an error",
    },
    "agog_optimizers": {"moving_average": "names", "slots": "variables"},
    "agog_training": {
        "callbacks": "are called between steps",
        "fit.batches": "give data",
        "fit.meters": "count between steps",
        "fit.objective": "another one is made by each `compile`, which says so",
        "mapping": "for files",
        "saving": "for files",
    },
}


def plain_classes(package: str, folder: Path) -> Iterator[str]:
    """The modules, without the package, whose classes set public attributes and are not `Settable`."""
    for file in sorted(folder.rglob("*.py")):
        where = ".".join([package, *file.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
        for cls in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(cls, ast.ClassDef) and any(map(sets_attribute, ast.walk(cls))):
                made = getattr(import_module(where), cls.name)
                if not issubclass(made, Settable):
                    yield where.partition(".")[2]


def sets_attribute(node: ast.AST) -> bool:
    is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    return is_set and getattr(node.value, "id", "") == "self" and not node.attr.startswith("_")


@pytest.mark.parametrize("package", PLAIN)
def test_objects_with_attributes_are_settable(package: str) -> None:
    found = set(plain_classes(package, rooms().SOURCES[package]))
    of = {
        module: next((part for part in PLAIN[package] if f"{module}.".startswith(f"{part}.")), None) for module in found
    }
    unknown = sorted(module for module, part in of.items() if part is None)
    assert unknown == [], "derive the classes from `Settable`, or say in PLAIN why nothing is computed with them"
    assert sorted(set(PLAIN[package]) - set(of.values())) == []
