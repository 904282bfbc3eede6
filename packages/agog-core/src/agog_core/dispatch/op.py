"""Op: its name, its shape and dtype rules, and its vector-Jacobian products."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from agog_core import dtypes
from agog_core.dispatch.edge import Edge, Vjp
from agog_core.dispatch.fields import BOOL, FUNCTION, NAME, Field, check_fields, each, mapping, optional
from agog_core.dispatch.reserve import keeping, taking
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError, describe_value
from agog_core.named_tuple import Named

Names = str | tuple[str, ...]

# Every op that is loaded, by name: `Op` adds itself, and the loader takes out those of plugins that fail or leave.
registry: dict[str, Op] = {}
# What imports the modules of the core's ops; agog_core.ops adds itself.
late_ops: list[Callable[[], None]] = []
# What imports the ops that a plugin has only named, by the name of the plugin; the loader adds it.
late_ops_of_plugins: dict[str, Callable[[], None]] = {}


def all_ops() -> dict[str, Op]:
    """Every op by name, also those whose modules most programs do without: these are imported first."""
    load_core_ops()
    for plugin, load in list(late_ops_of_plugins.items()):
        load()
        late_ops_of_plugins.pop(plugin, None)
    return registry


def load_core_ops() -> None:
    """Import every module of the core's ops."""
    while late_ops:
        late_ops[-1]()
        del late_ops[-1:]  # now that it has come to its end


class Parts(Named):
    """What a fused op is composed of.

    Args:
        composition: ``composition(run, *inputs, **attributes)``.
        main: the most costly op, whose kernel the composition runs by where that is higher in rank than the whole's.
        others: where there is no such op: those of which one kernel of equal rank is enough.
        last: the ops that an attribute may name as the last one.
    """

    composition: Callable[..., Any]
    main: str | None
    others: tuple[str, ...]
    last: tuple[str, ...]

    @classmethod
    def of(cls, declared: tuple[Any, ...]) -> Parts:
        """As `Op` is given them."""
        names, composition, *last = declared
        main, others = (names, ()) if isinstance(names, str) else (None, tuple(names))
        return cls(composition, main, others, tuple(*last))


class Op:
    """One operation: what every backend, tape and test may know of it.

    A vjp is a plain function of ``g``, the gradient of the op's output, and of whatever else it names: an input
    (``x``), an input's shape (``x_shape``), the output (``out``), an attribute (``axis``), the ``reserve``. The tape
    keeps exactly what the vjp names. It is written in ops, so it works on every device and can be differentiated again.

    A vjp for several inputs may name ``needed``: a tuple of those inputs' names (of their positions, for an op with any
    number of inputs) whose gradients somebody can ask for. What it returns for the others is not looked at.

    Args:
        name: the op's name, which its kernels carry too.
        function: the public function.
        inputs: names of the tensor inputs, in the order in which the kernel takes their arrays; a name that starts with
            ``*`` stands for any number of inputs.
        shape: ``shape(*input_shapes, **attributes)`` to the output's shape, or to a list of shapes for an op with
            several outputs. It raises `InvalidArgumentError` where the shapes do not fit. Where sizes depend on the
            inputs' values it gives a `TensorShape` with None in their places.
        dtype: the output's dtype: None for that of the inputs, a `DType`, or ``dtype(input_dtype, **attributes)``.
        dtypes: the dtypes that the op is defined for.
        vjp: input name (or a tuple of names, for one vjp that returns a tuple) to its vjp. An input without one is not
            differentiable.
        alike: the inputs that share the op's dtype; by default all of them.
        updates: the inputs that kernels update in place.
        views: whether a kernel's result may share memory with an input.
        sparse: whether a vjp may return `IndexedSlices`.
        elementwise: whether each element of the result comes from the elements in its place, of inputs that broadcast,
            and from attributes alone.
        random: whether the result comes from random bits, of which each call takes its own.
        host: whether the op runs on the host whatever device is asked for, as those of strings do.
        host_reads: the inputs whose values decide the sizes of the result, so that a device has to say something of
            them to the host.
        late: the attributes that are other numbers in each call of one program, such as learning rates and random keys.
        may_fail: whether kernels raise for some values of dtypes and shapes that the op allows, so that a call matters
            also where nobody uses its result; or the dtypes for which they do.
        reserve: the name of the op that computes the gradient, where all kernels keep a reserve for it: their last
            result, an array of a shape and dtype of the kernel's own. In the op's rules it is a vector of unknown
            length, of dtype `agog_core.dtypes.variant`; no user sees it. Where only some kernels keep one
            (`Kernel.reserve`) it is left out, and a vjp that names ``reserve`` gets it, or None.
        reserve_of: the name of the op whose reserve this one takes: as its last input, ``reserve``, where it cannot do
            without, else by `call_with`. The kernels of the two come from one plugin. Beside the gradient others may
            take it, such as the gradient's own.
        parts: of a fused op, the name of the most costly op that it is composed of, and the composition:
            ``parts(run, *inputs, **attributes)``, where ``run(name, *inputs, **attributes)`` runs the kernel of an op.
            It replaces a kernel that is lower in rank than that of the named op, or is not there, and kernels that
            traced functions take apart; in place of the name stand several where one of equal rank does too. A third
            part names ops, one of which an attribute may name as the last one: the composition also runs where another
            plugin brings a better kernel for that one, without `Kernel.when`.
        unneeded: what a vjp names to ``unneeded(attributes)``, for what some calls do without: the tape does not keep
            it where that is true, and the vjp gets None.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a vjp or a fact names something that the op does not have, the name is taken, ``reserve`` is an
            input and not the last one, or named by the vjp of an elementwise op.
    """

    __slots__ = (
        *("alike", "dtype", "dtypes", "edges", "elementwise", "function", "host", "host_reads", "inputs", "keeping"),
        *("late", "may_fail", "module", "name", "only_source", "parts", "plain", "random", "reserve", "reserve_of"),
        *("shape", "sources", "sparse", "taking", "unneeded", "updates", "variadic", "views"),
    )

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        inputs: Sequence[str],
        shape: Callable[..., Any],
        dtype: DType | Callable[..., Any] | None = None,
        dtypes: frozenset[DType] = dtypes.ALL,
        vjp: Mapping[Names, Vjp] | None = None,
        alike: Sequence[str] | None = None,
        updates: Sequence[str] = (),
        views: bool = False,
        sparse: bool = False,
        elementwise: bool = False,
        random: bool = False,
        host: bool = False,
        host_reads: Sequence[str] = (),
        late: Sequence[str] = (),
        may_fail: bool | frozenset[DType] = False,
        reserve: str | None = None,
        reserve_of: str | None = None,
        parts: tuple[Any, ...] | None = None,
        unneeded: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None = None,
    ) -> None:
        check_fields(f"Op {describe_value(name)}", _FIELDS, locals())
        self.name = name
        self.function = function
        self.variadic = any(i.startswith("*") for i in inputs)
        self.inputs = tuple(i.lstrip("*") for i in inputs)
        self.shape = shape
        self.dtype = dtype
        self.dtypes = dtypes
        self.alike = tuple(n for n, i in enumerate(self.inputs) if alike is None or i in alike)
        self.updates = tuple(updates)
        self.views = views
        self.sparse = sparse
        self.elementwise = elementwise
        self.random = random
        self.host = host
        self.host_reads = tuple(host_reads)
        self.late = tuple(late)
        self.may_fail = (dtypes if may_fail else frozenset()) if isinstance(may_fail, bool) else may_fail & dtypes
        if unknown := {*self.updates, *self.host_reads} - set(self.inputs):
            raise ValueError(f"Op {name!r}: updates and host_reads name {sorted(unknown)}, which are no inputs.")
        self.reserve = reserve
        self.reserve_of = reserve_of
        self.parts = None if parts is None else Parts.of(parts)
        self.unneeded = dict(unneeded or {})
        if "reserve" in self.inputs[:-1]:
            raise ValueError(f"Op {name!r}: 'reserve' must be its last input.")
        self.edges = tuple(self._edge((k,) if isinstance(k, str) else k, v) for k, v in (vjp or {}).items())
        self.sources = self.differentiable_inputs
        # The position of the only input that has a gradient, of an op whose records take the short way.
        is_plain = len(self.sources) == 1 and not (self.variadic or sparse)
        self.only_source = self.inputs.index(self.sources[0]) if is_plain else None
        self.module: object = _module_of(function)
        self.plain: Op | None = None  # of an op with a reserve, the op without
        self.keeping = keeping(self)
        self.taking = taking(self)
        if name in registry and registry[name].is_whole:
            raise ValueError(f"Op {name!r} is defined already; choose another name.")
        registry[name] = self  # also in place of one whose module was not imported whole, such as by a Ctrl-C

    @property
    def is_whole(self) -> bool:
        """Whether the module of its function, which was imported when it was made, is still the same."""
        return self.module is _module_of(self.function)

    @property
    def is_differentiable(self) -> bool:
        """Whether any input has a vjp."""
        return bool(self.edges)

    @property
    def effect(self) -> str:
        """What a call does besides computing: ``"update"`` variables, share memory as a ``"view"``, draw ``"random"``
        bits, or run on the ``"host"``; ``"none"`` of these."""
        facts = {"update": self.updates, "view": self.views, "random": self.random, "host": self.host}
        return next((effect for effect, is_so in facts.items() if is_so), "none")

    @property
    def is_paired(self) -> bool:
        """Whether its kernels come with those of another op, because all keep a reserve or take one."""
        return self.reserve is not None or "reserve" in self.inputs

    @property
    def depends_on_values(self) -> bool:
        """Whether sizes of the result depend on the inputs' values, and not on their shapes alone."""
        return bool(self.host_reads)

    @property
    def differentiable_inputs(self) -> tuple[str, ...]:
        """The names of the inputs that have a vjp."""
        if self.variadic:
            return self.inputs if self.edges else ()
        return tuple(self.inputs[position] for edge in self.edges for position in edge.positions or ())

    def _edge(self, sources: tuple[str, ...], vjp: Vjp) -> Edge:
        if unknown := set(sources) - set(self.inputs):
            raise ValueError(
                f"Op {self.name!r}: a vjp is given for {sorted(unknown)}, but the inputs are {list(self.inputs)}."
            )
        return Edge(self, sources, vjp)

    def check_dtype(self, dtype: DType) -> None:
        """Raise when the op is not defined for a dtype.

        Args:
            dtype: the dtype of the op's inputs.

        Raises:
            InvalidArgumentError: the op is not defined for it.
        """
        if dtype not in self.dtypes:
            allowed = ", ".join(sorted(d.name for d in self.dtypes))
            raise InvalidArgumentError(
                f"{self.name}: dtype {dtype.name} is not supported; use one of {allowed}. Cast with tf.cast."
            )

    def result_dtype(self, dtype: DType, attributes: Mapping[str, Any]) -> Any:
        """The output's dtype by the op's rule.

        Args:
            dtype: the dtype of the inputs.
            attributes: the op's attributes.

        Returns:
            A `DType`, or a list of them for an op with several outputs.
        """
        if self.dtype is None:
            return dtype
        return self.dtype if isinstance(self.dtype, DType) else self.dtype(dtype, **attributes)

    def __repr__(self) -> str:
        return f"<Op {self.name}({', '.join(self.inputs)})>"


_NAMES = each(NAME, "names of inputs")
_DTYPES = each(Field(lambda value: isinstance(value, DType), "a DType"), "a set of DTypes")
_FIELDS = {
    "name": NAME,
    "function": FUNCTION,
    "inputs": _NAMES,
    "shape": FUNCTION,
    "dtype": optional(Field(lambda value: isinstance(value, DType) or callable(value), "a DType or a function")),
    "dtypes": _DTYPES,
    "vjp": optional(
        mapping(
            Field(lambda names: NAME.accepts(names) or (isinstance(names, tuple) and _NAMES.accepts(names)), "names"),
            Field(lambda value: isinstance(value, FunctionType), "a Python function"),
            "a mapping of names of inputs to Python functions",
        )
    ),
    "alike": optional(_NAMES),
    **dict.fromkeys(("updates", "host_reads", "late"), _NAMES),
    **dict.fromkeys(("views", "sparse", "elementwise", "random", "host"), BOOL),
    "may_fail": Field(lambda value: isinstance(value, bool) or _DTYPES.accepts(value), "a bool or a set of DTypes"),
    **dict.fromkeys(("reserve", "reserve_of"), optional(NAME)),
    "parts": optional(
        Field(
            lambda value: (
                isinstance(value, tuple)
                and len(value) in (2, 3)
                and (NAME.accepts(value[0]) or (isinstance(value[0], tuple) and _NAMES.accepts(value[0])))
                and (FUNCTION.accepts(value[1]) and all(map(_NAMES.accepts, value[2:])))
            ),
            "a name or names of ops, a function, and more names if any",
        )
    ),
    "unneeded": optional(mapping(NAME, FUNCTION, "a mapping of names to functions")),
}


def define(function: Callable[..., Any], *, shape: Callable[..., Any], **facts: Any) -> Op:
    """Define an op by its public function: it has its name, and the parameters that are `TensorLike` are its inputs."""
    inputs = [name for name, kind in function.__annotations__.items() if kind == "TensorLike"]
    return Op(function.__name__, function, inputs=inputs, shape=shape, **facts)


def _module_of(function: Callable[..., Any]) -> object:
    """The module of a function, as it is now: an import that does not come to its end takes its module away."""
    return sys.modules.get(function.__module__)
