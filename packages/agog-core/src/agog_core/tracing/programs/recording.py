"""Recording: makes a program of a function, by calls on samples of several sizes that go all ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.dtypes import string
from agog_core.errors import TracingError
from agog_core.random import generator
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.functions.arguments import Arguments
from agog_core.tracing.programs.encoding import Encoder, structure
from agog_core.tracing.programs.recorder import Recorder
from agog_core.tracing.programs.sizes import Array, Merger, NoLineError
from agog_core.tracing.programs.steps import Block, Step, drop_dead
from agog_core.tracing.traces.first_call import Recording
from agog_core.variables.variable import Variable

_MOST_WAYS = 16  # through the branches of a function
_RUNS = 4
_RESULTS = Arguments("function", "the function", None)
# From where on unknown sizes are, in the runs: of first axes, and of others, where these are too small for larger ones.
_FIRST, _OTHERS = 3, (8, 48, 224)


class Kept:
    """What the programs of a folder share: arrays by their names, texts, and variables."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.variables: dict[Variable, int] = {}
        self._names: dict[Any, str] = {}

    def array(self, array: Array) -> str:
        """Keep an array; equal ones once."""
        content = tuple(array.reshape(-1).tolist()) if array.dtype == object else array.tobytes()
        key = array.dtype.name, array.shape, content
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"constants/{len(self.arrays)}"
            self.arrays[name] = array
        return name

    def variable(self, variable: Variable) -> int:
        """The place of a variable."""
        return self.variables.setdefault(variable, len(self.variables))


def program(function: Callable[[Any, Any], Any], args: Any, kwargs: Any, kept: Kept) -> dict[str, Any]:
    """What ``function(args, kwargs)`` does, as data that JSON can hold.

    Args:
        function: what is called, several times.
        args: its arguments: specs for tensors, and Python values.
        kwargs: others, by name.
        kept: gets the arrays and variables.

    Returns:
        The program.

    Raises:
        TracingError: the function does what data cannot say, or for each size something else.
    """
    specs = [leaf for leaf in nest.flatten((args, kwargs)) if isinstance(leaf, TensorSpec)]
    failures: list[Exception] = []
    for symbols in _groups(specs):
        try:
            return _Recordings(function, args, kwargs, specs, symbols, kept).merged()
        except NoLineError as error:
            failures.append(TracingError(f"the function does something else for each size: {error}"))
        except TracingError:
            raise
        except Exception as error:
            if not symbols:
                raise
            failures.append(error)
    raise failures[0]


# For each unknown size, by its input and its axis, what it is in the runs.
_Symbols = dict[tuple[int, int], tuple[int, ...]]


def _groups(specs: Sequence[TensorSpec]) -> list[_Symbols]:
    """Which unknown sizes are independent: all of them, those along several axes, or none."""
    unknown = []
    for place, spec in enumerate(specs):
        if spec.shape.ndims is None:
            raise TracingError(f"the number of axes of an argument, {spec}, must be known to keep the function as data")
        unknown += [(place, axis) for axis, size in enumerate(spec.shape.as_list()) if size is None]
    if not unknown:
        return [{}]
    found: list[_Symbols] = []
    for least in _OTHERS if any(axis for _, axis in unknown) else _OTHERS[:1]:
        for kind in (lambda each: each, lambda each: each[1], lambda each: 0):
            kinds = list(dict.fromkeys(map(kind, unknown)))
            is_first = {kind(each): each[1] == 0 for each in reversed(unknown)}
            sizes = _independent([_FIRST if is_first[each] and len(kinds) > 1 else least for each in kinds])
            if all(axis == 0 for _, axis in unknown):
                sizes = _independent([_FIRST] * len(kinds))
            made = {each: sizes[kinds.index(kind(each))] for each in unknown}
            if made not in found:
                found.append(made)
    return found


def _independent(least: Sequence[int]) -> list[tuple[int, ...]]:
    """Sizes in the runs, even and odd ones, of which no two lie on a line."""
    source, found = np.random.default_rng(1), list[tuple[int, ...]]()
    for low in least:
        while True:
            sizes = tuple(map(int, low + source.permutation(4 + 2 * len(least))[:_RUNS]))
            steps = [each - sizes[0] for each in sizes]
            others = [[each - known[0] for each in known] for known in found]
            is_apart = all(
                any(x * other[1] != y * steps[1] for x, y in zip(steps, other, strict=True)) for other in others
            )
            if is_apart and sizes not in found:
                found.append(sizes)
                break
    return found


class _Recordings:
    """The calls of a function on samples."""

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        args: Any,
        kwargs: Any,
        specs: Sequence[TensorSpec],
        symbols: _Symbols,
        kept: Kept,
    ) -> None:
        self.function, self.arguments, self.specs = function, (args, kwargs), specs
        self.symbols, self.kept = symbols, kept

    def merged(self) -> dict[str, Any]:
        """The program for all sizes."""
        calls = self._calls()
        trees = [self._tree(0, calls)]
        if self.symbols or trees[0][2]:
            ways = [call.recorder.outcomes for call in calls]
            trees += [self._tree(run, [self._call(run, way) for way in ways]) for run in range(1, _RUNS)]
        by_values = [sizes for _, _, sizes in trees]
        if any([each[:2] for each in sizes] != [each[:2] for each in by_values[0]] for sizes in by_values):
            raise NoLineError("other steps for each size")
        places: dict[tuple[int, ...], list[list[int]]] = {}
        for (place, axis), sizes in self.symbols.items():
            places.setdefault(sizes[: len(trees)], []).append([place, axis])
        values = [[each[2] for each in found] for found in zip(*by_values, strict=True)]
        merger = Merger([*places, *values], [arrays for _, arrays, _ in trees], self.kept.array)
        block = merger.merged([tree for tree, _, _ in trees])
        _strip(block)
        return {
            "kinds": [[spec.dtype.name, spec.shape.as_list()] for spec in self.specs],
            "sizes": [*places.values(), *[list(each[:2]) for each in by_values[0]]],
            "inputs_sizes": len(places),  # the others are of values
            "block": block,
        }

    def _calls(self) -> list[_Call]:
        """Calls on samples that go all ways of the branches of Python."""
        calls = [self._call(0, ())]
        waiting = _others(calls[0].recorder, 0)
        while waiting and len(calls) < _MOST_WAYS:
            script = waiting.pop(0)
            try:
                calls.append(self._call(0, script))
            except TracingError:
                raise
            except Exception:
                continue  # a way that no sample goes
            waiting += _others(calls[-1].recorder, len(script))
        return calls

    def _tree(
        self, run: int, calls: Sequence[_Call]
    ) -> tuple[dict[str, Any], dict[str, Array], list[tuple[int, int, int]]]:
        """What the function does in one run, all ways of its branches."""
        arrays = Kept()
        maker = _Tree(arrays, self.kept)
        tree = maker.block(calls, 0, 0, {})
        found = calls[0].recorder.sizes
        return tree, arrays.arrays, [(maker.numbers[number], axis, size) for number, axis, size in found]

    def _call(self, run: int, script: Sequence[bool]) -> _Call:
        source = generator()
        mark = source.mark()
        try:
            found = _Call(self, run, script)
            if found.recorder.made:
                found = _Call(self, run, script)
            if found.recorder.made:
                raise TracingError("the function creates variables at each call; create them once, and keep them")
            return found
        finally:
            source.go_back(mark)

    def samples(self, run: int) -> list[Tensor]:
        """Arguments of a run."""
        source = np.random.default_rng(run)
        made = []
        for place, spec in enumerate(self.specs):
            shape = [
                self.symbols[place, axis][run] if size is None else size
                for axis, size in enumerate(spec.shape.as_list())
            ]
            made.append(convert_to_tensor(_sample(shape, spec.dtype, source), spec.dtype))
        return made


def _sample(shape: list[int], dtype: Any, source: np.random.Generator) -> Any:
    if dtype is string:
        return np.full(shape, b"", object)
    if dtype.is_floating or dtype.is_complex:
        return source.normal(size=shape).astype(dtype.numpy_dtype)
    return np.zeros(shape, dtype.numpy_dtype)


def _others(recorder: Recorder, first: int) -> list[tuple[bool, ...]]:
    """The ways that part from one that was gone."""
    outcomes = recorder.outcomes
    return [(*outcomes[:place], not outcomes[place]) for place in range(first, min(len(outcomes), _MOST_WAYS))]


class _Call:
    """One call that is recorded."""

    def __init__(self, recordings: _Recordings, run: int, script: Sequence[bool]) -> None:
        self.recorder = recorder = Recorder(script)
        samples = recordings.samples(run)
        with Recording(recorder, recorder.note):  # type: ignore[arg-type]  # which is a tracer as good
            waiting = [recorder.input(x) for x in samples]
            given = waiting.copy()
            args, kwargs = nest.map_structure(
                lambda leaf: waiting.pop(0) if isinstance(leaf, TensorSpec) else leaf, recordings.arguments
            )
            result = nest.map_structure(_RESULTS.returned, recordings.function(args, kwargs))
            del args, kwargs, given
            self.tensors: list[Tensor] = []
            self.form = structure(result, self.tensors, lambda leaf: leaf)
            recorder.block.outputs = {"tensors": [recorder.number_of(x) for x in self.tensors]}
            del result
        self.tensors = []
        recorder.end()
        drop_dead(recorder.block, set(recorder.block.outputs["tensors"]) | _sized(recorder))


def _sized(recorder: Recorder) -> set[int]:
    return {number for number, _, _ in recorder.sizes}


class _Tree:
    """Makes JSON of recorded calls. Values get numbers in the order in which they are made."""

    def __init__(self, arrays: Kept, kept: Kept) -> None:
        self._arrays, self._kept = arrays, kept
        self._temporaries: dict[Variable, int] = {}
        self._count = 0
        self.numbers: dict[int, int] = {}  # of values of the way that was gone first

    def block(self, calls: Sequence[_Call], start: int, branches: int, known: dict[int, int]) -> dict[str, Any]:
        """The block of calls that have gone one way so far."""
        recorder = calls[0].recorder
        known, steps = dict(known), list[Any]()
        inputs = [] if start else self._made(recorder.block.inputs, known)
        for place, step in enumerate(recorder.block.steps[start:], start):
            self._step(step, steps, recorder, known)
            if step.kind == "branch":
                ways = []
                for outcome in (True, False):
                    found = [each for each in calls if each.recorder.outcomes[branches] is outcome]
                    ways.append(self.block(found, place + 1, branches + 1, known) if found else None)
                del steps[-1]["with"]
                steps[-1]["ways"] = ways
                return {"inputs": inputs, "steps": steps}
        outputs = self._taken(recorder.block.outputs["tensors"], steps, recorder, known, "")
        try:
            form = _encoded(calls[0].form, self._encoder(recorder, known))
        except TypeError as error:
            raise TracingError(f"what the function returns cannot be kept as data: {error}") from None
        self.numbers = {**known, **self.numbers}
        return {"inputs": inputs, "steps": steps, "outputs": outputs, "result": form}

    def _encoder(self, recorder: Recorder, known: dict[int, int]) -> Encoder:
        return Encoder(lambda key: known[recorder.keys[key]], self._arrays.array)

    def _step(self, step: Step, steps: list[Any], recorder: Recorder, known: dict[int, int]) -> None:
        made: dict[str, Any] = {"do": step.kind, "at": step.line}
        if step.name:
            made["name"] = step.name
        if step.inputs:
            made["in"] = self._taken(step.inputs, steps, recorder, known, step.line)
        if step.variables:
            made["variables"] = [self._variable(variable, step) for variable in step.variables]
        encode = self._encoder(recorder, known)
        try:
            made["with"] = {name: encode(each) for name, each in step.attributes.items()}
        except TypeError as error:
            raise TracingError(
                f"{step.line}: {step.name or step.kind} cannot be kept as data, since it is given {error}"
            ) from None
        if step.kind in ("cond", "while", "rows"):
            made["blocks"] = [self._inner(block, recorder, known) for block in step.blocks if block is not None]
        if step.kind in ("op", "copy"):
            made["shapes"] = [list(shape) for shape in step.shapes] if not _has_sizes(step, recorder) else []
        if step.outputs:
            made["out"] = self._made(step.outputs, known)
        steps.append(made)

    def _inner(self, block: Block, recorder: Recorder, known: dict[int, int]) -> dict[str, Any]:
        known, steps = dict(known), list[Any]()
        inputs = self._made(block.inputs, known)
        for step in block.steps:
            self._step(step, steps, recorder, known)
        outputs = self._taken(block.outputs, steps, recorder, known, "")
        return {"inputs": inputs, "steps": steps, "outputs": outputs}

    def _variable(self, variable: Variable, step: Step) -> int:
        """The place of a variable; negative for those that the function makes for itself."""
        if step.kind == "temporary":
            self._temporaries[variable] = -1 - len(self._temporaries)
        found = self._temporaries.get(variable)
        return self._kept.variable(variable) if found is None else found

    def _made(self, numbers: Sequence[int], known: dict[int, int]) -> list[int]:
        """New numbers of values."""
        for number in numbers:
            known[number] = self._count
            self._count += 1
        return [known[number] for number in numbers]

    def _taken(
        self, numbers: Sequence[int], steps: list[Any], recorder: Recorder, known: dict[int, int], line: str
    ) -> list[int]:
        """The numbers of values that are taken; constants among them are made first."""
        for number in numbers:
            if number not in known:
                host, kind = recorder.constants[number]._host(), recorder.constants[number].dtype.name
                array = np.asarray(host, object) if kind == "string" else np.asarray(host)
                made = {"do": "constant", "at": line, "out": self._made([number], known), "dtype": kind}
                steps.append({**made, "value": {"array": self._arrays.array(array)}})
        return [known[number] for number in numbers]


def _has_sizes(step: Step, recorder: Recorder) -> bool:
    return not _sized(recorder).isdisjoint(step.outputs)


def _encoded(form: Any, encode: Encoder) -> Any:
    """The form of a result with its Python values as JSON."""
    if type(form) is dict and len(form) == 1:
        ((kind, content),) = form.items()
        if kind == "tensor":
            return form
        if kind == "dict":
            return {"dict": [[encode(key), _encoded(each, encode)] for key, each in content]}
        if kind == "fields":
            return {"fields": [content[0], content[1], [_encoded(each, encode) for each in content[2]]]}
        return {kind: [_encoded(each, encode) for each in content]}
    return [_encoded(each, encode) for each in form] if type(form) is list else encode(form)


def _strip(tree: Any) -> None:
    """Leave out the shapes of results, which say only whether the recordings are alike."""
    if isinstance(tree, dict):
        tree.pop("shapes", None)
        for each in tree.values():
            _strip(each)
    elif isinstance(tree, list):
        for each in tree:
            _strip(each)
