"""Contract: what plugins bring, as plain data (`Backend` has a file of its own), and the hooks that hand it over.

Plugins import it as `agog_core.plugin`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pluggy

from agog_core import dtypes as _dtypes
from agog_core.dispatch.fields import (
    BOOL,
    INT,
    NAME,
    REASON,
    REFERENCE,
    TEXT,
    TOLERANCES,
    Field,
    check_fields,
    each,
    is_reference,
    mapping,
    optional,
)
from agog_core.dispatch.op import Op
from agog_core.dispatch.plugins.backend import Backend, check_device_type, dtype_names
from agog_core.dispatch.plugins.collectives import Collective
from agog_core.dispatch.plugins.compilers import Compiler
from agog_core.dispatch.plugins.executors import Executor
from agog_core.dispatch.plugins.unavailability import available
from agog_core.errors import PluginError, describe_value

PROJECT = "agog"
API_VERSION = 3
SERVED_VERSIONS = (1, 2, API_VERSION)

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


def requires(version: int) -> int:
    """Say which version of the plugin contract a module of hooks is written for; call it before all else there.

    A module that does not say so is served as one of version 1.

    Args:
        version: the version, such as 3.

    Returns:
        The version, which the module keeps as ``AGOG_API_VERSION``. A plugin that is no module has to keep it itself,
        as an attribute of that name.

    Raises:
        PluginError: this agog-core does not serve the version.

    >>> requires(3)
    3
    """
    check_version(version)
    sys._getframe(1).f_globals["AGOG_API_VERSION"] = version
    return version


def check_version(version: Any) -> None:
    """Refuse a plugin that is written for a version of the contract that is not served here."""
    if type(version) is not int or version not in SERVED_VERSIONS:
        raise PluginError(
            f"it is written for plugin API {describe_value(version)}, and this agog-core has API {API_VERSION}; "
            "upgrade the older one."
        )


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One implementation of one op on one device type.

    A kernel is ``fn(*arrays, **attributes)``: arrays of the backend's own type, and one array or a tuple of arrays
    back. It never changes its inputs, except those that the op declares as updated in place (the steps of optimizers);
    its result never shares memory with an input unless the op is a view (``reshape``, ``transpose``, slices); it keeps
    no state that changes a result, and none at all unless it is made by ``make``.

    It may decline a call by returning ``NotImplemented``, before it has changed anything; the next one in rank runs.

    Args:
        op: the op's name, such as ``"matmul"``.
        device: the device type, such as ``"cpu"``.
        fn: the function, or a ``"module:attribute"`` string that is imported when the kernel is first chosen.
        make: in place of ``fn``, what makes the function, or a ``"module:attribute"`` string: called as
            ``make("matmul", "float32", "cpu:0")``, once for each op, dtype and device that chooses the kernel. What it
            returns may hold scratch memory, handles and compiled code.
        on: ``"host"`` in place of ``fn``, for an op that the device leaves to the host: inputs are copied there, the
            host's kernel runs, and what the device holds is copied back. ``explain`` prints it.
        dtypes: names of the dtypes that the kernel is for; None for every dtype of the op.
        priority: among several, the highest is chosen: 0 for a reference, 100 for a backend, 200 for a specialised
            kernel.
        when: for which calls the kernel does not decline, in words, such as ``"channels are a multiple of 8"``. Errors
            and ``explain`` print it.
        several: for an op that updates variables in place, what runs it for several variables at once, as optimizers
            ask for it: ``several(groups, **attributes)``, where each group is a tuple of what ``fn`` takes. It returns
            None, or a list with a tuple of new arrays for each group, or NotImplemented for all of them. Given as
            ``fn`` is; where there is ``make`` instead, what makes it in the same way. While somebody looks at each
            call, ``fn`` runs for each variable.
        per_thread: whether each thread gets an instance of its own from ``make``.
        pool: whether what ``make`` returns may keep threads.
        deterministic: whether two equal calls give equal bits.
        pair: the name of the pair that the kernel belongs to, for an op that keeps a reserve for its gradient's kernel
            and for the op that takes it (``lstm`` and ``lstm_grad``). The two kernels of a pair come from one plugin
            and are chosen together; a plugin that brings only one half is passed over. A plugin with one kernel for
            each of the two needs no name; one with several says by it which belong together.
        lower: how a traced function takes the kernel apart: ``lower(*arrays, **attributes)`` gets what records NumPy's
            functions, and returns what the kernel would, by methods and operators of these and by functions of
            ``arrays[0].__array_namespace__()``. Where it looks at a value, the kernel is called whole. None: always.
            ``"next"`` takes apart the kernel next in rank, which has the same bits.
        out: for an op of one result that is no view, what fills an array with the result in place of making one:
            ``out(*arrays, out=array, **attributes)``, with any numbers in ``array``, which has the dtype, shape and
            strides that ``fn`` gives. It gives the same bits, and returns None, or NotImplemented, and then ``fn`` is
            called. Traced functions keep the memory between calls. Eager calls with a result of 64 KiB or more use it
            too where the plugin is written for version 3: then ``array`` is C-contiguous. Given as ``several`` is.
        reserve: for an op whose kernels may keep something for its gradient, such as ``max_pool``, and for the ops that
            may take it, such as ``max_pool_grad``: a second function. That of the one returns what ``fn`` does and,
            last, an array of its own; it runs in place of ``fn`` where a tape records. That of the other takes this
            array behind its inputs; it runs where the kernel of the same plugin and ``pair`` has kept one. Each may
            return NotImplemented, and then ``fn`` is called. Given as ``several`` is.
        unavailable: returns a sentence that says why the kernel cannot be used here, or None. Errors and ``explain``
            print it.

    Raises:
        ValueError: a dtype does not exist, the device type is not one lower-case word, or what only ``make`` allows is
            asked for without it.
        TypeError: an argument is of a wrong type, or not exactly one of ``fn``, ``make`` and ``on`` is given.

    >>> Kernel(op="square", device="cpu", fn="my_kernels.fast:square", dtypes=("float32",), priority=200).dtypes
    frozenset({'float32'})
    """

    op: str
    device: str
    fn: Callable[..., Any] | str | None = None
    make: Callable[[str, str, str], Callable[..., Any]] | str | None = None
    on: str | None = None
    dtypes: Iterable[str] | None = None
    priority: int = 100
    when: str = ""
    several: Callable[..., Any] | str | None = None
    per_thread: bool = False
    pool: bool = False
    deterministic: bool = True
    pair: str | None = None
    lower: Callable[..., Any] | str | None = None
    out: Callable[..., Any] | str | None = None
    reserve: Callable[..., Any] | str | None = None
    unavailable: Callable[[], str | None] = available

    def __post_init__(self) -> None:
        owner = f"Kernel(op={describe_value(self.op)})"
        check_fields(owner, _KERNEL, vars(self))
        check_device_type(f"Kernel(op={self.op!r}, device={describe_value(self.device)})", self.device)
        given = [name for name in ("fn", "make", "on") if getattr(self, name) is not None]
        if len(given) != 1:
            raise TypeError(f"{owner}: it takes one of fn, make and on; got {' and '.join(given) or 'none'}.")
        for name in ("per_thread", "pool"):
            if getattr(self, name) and self.make is None:
                raise ValueError(f"{owner}: {name}=True needs make, which may keep state; fn may not.")
        if self.dtypes is not None:
            object.__setattr__(self, "dtypes", dtype_names(owner, self.dtypes, _dtypes.ALL))

    @property
    def source(self) -> str:
        """Where its function comes from, as ``"module:attribute"``."""
        if self.on is not None:
            return self.on
        function = self.fn if self.make is None else self.make
        if isinstance(function, str):
            return function
        module = getattr(function, "__module__", None) or type(function).__module__  # NumPy 2.0's ufuncs have none
        return f"{module}:{getattr(function, '__qualname__', repr(function))}"


_KERNEL = {
    "op": Field(NAME.accepts, "the name of an op"),
    **dict.fromkeys(("fn", "make", "several", "out", "reserve"), optional(REFERENCE)),
    "lower": Field(
        lambda value: value is None or value == "next" or REFERENCE.accepts(value),
        "a function, a 'module:attribute' string or 'next'",
    ),
    "on": Field(lambda value: value is None or value == "host", "'host', or None"),
    "priority": INT,
    "when": TEXT,
    **dict.fromkeys(("per_thread", "pool", "deterministic"), BOOL),
    "pair": optional(Field(NAME.accepts, "a name, or None")),
    "unavailable": REASON,
}


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """What the conformance kit should know of a plugin's kernels.

    Args:
        tolerances: per op name, or ``"op/dtype"``, the pair (rtol, atol) to use instead of the kit's.
        expected_failures: test ids (``"op/dtype/check"``, with ``*`` for any) to the reason why each fails. They are
            strict: one that passes is an error.
        infos: where the facts about the ops are that the plugin brings, as a ``"module:attribute"`` string: a list or a
            mapping of ``agog_testing.opinfo.OpInfo``. Only the kit imports it.
        samples: where more samples are, such as above the size from which a kernel takes calls, in the same form: a
            mapping of op names to ``samples(dtype, rng)`` as in ``OpInfo``. Every check of the plugin's kernels uses
            them.

    Raises:
        TypeError: an argument is of a wrong type.

    >>> Conformance(expected_failures={"matmul/float16/value": "accumulates in float16"}).tolerances
    {}
    """

    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    infos: str | None = None
    samples: str | None = None

    def __post_init__(self) -> None:
        check_fields("Conformance", _CONFORMANCE, vars(self))


_CONFORMANCE = {
    "tolerances": TOLERANCES,
    "expected_failures": mapping(NAME, NAME, "a mapping of test ids to reasons"),
    "infos": optional(Field(is_reference, "a 'module:attribute' string, which only the kit imports")),
    "samples": optional(Field(is_reference, "a 'module:attribute' string, which only the kit imports")),
}


@dataclass(frozen=True, kw_only=True)
class LateOps:
    """Ops that a plugin names, and that are imported where a program uses them, or a report or the kit asks for all.

    Args:
        names: the names of the ops. Each begins with the plugin's name and an underscore, so that it meets no other
            plugin's, and none of agog-core's.
        ops: where the ops are: a ``"module:attribute"`` string that names a tuple or list of `Op`.

    Raises:
        TypeError: an argument is of a wrong type.

    >>> LateOps(names=("waves_ripple",), ops="my_waves.ops:OPS").names
    ('waves_ripple',)
    """

    names: tuple[str, ...]
    ops: str

    def __post_init__(self) -> None:
        check_fields("LateOps", _LATE_OPS, vars(self))


_LATE_OPS = {
    "names": Field(lambda names: names and each(NAME, "").accepts(names), "a tuple of the names of ops"),
    "ops": Field(is_reference, "a 'module:attribute' string, which is imported when the ops are needed"),
}


class Hooks:
    """The hooks. A plugin implements those that it needs, as functions of its module marked with `hookimpl`."""

    @hookspec
    def agog_backends(self) -> Iterable[Backend]:
        """Yield the device types that the plugin brings.

        Returns:
            Backends.

        Example::

            @hookimpl
            def agog_backends():
                yield Backend(device="tpu", array_type="my_tpu:Array", device_count=count, ...)
        """
        raise NotImplementedError

    @hookspec
    def agog_kernels(self) -> Iterable[Kernel]:
        """Yield the kernels that the plugin brings.

        Returns:
            Kernels, for ops and devices of any plugin.

        Example::

            @hookimpl
            def agog_kernels():
                yield Kernel(op="square", device="cpu", fn="my_kernels.fast:square", priority=200)
        """
        raise NotImplementedError

    @hookspec
    def agog_ops(self) -> Iterable[Op | LateOps]:
        """Yield the ops that the plugin adds to those of agog-core, or name them.

        Returns:
            Ops, or `LateOps`, with which a program that uses none of them does not import them. Their kernels come
            through `agog_kernels`.

        Example::

            @hookimpl
            def agog_ops():
                yield LateOps(names=("waves_ripple",), ops="my_waves.ops:OPS")
        """
        raise NotImplementedError

    @hookspec
    def agog_conformance(self) -> Conformance:
        """Return the tolerances and expected failures of the plugin's kernels.

        Returns:
            One `Conformance`.

        Example::

            @hookimpl
            def agog_conformance():
                return Conformance(tolerances={"matmul/float32": (1e-4, 1e-4)})
        """
        raise NotImplementedError

    @hookspec
    def agog_executors(self) -> Iterable[Executor]:
        """Yield the executors of traced functions that the plugin brings.

        Returns:
            Executors.

        Example::

            @hookimpl
            def agog_executors():
                yield Executor(name="fast", device="cpu", prepare="my_executor:prepare")
        """
        raise NotImplementedError

    @hookspec
    def agog_compilers(self) -> Iterable[Compiler]:
        """Yield the compilers of traced functions that the plugin brings.

        Returns:
            Compilers.

        Example::

            @hookimpl
            def agog_compilers():
                yield Compiler(name="fast", device="cpu", compile="my_compiler:compile", takes="my_compiler:takes")
        """
        raise NotImplementedError

    @hookspec
    def agog_collectives(self) -> Iterable[Collective]:
        """Yield what connects the processes of a run, for `agog_distribute`.

        Returns:
            Collectives.

        Example::

            @hookimpl
            def agog_collectives():
                yield Collective(name="mpi", devices=("cpu",), connect="my_mpi:connect")
        """
        raise NotImplementedError
