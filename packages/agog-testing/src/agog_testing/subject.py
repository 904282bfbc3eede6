"""Subject: one kernel under test, and calls of its op with recorded arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.kernels.host_work import where_held
from agog_core.dtypes import DType, as_dtype
from agog_testing import references, stopwatch
from agog_testing.comparison import Accuracy, same
from agog_testing.kinds import samples_of_each_kind
from agog_testing.opinfo import ErrorSample, OpInfo, Sample, reference_array

Array = np.ndarray[Any, Any]
Layout = Callable[[Array], ag.Tensor]


class Violation(AssertionError):
    """A kernel broke a rule of the plugin contract: with which sample, what was expected, and what came."""

    def __init__(self, rule: str, sample: str, expected: str, got: str) -> None:
        super().__init__(f"rule: {rule}\nsample: {sample}\nexpected: {expected}\ngot: {got}")
        self.rule = rule


class Untaken(Violation):
    """A kernel declined each of the calls that it was given; a quick run has not given it all."""


class NotChecked(Exception):
    """A rule could not be checked; the text says why."""


@dataclass(frozen=True)
class KernelCall:
    """The arguments of a kernel, with copies of the arrays made before, and its results."""

    arrays: tuple[Any, ...]
    before: tuple[Array, ...]
    attributes: Mapping[str, Any]
    result: Any


@dataclass(frozen=True)
class Run:
    """One call of an op's public function, with its results, or the variables that it has updated, on the host."""

    outputs: tuple[Array, ...]
    dtypes: tuple[DType, ...]
    calls: tuple[KernelCall, ...]


@dataclass(frozen=True)
class Attempt:
    """A sample, the calls of the kernel by its op, and the outcome: a run, or the violation."""

    sample: Sample
    calls: tuple[KernelCall, ...]
    outcome: Run | Violation


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One kernel for one op, device and dtype; the plugin's tolerances are by op name or ``"op/dtype"``.

    A partner forms a pair with the kernel, which keeps a reserve or takes one; it runs too, for an op of its own name.
    ``several`` is the kernel's function for several variables at once, ``fill`` the one that fills an array.
    ``leading`` puts a kernel that can be taken apart before all others of its op, for a while, and ``keeping`` one that
    keeps a reserve; ``dtypes`` are all that the kernel is for, where it says so.
    ``deterministic``, ``keeps_threads`` and ``is_made`` are what the kernel says of itself, as ``deterministic``,
    ``pool`` and ``make``; ``accuracy`` takes note of how far its results are from the reference's; ``quick`` leaves one
    sample of each kind.
    """

    info: OpInfo
    dtype: str
    device: Device
    kernel: Callable[..., Any]
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    seed: int = 0
    partner: tuple[str, Callable[..., Any]] | None = None
    several: Callable[..., Any] | None = None
    fill: Callable[..., Any] | None = None
    leading: Callable[[], AbstractContextManager[None]] | None = None
    keeping: Callable[[], AbstractContextManager[None]] | None = None
    dtypes: Collection[str] | None = None
    deterministic: bool = True
    keeps_threads: bool = False
    is_made: bool = False
    accuracy: Accuracy = field(default_factory=Accuracy)
    quick: bool = False

    def samples(self, seed: int = 0) -> list[Sample]:
        """The samples of the op for the dtype; another seed gives other values in the same shapes."""
        with stopwatch.stopped():
            found = list(self.info.samples(self.dtype, np.random.default_rng(self.seed + seed)))
        return [found[position] for position in self._positions] if self.quick else found

    @cached_property
    def _positions(self) -> list[int]:
        """Where the samples of a quick run are among all."""
        return samples_of_each_kind(list(self.info.samples(self.dtype, np.random.default_rng(self.seed))))

    def tolerance(self, dtype: str) -> tuple[float, float]:
        """The tolerance of a dtype, as (rtol, atol)."""
        for key in (f"{self.info.name}/{self.dtype}", self.info.name):
            if key in self.tolerances:
                return self.tolerances[key]
        return self.info.tolerance(dtype)

    def run(self, sample: Sample, layout: Layout | None = None) -> Run:
        """Call the op's public function so that it uses this kernel; raises `Violation` where the kernel raises.

        The layout makes a tensor of an array; None is for contiguous ones.
        """
        outcome = self.attempt(sample, layout).outcome
        if isinstance(outcome, Violation):
            raise outcome
        return outcome

    def attempt(self, sample: Sample, layout: Layout | None = None) -> Attempt:
        """Call the op's public function as `run` does, and remember the calls of the kernel also where it raises."""
        with ag.device(self.device.name):
            arguments = self.arguments(sample, layout)
            with self.chosen() as calls:
                try:
                    tensors = self._results(sample, *arguments)
                except Violation as violation:
                    return Attempt(sample, tuple(calls), violation)
            return Attempt(sample, tuple(calls), _run(tensors, tuple(calls)))

    def run_all(self, samples: Iterable[Sample]) -> Iterator[Run]:
        """Call the op's public function for each sample as `run` does, but keep no calls of the kernel."""
        with ag.device(self.device.name), self.installed(self.kernel):
            for sample in samples:
                yield _run(self._results(sample, *self.arguments(sample)))

    def _results(
        self, sample: Sample, args: list[Any], kwargs: dict[str, Any], variables: list[ag.Variable]
    ) -> list[ag.Tensor]:
        """The results of the op's public function, or the new values of the variables."""
        try:
            result = self.info.call(*args, **kwargs)
        except Exception as error:
            rule = "a kernel computes every sample of its op"
            raise Violation(rule, sample.name, "a result", f"{type(error).__name__}: {error}") from error
        return [variable.value() for variable in variables] if variables else _tensors(result)

    def arguments(
        self, sample: Sample | ErrorSample, layout: Layout | None = None
    ) -> tuple[list[Any], dict[str, Any], list[ag.Variable]]:
        """The arguments of a sample as tensors, or variables where the op updates them; and those variables."""
        variables: list[ag.Variable] = []
        names = iter(self.info.op.inputs)

        def convert(array: Array) -> Any:
            if next(names, None) in self.info.op.updates:
                variables.append(ag.Variable(array))
                return variables[-1]
            return ag.constant(array) if layout is None else layout(array)

        args = [map_arrays(convert, value) for value in sample.args]
        return args, {key: map_arrays(convert, value) for key, value in sample.kwargs.items()}, variables

    def expected(self, sample: Sample) -> tuple[Array, ...]:
        """The reference's results: an array for each output, in float64 or as from `reference_array`."""
        args = [map_arrays(reference_array, value) for value in sample.args]
        kwargs = {key: map_arrays(reference_array, value) for key, value in sample.kwargs.items()}
        return references.results(self.info, args, kwargs)

    @contextmanager
    def chosen(self) -> Iterator[list[KernelCall]]:
        """Let this kernel run the op, regardless of others, and return the growing list of its calls."""
        keeps_reserve = self.info.op.reserve is not None
        calls: list[KernelCall] = []

        def watched(*arrays: Any, **attributes: Any) -> Any:
            copies = tuple(map(self.host, arrays))
            result = self.kernel(*arrays, **attributes)
            shown = result[:-1] if keeps_reserve and isinstance(result, tuple) else result
            calls.append(KernelCall(arrays, copies, attributes, shown))
            return result

        watched.__module__, watched.__qualname__ = (
            str(getattr(self.kernel, name, None)) for name in ("__module__", "__qualname__")
        )
        with self.installed(watched):
            yield calls

    @contextmanager
    def installed(self, kernel: Callable[..., Any]) -> Iterator[None]:
        """Let a kernel run the op, regardless of others, except for results of unsupported dtypes."""
        table = self.device.table(as_dtype(self.dtype))
        kernel = where_held(self.info.op, table, kernel)
        chosen = {self.info.name: kernel, **dict([self.partner] if self.partner else [])}
        before = {name: table.kernels.get(name) for name in chosen}
        for name, each in chosen.items():
            table.install(name, each)
        try:
            yield
        finally:
            for name, earlier in before.items():
                if earlier is None:
                    table.remove(name)
                else:
                    table.install(name, earlier)

    def host(self, array: Any) -> Array:
        """A copy of an array of the device on the host; wrong values that the device tells late are raised here."""
        return np.array(self.device.to_host(array))


def _run(tensors: Sequence[ag.Tensor], calls: tuple[KernelCall, ...] = ()) -> Run:
    outputs = tuple(np.asarray(tensor.numpy(), tensor.dtype.numpy_dtype) for tensor in tensors)
    return Run(outputs, tuple(tensor.dtype for tensor in tensors), calls)


def map_arrays(function: Callable[[Array], Any], value: Any) -> Any:
    """Replace the arrays in a sample's argument, alone or in lists, by a function's results; all else stays."""
    if isinstance(value, list):
        return [map_arrays(function, part) for part in value]
    return function(value) if isinstance(value, np.ndarray) else value


def arrays_of(sample: Sample) -> list[Array]:
    """The arrays in a sample's arguments, in their order."""
    found: list[Array] = []
    collect: Callable[[Array], None] = found.append
    for value in (*sample.args, *sample.kwargs.values()):
        map_arrays(collect, value)
    return found


def layouts() -> dict[str, Layout]:
    """Ways to lay out an input, none of them contiguous except where the device's kernels make no views, by name."""

    def transposed(array: Array) -> ag.Tensor:
        return ag.transpose(ag.constant(array.T))

    def stepped(array: Array) -> ag.Tensor:
        if not array.ndim:
            return ag.constant(array)
        mixed = np.stack([array, array[..., ::-1]], -1).reshape(*array.shape[:-1], 2 * array.shape[-1])
        return ag.constant(mixed)[..., ::2]

    def reversed_rows(array: Array) -> ag.Tensor:
        return ag.constant(array[::-1])[::-1] if array.ndim else ag.constant(array)

    return {
        "transposed": _where_possible(transposed),
        "every second element": _where_possible(stepped),
        "reversed": _where_possible(reversed_rows),
    }


def _where_possible(layout: Layout) -> Layout:
    """A device need not have the kernels that make views; and they may be wrong, which their own tests find."""

    def attempt(array: Array) -> ag.Tensor:
        try:
            tensor = layout(array)
            if same(tensor.numpy(), array):
                return tensor
        except Exception:
            pass
        return ag.constant(array)

    return attempt


def _tensors(result: Any) -> list[ag.Tensor]:
    return list(result) if isinstance(result, (list, tuple)) else [result]
